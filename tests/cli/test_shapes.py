"""Tables of unusual shapes through every verb: ten classes, 300 columns, rows without a class, and samples."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import unveil
from commands import Run

SPEC = """\
[table]
source = "people.csv"
class  = "{class_}"

{attributes}
[[require]]
kind             = "k-anonymity"
quasi-identifier = {names}
k                = 5

[publish]
{publish}
"""


@dataclass
class Shape:
    """A table, what a spec says about it, and the classes of a release."""

    columns: dict[str, Any]
    attributes: dict[str, str]
    names: list[str]
    classes: set[str]
    class_: str = "class"

    def write(self, folder: Path, publish: str) -> Path:
        pa_csv.write_csv(pa.table(self.columns), folder / "people.csv")
        sections = "\n".join(f"[attributes.{name}]\n{text}\n" for name, text in self.attributes.items())
        given = {"class_": self.class_, "attributes": sections, "names": json.dumps(self.names), "publish": publish}
        (folder / "people.toml").write_text(SPEC.format(**given))
        return folder / "people.toml"


ROWS = 200
NUMBER = 'kind  = "number"\nrange = [0, 100]\nwhole = true'
CATEGORY = 'kind = "category"'


def ages() -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.random.default_rng(5).integers(0, 100, ROWS)


def ten_classes() -> Shape:
    age = ages()
    columns = {
        "age": age,
        "town": [f"t{number % 3}" for number in age],
        "class": [f"c{number // 10}" for number in age],
    }
    return Shape(columns, {"age": NUMBER, "town": CATEGORY}, ["age", "town"], {f"c{number}" for number in range(10)})


def wide() -> Shape:
    """300 columns, of which a stranger may know four."""
    draw = np.random.default_rng(6)
    columns: dict[str, Any] = {f"x{place}": draw.choice(["a", "b", "c"], ROWS) for place in range(299)}
    columns["class"] = np.where(columns["x0"] == "a", "yes", "no")
    described = {name: CATEGORY for name in columns if name != "class"}
    return Shape(columns, described, ["x0", "x1", "x2", "x3"], {"yes", "no"})


def classless(missing: str, classes: set[str]) -> Shape:
    """Some people refused to answer, and of others nothing is known."""
    age = ages()
    answers = np.where(age >= 50, "yes", "no").astype(object)
    answers[::7], answers[1::9], answers[2::11] = "R", "?", ""
    described = {"age": NUMBER, "class": f"missing = {missing}"}
    return Shape({"age": age, "class": pa.array(answers)}, described, ["age"], classes)


SHAPES = {
    "ten classes": ten_classes,
    "300 columns": wide,
    "a class of their own": lambda: classless('{ values = ["R", "?", ""], rows = "keep" }', {"yes", "no", "missing"}),
    "classes by kind": lambda: classless(
        '{ keep = { refused = ["R"], unknown = ["?", ""] } }', {"yes", "no", "refused", "unknown"}
    ),
}


def rows_of(path: Path) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in pq.read_table(path).to_pylist())


@pytest.mark.parametrize("publish", ['recoding = "local"', 'search = "paper"'])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_verb(shape: str, publish: str, tmp_path: Path, run: Run) -> None:
    """Later rows that are those of the table are masked to the rows of the release, class included."""
    made = SHAPES[shape]()
    spec, release, later = made.write(tmp_path, publish), tmp_path / "release", tmp_path / "later.parquet"
    steps: list[tuple[object, ...]] = [
        ("publish", spec, "--to", release),
        ("verify", release, "--raw", spec),
        ("evaluate", spec, "--seeds", 1),
        ("apply", release, tmp_path / "people.csv", "--to", later),
        ("report", release, "--owner", spec, "--seeds", 1, "--sample", 150, "--to", tmp_path / "page.html"),
    ]
    for step in steps[: None if publish.startswith("recoding") else 4]:
        outcome = run(*step)
        assert (outcome.code, outcome.err) == (0, ""), step
    released = pq.read_table(release / "data.parquet")
    assert set(released["class"].to_pylist()) == made.classes
    assert rows_of(later) == rows_of(release / "data.parquet")
    assert len(released.column_names) == len(made.columns)


def test_a_row_without_a_class_has_the_class_of_its_kind(tmp_path: Path) -> None:
    """Of nulls and of texts alike, in any kind of table."""
    made = SHAPES["classes by kind"]()
    release = unveil.publish(made.write(tmp_path, ""))
    later = pa.table({"age": [1, 1, 1, 1, 1], "class": ["R", "?", "", None, "yes"]})
    masked = release.masking.apply(later)
    assert masked["class"].to_pylist() == ["refused", "unknown", "unknown", "unknown", "yes"]
    assert release.masking.apply(later.to_pandas())["class"].tolist() == masked["class"].to_pylist()


def test_a_row_to_predict_needs_no_class(tmp_path: Path) -> None:
    """Where no row without a class was kept, there is no class for such rows, and a null stays a null."""
    release = unveil.publish(ten_classes().write(tmp_path, ""))
    masked = release.masking.apply(pa.table({"age": [1, 2], "town": ["t0", "t1"], "class": [None, "c1"]}))
    assert masked["class"].to_pylist() == [None, "c1"]


@pytest.mark.parametrize("kinds", [{}, {"refused": ["R", "?"], "unknown": [""]}])
def test_other_kinds_than_those_of_the_spec_are_found(kinds: dict[str, list[str]], tmp_path: Path, run: Run) -> None:
    """A planted fault: later rows would get another class."""
    spec, release = SHAPES["classes by kind"]().write(tmp_path, ""), tmp_path / "release"
    run("publish", spec, "--to", release)
    manifest = json.loads((release / "manifest.json").read_text())
    assert manifest["class_missing"] == {"refused": ["R"], "unknown": ["?", ""]}
    del manifest["class_missing"]
    manifest |= {"class_missing": kinds} if kinds else {}
    (release / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
    found = run("verify", release, "--raw", spec)
    assert found.code == 1
    assert "does not keep rows without a class as the spec does" in found.out
