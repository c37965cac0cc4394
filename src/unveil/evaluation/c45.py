"""C4.5 itself: Weka's J48 with its defaults, as the papers used it.

Weka comes with the package python-weka-wrapper3 of the extra `c45` and runs on Java 17. This file is imported only when
C4.5 is asked for; the Java machine starts on first use and stays for the life of the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from unveil.arrays import FloatArray
from unveil.errors import UnveilError
from unveil.evaluation.examples import Coded, Examples, Numbers, encoded_ends
from unveil.evaluation.protocol import Answers
from unveil.frames import first_line
from unveil.interruption import temporary

JAVA = 17


def c45(train: Examples, test: Examples) -> Answers:
    """Grows a tree with J48's defaults and gives the chances that it predicts.

    A text value that the training part does not have is a value that no training row holds: as in C4.5 it leads to an
    empty leaf, which answers with the majority of the node above. Labels that overlap are the ends of what they cover.
    """
    java = weka()
    labels, classes = np.unique(train.labels, return_inverse=True)
    columns = list(encoded_ends(train, test))
    header = _header(java, columns, len(labels))
    learned = _instances(java, header, [_codes(column.train, column) for column in columns], classes, train.weight)
    unknown = np.full(len(test), np.nan)
    tested = _instances(java, header, [_codes(column.test, column) for column in columns], unknown, test.weight)
    tree = java.JClass("weka.classifiers.trees.J48")()
    tree.buildClassifier(learned)
    return Answers(labels, np.array(tree.distributionsForInstances(tested), dtype=np.float64))


@cache
def weka() -> Any:
    """The bridge to Java, with Weka loaded."""
    home = find_spec("weka")
    if home is None or find_spec("jpype") is None:
        raise UnveilError("the classifier 'c45' needs Weka: install unveil[c45], and Java 17 or later.")
    import jpype

    if not jpype.isJVMStarted():
        _start(jpype, Path(str((home.submodule_search_locations or [""])[0])) / "lib" / "weka.jar")
    if int(jpype.getJVMVersion()[0]) < JAVA:
        found = ".".join(str(part) for part in jpype.getJVMVersion())
        raise UnveilError(f"the classifier 'c45' needs Java {JAVA} or later, but Java {found} was found.")
    return jpype


def _start(jpype: Any, jar: Path) -> None:
    """Starts the Java machine: quiet, with Ctrl-C left to Python, and with Weka's settings in a folder that goes."""
    folder = temporary(Path(tempfile.mkdtemp(prefix="unveil-weka-")))
    options = [
        # Java guards the end of the main thread's stack as if it had 1 MB; solving equations takes more of it.
        "-Xss8m",
        "-Djava.awt.headless=true",
        "-Dweka.packageManager.loadPackages=false",
        f"-DWEKA_HOME={folder}",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
    ]
    try:
        jpype.startJVM(*options, classpath=[str(jar)], convertStrings=False, interrupt=False)
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException, OSError, RuntimeError) as error:
        raise UnveilError(
            f"the classifier 'c45' needs Java {JAVA} or later, which was not found: {first_line(error)}."
        ) from error


def _header(java: Any, columns: Sequence[Coded | Numbers], classes: int) -> Any:
    """The attributes. Values are written as codes; the last code means any value that the training part lacks."""
    attribute, attributes = java.JClass("weka.core.Attribute"), java.java.util.ArrayList()
    for place, column in enumerate(columns):
        values = [] if isinstance(column, Numbers) else [_names(java, column.size + 1)]
        attributes.add(attribute(f"a{place}", *values))
    attributes.add(attribute("class", _names(java, classes)))
    return attributes


def _names(java: Any, size: int) -> Any:
    names = java.java.util.ArrayList()
    for number in range(size):
        names.add(str(number))
    return names


def _codes(values: Any, column: Coded | Numbers) -> FloatArray:
    codes: FloatArray = values.astype(np.float64)
    if isinstance(column, Coded):
        codes[values < 0] = column.size
    return codes


def _instances(java: Any, header: Any, columns: Sequence[FloatArray], classes: Any, weights: FloatArray) -> Any:
    """The rows; NaN is what Weka takes for missing."""
    rows = np.column_stack([*columns, classes.astype(np.float64)])
    instances = java.JClass("weka.core.Instances")("examples", header, len(rows))
    instance = java.JClass("weka.core.DenseInstance")
    for row, weight in zip(rows, weights.tolist(), strict=True):
        instances.add(instance(weight, row))
    instances.setClassIndex(len(columns))
    return instances
