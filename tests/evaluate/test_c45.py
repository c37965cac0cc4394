"""J48 on a table whose tree everybody knows, and what is said where Weka or Java is missing."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from unveil import UnveilError
from unveil.evaluation import c45 as module
from unveil.evaluation.c45 import c45, weka
from unveil.evaluation.examples import Examples

WEATHER = """\
sunny hot high false no|sunny hot high true no|overcast hot high false yes|rainy mild high false yes
rainy cool normal false yes|rainy cool normal true no|overcast cool normal true yes|sunny mild high false no
sunny cool normal false yes|rainy mild normal false yes|sunny mild normal true yes|overcast mild high true yes
overcast hot normal false yes|rainy mild high true no"""
NAMES = ("outlook", "temperature", "humidity", "windy")


@pytest.fixture
def java() -> Any:
    try:
        return weka()
    except UnveilError as error:
        pytest.skip(str(error))


def days(text: str, weights: list[float] | None = None) -> Examples:
    rows = [line.split() for line in text.replace("\n", "|").split("|")]
    columns = {name: np.array([row[place] for row in rows], dtype=object) for place, name in enumerate(NAMES)}
    return Examples(columns, np.array([row[4] for row in rows]), None if weights is None else np.array(weights))


def quinlan(outlook: str, humidity: str, windy: str) -> str:
    """The tree of Quinlan's weather data."""
    if outlook == "overcast":
        return "yes"
    if outlook == "sunny":
        return "yes" if humidity == "normal" else "no"
    return "no" if windy == "true" else "yes"


@pytest.mark.usefixtures("java")
def test_the_tree_of_the_weather() -> None:
    grid = [
        (outlook, temperature, humidity, windy)
        for outlook in ("sunny", "overcast", "rainy")
        for temperature in ("hot", "mild", "cool")
        for humidity in ("high", "normal")
        for windy in ("true", "false")
    ]
    test = days("|".join(f"{' '.join(day)} no" for day in grid))
    expected = [quinlan(outlook, humidity, windy) for outlook, _, humidity, windy in grid]
    assert c45(days(WEATHER), test).likeliest.tolist() == expected


@pytest.mark.usefixtures("java")
def test_an_unseen_value_gets_the_majority_of_the_node_above() -> None:
    # 9 of 14 days say yes; of the sunny ones 3 of 5 say no.
    unseen = days("foggy hot high true no|sunny hot damp true no")
    assert c45(days(WEATHER), unseen).likeliest.tolist() == ["yes", "no"]


@pytest.mark.usefixtures("java")
def test_numbers_are_split_and_may_be_missing() -> None:
    train = Examples({"age": np.array([1.0, 2, 3, 10, 11, 12])}, np.array(["no"] * 3 + ["yes"] * 3))
    test = Examples({"age": np.array([-5.0, 2.5, 11.5, 99, np.nan])}, np.array(["no"] * 5))
    assert c45(train, test).likeliest.tolist()[:4] == ["no", "no", "yes", "yes"]


@pytest.mark.usefixtures("java")
def test_weights_turn_a_leaf() -> None:
    train = days(WEATHER, [20.0 if day.endswith("true no") else 1.0 for day in WEATHER.replace("\n", "|").split("|")])
    assert c45(train, days("rainy mild high true no")).likeliest.tolist() == ["no"]
    assert c45(train, days("sunny mild normal true yes")).likeliest.tolist() == ["no"]


@pytest.mark.usefixtures("java")
def test_equations_can_be_solved_next_to_java() -> None:
    code = (
        "import numpy as np; from unveil.evaluation.c45 import weka; weka(); np.linalg.solve(np.eye(600), np.ones(600))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    weka.cache_clear()
    with pytest.raises(UnveilError, match=r"needs Weka: install unveil\[c45\], and Java 17"):
        weka()


class NoJava:
    """A bridge that finds no Java, or an old one."""

    JVMNotFoundException = type("JVMNotFoundException", (ValueError,), {})
    JVMNotSupportedException = type("JVMNotSupportedException", (ValueError,), {})

    def __init__(self, version: tuple[int, ...] | None) -> None:
        self.version = version

    def isJVMStarted(self) -> bool:  # noqa: N802 - the name there
        return self.version is not None

    def getJVMVersion(self) -> tuple[int, ...] | None:  # noqa: N802
        return self.version

    def startJVM(self, *options: str, **more: object) -> None:  # noqa: N802
        raise self.JVMNotFoundException("No JVM shared library file (libjvm.so) found.")


@pytest.mark.parametrize(
    ("version", "sentence"),
    [(None, "needs Java 17 or later, which was not found: No JVM"), ((11, 0, 2), "but Java 11.0.2 was found")],
)
def test_without_java(version: tuple[int, ...] | None, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: type("Found", (), {"submodule_search_locations": ["."]}))
    monkeypatch.setitem(sys.modules, "jpype", NoJava(version))
    weka.cache_clear()
    with pytest.raises(UnveilError, match=sentence) as raised:
        weka()
    assert not str(raised.value).endswith("..")


def test_it_is_imported_only_when_used() -> None:
    code = (
        "import sys, unveil.evaluation, unveil.workflow.evaluate; print([n for n in ('jpype', 'unveil.evaluation.c45', "
    )
    code += "'matplotlib', 'sklearn') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
