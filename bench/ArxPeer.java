import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXLattice.ARXNode;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * What ARX makes of the table, with its classification metric. Its jar is not part of this project.
 *
 * java -cp ARX.jar ArxPeer.java TRAIN.csv TEST.csv OUT.csv MASKED.csv FOLDER K PERCENT CLASS ATTRIBUTE...
 *
 * FOLDER holds the hierarchy of each attribute, ATTRIBUTE.levels. OUT gets the released rows without those that ARX
 * leaves out, MASKED the test rows at the levels that the release has.
 */
public class ArxPeer {
    public static void main(String[] arguments) throws IOException {
        String class_ = arguments[7];
        Data data = Data.create(arguments[0], StandardCharsets.UTF_8, ',');
        Map<String, String[][]> hierarchies = new HashMap<>();
        for (int place = 8; place < arguments.length; place++) {
            hierarchies.put(arguments[place], hierarchy(Path.of(arguments[4], arguments[place] + ".levels")));
        }
        for (int column = 0; column < data.getHandle().getNumColumns(); column++) {
            String name = data.getHandle().getAttributeName(column);
            if (hierarchies.containsKey(name)) {
                data.getDefinition().setAttributeType(name, AttributeType.Hierarchy.create(hierarchies.get(name)));
            } else {
                data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
            }
        }
        data.getDefinition().setResponseVariable(class_, true);
        ARXConfiguration asked = ARXConfiguration.create();
        asked.addPrivacyModel(new KAnonymity(Integer.parseInt(arguments[5])));
        asked.setSuppressionLimit(Double.parseDouble(arguments[6]) / 100);
        asked.setQualityModel(Metric.createClassificationMetric());
        ARXResult result = new ARXAnonymizer().anonymize(data, asked);
        ARXNode found = result.getGlobalOptimum();
        write(result.getOutput(found, false), Path.of(arguments[2]));
        mask(arguments[1], hierarchies, found, Path.of(arguments[3]));
    }

    private static String[][] hierarchy(Path file) throws IOException {
        List<String[]> lines = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            lines.add(line.split(";"));
        }
        return lines.toArray(new String[0][]);
    }

    private static void write(DataHandle rows, Path file) throws IOException {
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            header(rows, out);
            for (int row = 0; row < rows.getNumRows(); row++) {
                if (!rows.isOutlier(row)) {
                    String[] cells = new String[rows.getNumColumns()];
                    for (int column = 0; column < cells.length; column++) {
                        cells[column] = rows.getValue(row, column);
                    }
                    line(cells, out);
                }
            }
        }
    }

    private static void mask(String test, Map<String, String[][]> hierarchies, ARXNode found, Path file)
            throws IOException {
        DataHandle rows = Data.create(test, StandardCharsets.UTF_8, ',').getHandle();
        Map<String, Map<String, String>> labels = new HashMap<>();
        for (String name : hierarchies.keySet()) {
            Map<String, String> label = new HashMap<>();
            for (String[] path : hierarchies.get(name)) {
                label.put(path[0], path[found.getGeneralization(name)]);
            }
            labels.put(name, label);
        }
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            header(rows, out);
            for (int row = 0; row < rows.getNumRows(); row++) {
                String[] cells = new String[rows.getNumColumns()];
                for (int column = 0; column < cells.length; column++) {
                    String value = rows.getValue(row, column);
                    Map<String, String> label = labels.get(rows.getAttributeName(column));
                    cells[column] = label == null ? value : label.get(value);
                }
                line(cells, out);
            }
        }
    }

    private static void header(DataHandle rows, PrintWriter out) {
        String[] names = new String[rows.getNumColumns()];
        for (int column = 0; column < names.length; column++) {
            names[column] = rows.getAttributeName(column);
        }
        line(names, out);
    }

    private static void line(String[] cells, PrintWriter out) {
        // Intervals hold commas.
        out.println("\"" + String.join("\",\"", cells) + "\"");
    }
}
