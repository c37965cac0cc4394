"""Date intervals, dates released as they are, and typed classes: planted defects in releases that were true."""

import datetime
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.verifier.values import day_number, day_text
from verify.releases import write_manifest, write_parquet

START = datetime.date(2019, 1, 1)
BORN = [START + datetime.timedelta(days=37 * row % 700) for row in range(120)]
TABLE = pa.table(
    {
        "born": BORN,
        "seen": [day + datetime.timedelta(days=3) for day in BORN],
        "ill": [int(day.year > 2019) for day in BORN],
    }
)
SPEC = """\
[table]
source = "people.parquet"
class  = "ill"

[attributes.born]
kind  = "date"
range = [2019-01-01, 2021-01-01]

[attributes.seen]
kind = "date"

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["born"]
k                = 5

[publish]
bounds = "observed"  # so that a bound one day off parts the rows in another way
"""


class Published:
    """A release by refinement, and its raw table and spec."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "release"
        self.spec = folder / "people.toml"
        self.spec.write_text(SPEC)
        pq.write_table(TABLE, folder / "people.parquet")
        unveil.publish(self.spec).write(self.folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_text())
        self.data = pq.read_table(self.folder / "data.parquet")

    @property
    def blocks(self) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = self.manifest["masking"]["born"]["blocks"]
        return blocks

    def column(self, name: str, values: pa.ChunkedArray) -> None:
        self.data = self.data.set_column(self.data.column_names.index(name), name, values)

    def findings(self) -> list[str]:
        """Written anew, sorted and with true hashes, so that only the planted defect is left to find."""
        data = self.data.sort_by([(name, "ascending") for name in self.data.column_names])
        write_parquet(data, self.folder / "data.parquet")
        digest = hashlib.sha256((self.folder / "data.parquet").read_bytes()).hexdigest()
        self.manifest["files"]["data.parquet"]["sha256"] = digest
        write_manifest(self.folder, self.manifest)
        return [str(finding) for finding in unveil.verify(self.folder, self.spec)]


@pytest.fixture
def published(tmp_path: Path) -> Published:
    made = Published(tmp_path)
    assert len(made.blocks) > 1
    return made


def test_a_true_release_has_no_findings(published: Published) -> None:
    assert published.findings() == []


def _next_day(block: dict[str, Any], key: str) -> None:
    day = datetime.date.fromisoformat(block[key]) + datetime.timedelta(days=1)
    block[key] = day.isoformat()


def _gap(made: Published) -> None:
    _next_day(made.blocks[1], "from")


def _label(made: Published) -> None:
    made.blocks[0]["label"] = made.blocks[0]["label"].replace("2019-01-01", "2019-01-02")


def _no_such_day(made: Published) -> None:
    made.blocks[0]["to"] = made.blocks[1]["from"] = "2020-02-30"


def _not_iso(made: Published) -> None:
    made.blocks[0]["from"] = "2019-01-01T00:00"


def _number_unit(made: Published) -> None:
    made.manifest["masking"]["born"]["unit"] = "number"


def _numbers(made: Published) -> None:
    made.blocks[0]["from"] = 17897


def _not_whole(made: Published) -> None:
    made.manifest["masking"]["born"]["whole"] = False


def _backwards(made: Published) -> None:
    block = made.blocks[0]
    block["from"], block["to"] = block["to"], block["from"]


def _other_range(made: Published) -> None:
    last, label = made.blocks[-1], made.blocks[-1]["label"]
    last["to"], last["label"] = "2022-01-01", label.replace("2021-01-01", "2022-01-01")
    renamed = [last["label"] if text == label else text for text in made.data["born"].to_pylist()]
    made.column("born", pa.chunked_array([pa.array(renamed)]))


def _wrong_block(made: Published) -> None:
    labels = made.data["born"].to_pylist()
    first, last = made.blocks[0]["label"], made.blocks[-1]["label"]
    labels[labels.index(last)] = first
    made.column("born", pa.chunked_array([pa.array(labels)]))


def _moved_boundary(made: Published) -> None:
    """A boundary one day off, told the same everywhere: only the raw table shows it."""
    left, right = made.blocks[:2]
    old = [left["label"], right["label"]]
    _next_day(left, "to")
    right["from"] = left["to"]
    for block in (left, right):
        block["label"] = f"[{block['from']}, {block['to']})"
    new = dict(zip(old, [left["label"], right["label"]], strict=True))
    made.column("born", pa.chunked_array([pa.array([new.get(text, text) for text in made.data["born"].to_pylist()])]))


def _one_day_off(made: Published) -> None:
    days = made.data["seen"].to_pylist()
    days[0] += datetime.timedelta(days=1)
    made.column("seen", pa.chunked_array([pa.array(days)]))


def _days_as_text(made: Published) -> None:
    made.column("seen", made.data["seen"].cast(pa.string()))


def _labels_as_text(made: Published) -> None:
    made.column("ill", made.data["ill"].cast(pa.string()))


def _labels_as_truth(made: Published) -> None:
    made.column("ill", pc.equal(made.data["ill"], 1))


def _other_labels(made: Published) -> None:
    made.column("ill", pc.subtract(1, made.data["ill"]))


DEFECTS: dict[Callable[[Published], None], tuple[str, str]] = {
    _gap: ("cut:", "leave a gap"),
    _label: ("cut:", "has the label"),
    _no_such_day: ("manifest:", "not a date such as"),
    _not_iso: ("manifest:", "not a date such as"),
    _number_unit: ("manifest:", "the unit is number"),
    _numbers: ("manifest:", "the unit is date"),
    _not_whole: ("manifest:", "whole is false"),
    _backwards: ("cut:", "holds no date"),
    _other_range: ("spec-domain:", "2022-01-01"),
    _wrong_block: ("truth:", "born="),
    _moved_boundary: ("truth:", "born="),
    _one_day_off: ("truth:", "seen="),
    _days_as_text: ("columns:", "'seen' holds"),
    _labels_as_text: ("columns:", "'ill' holds"),
    _labels_as_truth: ("columns:", "'ill' holds bool, not whole numbers"),
    _other_labels: ("truth:", "ill="),
}


@pytest.mark.parametrize("plant", DEFECTS, ids=lambda plant: plant.__name__.strip("_"))
def test_a_planted_defect_is_found(published: Published, plant: Callable[[Published], None]) -> None:
    claim, words = DEFECTS[plant]
    plant(published)
    findings = published.findings()
    assert any(finding.startswith(claim) and words in finding for finding in findings), findings


def test_a_manifest_from_before_there_were_units_reads_as_it_did(tmp_path: Path) -> None:
    """Numbers, and a class of text."""
    table = pa.table({"age": list(range(40)), "ill": ["no", "yes"] * 20})
    spec = {
        "table": {"class": "ill"},
        "attributes": {"age": {"kind": "number"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 4}],
    }
    unveil.publish(table, spec).write(tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest.pop("class_type") == "text"
    assert manifest["masking"]["age"].pop("unit") == "number"
    write_manifest(tmp_path / "release", manifest)
    assert unveil.verify(tmp_path / "release") == []
    assert unveil.open_release(tmp_path / "release").masking["age"].unit == "number"


def test_days_are_counted_by_the_calendar() -> None:
    """2000 was a leap year and 1900 was not."""
    assert day_number("1970-01-01") == 0
    assert day_number("2000-03-01") - day_number("2000-02-28") == 2  # type: ignore[operator]
    assert day_number("1900-03-01") - day_number("1900-02-28") == 1  # type: ignore[operator]
    assert [day_number(value) for value in ("2019-02-29", "soon", 5, None)] == [None] * 4
    assert day_text(-1) == "1969-12-31"


PRIVATE = (
    SPEC[: SPEC.index("[attributes.seen]")]
    + """\
[attributes.seen]
role = "identifier"

[attributes.ill]
values = ["0", "1"]

[[require]]
kind    = "differential-privacy"
epsilon = 2.0

[publish]
method          = "diffgen"
specializations = 2
"""
)


def test_a_private_release_of_dates(tmp_path: Path) -> None:
    spec, folder = tmp_path / "people.toml", tmp_path / "release"
    spec.write_text(PRIVATE)
    pq.write_table(TABLE, tmp_path / "people.parquet")
    release = unveil.publish(tmp_path / "people.parquet", spec, unsafe_seed=5)
    release.write(folder)
    assert release.manifest.class_type == "integer"
    assert len(release.masking["born"].blocks) == 3
    assert unveil.verify(folder, spec) == []
    manifest = json.loads((folder / "manifest.json").read_text())
    first = manifest["masking"]["born"]["blocks"][0]
    first |= {"from": "2018-12-31", "label": first["label"].replace("2019-01-01", "2018-12-31")}
    write_manifest(folder, manifest)
    assert any(str(finding).startswith("spec-domain:") for finding in unveil.verify(folder, spec))


def test_dates_have_an_order_that_closeness_can_use(tmp_path: Path) -> None:
    closeness = {
        "kind": "t-closeness",
        "quasi-identifier": ["born"],
        "sensitive": "seen",
        "t": 0.4,
        "distance": "ordered",
    }
    spec = {
        "table": {"class": "ill", "source": str(tmp_path / "people.parquet")},
        "attributes": {"born": {"kind": "date"}, "seen": {"kind": "date"}},
        "require": [closeness],
    }
    pq.write_table(TABLE, tmp_path / "people.parquet")
    unveil.publish(TABLE, spec).write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", spec) == []
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    manifest["requirements"][0]["t"] = 0.0
    write_manifest(tmp_path / "release", manifest)
    assert any(str(finding).startswith("closeness:") for finding in unveil.verify(tmp_path / "release"))
    with pytest.raises(unveil.SpecError, match="'seen' is a date; t-closeness needs a category"):
        unveil.check(TABLE, spec | {"require": [closeness | {"distance": "equal"}]})
