"""A release is written whole or not at all, carries nothing that was masked, and says the same wherever it is made."""

import csv
import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from project import Project
from unveil.errors import ReleaseError
from unveil.release import Formulas


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_table_and_spec_give_the_same_bytes(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    first = contents(project.release)
    shutil.rmtree(project.release)
    lines = project.table.read_text().splitlines()
    project.table.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    unveil.publish(project.spec).write(project.release)
    assert contents(project.release) == first


def test_what_the_owner_tells_readers_is_in_the_manifest(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    manifest = json.loads((project.release / "manifest.json").read_text(encoding="utf-8"))
    assert "about" not in manifest
    project.edit(project.spec, "[table]\n", '[table]\ntitle = "Wards"\ndate = 2024-05-31\n')
    other = project.folder / "other"
    unveil.publish(project.spec).write(other)
    told = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    assert told.pop("about") == {"title": "Wards", "date": "2024-05-31"}
    assert told == manifest
    assert unveil.verify(other) == []
    assert unveil.open_release(other).manifest.about.title == "Wards"


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([{"label": "[0, 40)", "from": 0, "to": 40}, {"label": "old"}], "the block 'old' lacks a bound"),
        ([{"label": "[0, 40)", "from": 0}], "the block '[0, 40)' lacks a bound"),
        ([{"label": "lost", "missing": ["lost"]}], "no block has numbers"),
        ([], "no block has numbers"),
        (
            [{"label": "[0, 9)", "from": 0, "to": 9, "missing": ["lost"]}],
            "holds 'lost', which is not a kind of missing",
        ),
    ],
)
def test_blocks_that_are_no_intervals_are_refused(
    project: Project, blocks: list[dict[str, object]], words: str
) -> None:
    unveil.publish(project.spec).write(project.release)
    path = project.release / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["masking"]["age"]["blocks"] = blocks
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ReleaseError, match=re.escape(words)):
        unveil.open_release(project.release)


@pytest.mark.parametrize(("key", "name"), [("class", "age"), ("weight", "age"), ("weight", "ill")])
def test_a_column_that_appears_twice_is_refused(project: Project, key: str, name: str) -> None:
    unveil.publish(project.spec).write(project.release)
    path = project.release / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(manifest | {key: name}), encoding="utf-8")
    with pytest.raises(ReleaseError, match=f"the column '{name}' appears twice"):
        unveil.open_release(project.release)


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), RuntimeError("crash")]
)
@pytest.mark.parametrize("place", ["CountedRows.write", "folder._sha256", "folder._settle"])
def test_a_failure_on_the_way_leaves_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, failure: BaseException, place: str
) -> None:
    release = unveil.publish(project.spec)
    before = project.files()

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(f"unveil.release.{place}", fail)
    with pytest.raises(ReleaseError if isinstance(failure, OSError) else type(failure)):
        release.write(project.release)
    assert project.files() == before


def test_an_older_release_is_never_touched(project: Project) -> None:
    unveil.publish(project.spec, steps=0).write(project.release)
    before = contents(project.release)
    with pytest.raises(ReleaseError, match="exists already"):
        unveil.publish(project.spec).write(project.release)
    assert contents(project.release) == before


def test_hidden_values_dropped_rows_and_identifiers_stand_in_no_file(project: Project) -> None:
    """Not even in a dictionary page or a footer: the bytes are searched."""
    secret = ["Xanadu", "Yonville"]
    project.edit(project.spec, 'values = ["Aarhus", "Bergen", "Cork"]', "")
    text = project.table.read_text().replace("p1,", "Zaphod,").replace("Bergen", secret[0])
    project.table.write_text(text + f"x,?,baker,{secret[1]},77777.25,yes\n")
    release = unveil.publish(project.spec, steps=0)
    release.write(project.release, ("parquet", "csv"))
    everything = b"".join(contents(project.release).values())
    for word in [*secret, "Zaphod", "77777", "Aarhus", "clerk,"]:
        assert word.encode() not in everything
    assert pa.parquet.read_schema(project.release / "data.parquet").metadata is None


def test_a_release_opens_again(project: Project) -> None:
    release = unveil.publish(project.spec)
    release.write(project.release)
    again = unveil.open_release(project.release)
    assert again.manifest == release.manifest
    assert again.to_pandas().astype(str).equals(release.to_pandas().astype(str))
    assert again.to_polars().shape == again.table.shape
    assert "48 rows" in repr(again)


def test_what_is_not_a_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="not a release"):
        unveil.open_release(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema_version": 99}')
    with pytest.raises(ReleaseError, match="manifest"):
        unveil.open_release(tmp_path)


def test_modes_follow_the_umask_which_no_other_thread_sees_change(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = unveil.publish(project.spec)
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.delattr(os, "umask")
            release.write(project.release)
            release.write_trace(project.folder / "trace.json")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (project.release, project.folder / "trace.json")]
    assert modes == [0o750, 0o640]


def test_a_draft_is_withheld_while_it_is_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def look(self: object, path: Path, *_: object) -> None:
        seen.append(stat.S_IMODE(path.parent.stat().st_mode))
        raise RuntimeError("looked")

    release = unveil.publish(project.spec)
    monkeypatch.setattr("unveil.release.CountedRows.write", look)
    with pytest.raises(RuntimeError, match="looked"):
        release.write(project.release)
    assert seen == [0o700]


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def another_place(path: Path) -> None:
    path.rename(path.parent.parent / path.name)
    manifest = path.parent / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"data.parquet"', '"../data.parquet"'))


def an_absolute_place(path: Path) -> None:
    path.rename(path.parent.parent / path.name)
    manifest = path.parent / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"data.parquet"', f'"{path.parent.parent}/data.parquet"'))


READERS: dict[str, Callable[[Project], object]] = {
    "open": lambda project: unveil.open_release(project.release),
    "verify": lambda project: unveil.verify(project.release),
    "report": lambda project: unveil.report(project.release),
    "apply": lambda project: unveil.apply(project.release, project.table, unseen="suppress"),
}


@pytest.mark.parametrize("reader", list(READERS))
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("manifest.json", a_link),
        ("manifest.json", a_pipe),
        ("data.parquet", a_link),
        ("data.parquet", a_pipe),
        ("data.parquet", another_place),
        ("data.parquet", an_absolute_place),
    ],
)
def test_every_reader_takes_regular_files_of_the_folder_alone(
    project: Project, reader: str, name: str, change: Callable[[Path], None]
) -> None:
    """`apply` reads the manifest alone, so that it may not mind the data files."""
    unveil.publish(project.spec).write(project.release)
    change(project.release / name)
    if reader == "verify" and name == "data.parquet":
        assert READERS[reader](project)
    elif reader != "apply" or change not in (a_link, a_pipe) or name == "manifest.json":
        with pytest.raises(ReleaseError):
            READERS[reader](project)


def test_a_csv_file_comes_with_the_parquet_file_that_verify_reads(project: Project) -> None:
    unveil.publish(project.spec).write(project.release, ("csv",))
    assert {path.name for path in project.release.iterdir()} == {"data.csv", "data.parquet", "manifest.json"}
    assert unveil.verify(project.release) == []
    with pytest.raises(ReleaseError, match="'xlsx' is not a format of a release; the formats are parquet, csv"):
        unveil.publish(project.spec).write(project.folder / "other", ("xlsx",))
    assert not (project.folder / "other").exists()


FORMULAS = {
    '=HYPERLINK("http://x","y")': '\'=HYPERLINK("http://x","y")',
    "+49 89": "'+49 89",
    "-1+1": "'-1+1",
    "@x": "'@x",
    "\t=1": "'\t=1",
    "＝1": "'＝1",
    "'=1": "''=1",
    "-5": "-5",
    "-1.5e3": "-1.5e3",
    "'-5": "'-5",
    "'tis": "'tis",
    "<=50K": "<=50K",
    "[-5, 3)": "[-5, 3)",
}


@pytest.mark.parametrize("formulas", ["guarded", "kept"])
def test_text_that_a_spreadsheet_takes_for_a_formula(tmp_path: Path, formulas: Formulas) -> None:
    table = pa.table({"=n": [-5, -4] * 20, "town": ["a", "b"] * 20, "note": (list(FORMULAS) * 4)[:40]})
    spec = {
        "table": {"class": "town", "others": "release"},
        "attributes": {"=n": {"kind": "number", "range": [-10, 10], "whole": True}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["=n"], "k": 2}],
    }
    unveil.publish(table, spec).write(tmp_path / "release", ("csv",), formulas=formulas)
    assert unveil.verify(tmp_path / "release") == []
    with (tmp_path / "release" / "data.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    guarded = formulas == "guarded"
    assert header == ["'=n" if guarded else "=n", "note", "town"]
    assert {row[1] for row in rows} == set(FORMULAS.values() if guarded else FORMULAS)
    manifest = tmp_path / "release" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"{formulas}"', '"kept"' if guarded else '"guarded"'))
    assert [finding.claim for finding in unveil.verify(tmp_path / "release")] == ["copy"]


def test_what_is_too_large_to_be_verified_is_not_written(tmp_path: Path) -> None:
    table = pa.table({"age": [1, 2] * 10, "town": ["x" * 1001, "y"] * 10, "c": ["a", "b"] * 10})
    spec = {
        "table": {"class": "c"},
        "attributes": {"age": {"kind": "number", "range": [0, 9], "whole": True}, "town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 2}],
        "publish": {"search": "paper"},
    }
    with pytest.raises(ReleaseError, match=r"release: 'x{40}…' has 1,001 characters; a label has 1,000 at most"):
        unveil.publish(table, spec).write(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_there_must_be_a_folder_to_write_into(project: Project) -> None:
    with pytest.raises(ReleaseError, match="no folder"):
        unveil.publish(project.spec).write(project.folder / "not" / "there")
