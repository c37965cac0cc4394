"""A release is written whole or not at all, carries nothing that was masked, and says the same wherever it is made."""

import json
import os
import shutil
import stat
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from project import Project
from unveil.errors import ReleaseError


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


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
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


def test_there_must_be_a_folder_to_write_into(project: Project) -> None:
    with pytest.raises(ReleaseError, match="no folder"):
        unveil.publish(project.spec).write(project.folder / "not" / "there")
