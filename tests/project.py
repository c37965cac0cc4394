"""A small table with everything a spec can describe, for tests to spoil."""

from pathlib import Path

DESCRIBED = """\
[table]
source  = "people.csv"
class   = "ill"
missing = { values = ["?", ""], rows = "drop" }

[attributes.name]
role = "identifier"

[attributes.age]
kind  = "number"
range = [0, 100]
whole = true

[attributes.job]
kind     = "category"
taxonomy = "job.tree"

[attributes.town]
kind   = "category"
values = ["Aarhus", "Bergen", "Cork"]
"""
"""What both specs of the table say, with and without differential privacy."""

SPEC = (
    DESCRIBED
    + """
[attributes.income]
kind = "number"

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["age", "job", "town"]
k                = 3
"""
)

TREE = """\
# jobs of the little table
Any job
  Office
    clerk
    lawyer
  Craft
    baker
    smith
"""

ROWS = [
    "name,age,job,town,income,ill",
    *(
        f"p{i},{20 + (i * 7) % 60},{('clerk', 'lawyer', 'baker', 'smith')[i % 4]},"
        f"{('Aarhus', 'Bergen', 'Cork')[i % 3]},{1000.5 + i % 5},{'yes' if (i * 7) % 60 > 30 else 'no'}"
        for i in range(48)
    ),
    "gone,?,clerk,Cork,1000,yes",
]


class Project:
    """A folder with a spec, a taxonomy and a table that tests can spoil."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spec = folder / "people.toml"
        self.table = folder / "people.csv"
        self.tree = folder / "job.tree"
        self.release = folder / "release"
        self.spec.write_text(SPEC, encoding="utf-8")
        self.tree.write_text(TREE, encoding="utf-8")
        self.table.write_text("\n".join(ROWS) + "\n", encoding="utf-8")

    def edit(self, file: Path, old: str, new: str) -> None:
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}

    def search_as_in_the_paper(self) -> None:
        """Asks for the paper's search, which discloses more of this table: it also splits groups of one class."""
        self.edit(self.spec, "k                = 3\n", 'k                = 3\n\n[publish]\nsearch = "paper"\n')
