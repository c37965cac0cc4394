"""Input that nobody writes by accident: one sentence, exit code 2, nothing written, and no waiting for ever."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from commands import Run, refused
from noise.private import PrivateProject
from project import Project

PLAIN = """\
[table]
source = "odd.parquet"
class  = "ill"
others = "release"

[attributes.town]
kind = "category"

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["town"]
k                = 2
"""


def digits(count: int) -> str:
    return "9" * count


def spec(old: str, new: str) -> Callable[[Project], None]:
    return lambda project: project.edit(project.spec, old, new)


def before(text: str) -> Callable[[Project], object]:
    return lambda project: project.spec.write_text(text + project.spec.read_text())


def pipe(name: str) -> Callable[[Project], None]:
    def spoil(project: Project) -> None:
        (project.folder / name).unlink()
        os.mkfifo(project.folder / name)

    return spoil


CASES: dict[str, tuple[Callable[[Project], object], list[str]]] = {
    "a source with a long name": (spec("people.csv", "x" * 300 + ".csv"), ["File name too long"]),
    "a taxonomy with a long name": (spec("job.tree", "x" * 300), ["[attributes.job]", "File name too long"]),
    "a taxonomy with a null byte": (spec("job.tree", "a\\u0000b"), ["[attributes.job]", "null byte"]),
    "a source with a null byte": (spec("people.csv", "a\\u0000b.csv"), ["no such file"]),
    "a spec nested too deeply": (before(f"a = {'[' * 3000}{']' * 3000}\n"), ["people.toml", "nested too deeply"]),
    "a value nested deeply": (spec('"ill"', f"{'[' * 200}{']' * 200}"), ["[table] class", "must be text"]),
    "a key of many parts": (before(".".join(["a"] * 50_000) + " = 1\n"), ["line 1", "more than 100 parts"]),
    "a quoted key of many parts": (before("\n" + ". ".join(['"a"'] * 50_000) + " = 1\n"), ["line 2", "100 parts"]),
    "a section of many parts": (before(f"[{'.'.join(['a'] * 50_000)}]\n"), ["line 1", "more than 100 parts"]),
    "a range of 400 digits": (spec("[0, 100]", f"[0, {digits(400)}]"), ["[attributes.age] range", "999…", "too large"]),
    "a range of 5,000 digits": (spec("[0, 100]", f"[0, {digits(5000)}]"), ["people.toml", "5000 digits"]),
    "a k of 20 digits": (spec("= 3\n", f"= {digits(20)}\n"), ["number 1 k", "at most"]),
    "a k of 400 digits": (spec("= 3\n", f"= {digits(400)}\n"), ["number 1 k", "999…", "at most"]),
    "a k of 5,000 digits": (spec("= 3\n", f"= {digits(5000)}\n"), ["people.toml", "5000 digits"]),
    "a source that is a pipe": (pipe("people.csv"), ["people.csv", "not a regular file"]),
    "a taxonomy that is a pipe": (pipe("job.tree"), ["job.tree", "not a regular file"]),
    "a spec that is a pipe": (pipe("people.toml"), ["people.toml", "not a regular file"]),
    "a source that is a device": (spec("people.csv", "/dev/zero"), ["/dev/zero"]),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_one_sentence(name: str, project: Project, run: Run) -> None:
    spoil, words = CASES[name]
    spoil(project)
    refused(project, run, words)


@pytest.mark.parametrize("key", ["threshold", "specializations"])
@pytest.mark.parametrize("number", [digits(20), digits(400)])
def test_numbers_of_a_private_release_are_bounded(key: str, number: str, project: Project, run: Run) -> None:
    private = PrivateProject(project)
    private.edit(private.spec, "specializations = 3", f"specializations = {number if key == 'specializations' else 3}")
    if key == "threshold":
        private.edit(private.spec, "[publish]\n", f"[publish]\nthreshold = {number}\n")
    refused(private, run, ["[publish]", key, "at most"])


def test_specializations_that_would_take_hours_are_refused(project: Project, run: Run) -> None:
    private = PrivateProject(project)
    private.edit(private.spec, "specializations = 3", "specializations = 1001")
    refused(private, run, ["[publish] specializations is 1001", "at most 1000"])


@pytest.fixture
def odd(project: Project) -> Iterator[Callable[[pa.Array], None]]:
    """Publishes the little table with an odd column, which is released as it is."""

    def write(column: pa.Array) -> None:
        table = pa.table(
            {"town": ["a", "b"] * (len(column) // 2), "odd": column, "ill": ["y", "n"] * (len(column) // 2)}
        )
        pa.parquet.write_table(table, project.folder / "odd.parquet")
        project.spec.write_text(PLAIN)

    return write


def not_text(type_: pa.DataType, bytes_: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(type_, 20, pa.array([b"a\xff", b"b"] * 10, bytes_).buffers())


UNREADABLE = {
    "text": not_text(pa.string(), pa.binary()),
    "long text": not_text(pa.large_string(), pa.large_binary()),
    "a date beyond 9999": pa.array([0, 10_000_000] * 10, pa.int32()).cast(pa.date32()),
    "a date before 1": pa.array([0, -10_000_000] * 10, pa.int32()).cast(pa.date32()),
    "a time beyond 9999": pa.array([0, 2**62] * 10, pa.timestamp("us")),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("kind", ["category", "date", "class"])
def test_values_that_python_cannot_hold(
    name: str, kind: str, odd: Callable[[pa.Array], None], project: Project, run: Run
) -> None:
    odd(UNREADABLE[name])
    described = '[attributes.odd]\nkind = "{}"\n'.format("category" if kind == "class" else kind)
    project.spec.write_text(PLAIN + described)
    if kind == "class":
        project.spec.write_text(PLAIN.replace('"ill"', '"odd"'))
    refused(project, run, ["odd.parquet", "'odd'"])


@pytest.mark.parametrize("name", ["text", "long text"])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_bytes_that_are_not_text_are_not_released_as_they_are(
    name: str, engine: str, odd: Callable[[pa.Array], None], project: Project, run: Run
) -> None:
    odd(UNREADABLE[name])
    refused(project, run, ["odd.parquet", "'odd'", "not UTF-8 text"], "--engine", engine)


def test_a_table_that_does_not_fit_into_memory(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 1000000 failed")

    monkeypatch.setattr("unveil.counting.engine.load_table", full)
    refused(project, run, ["not enough memory", "stream"])


def folder(project: Project) -> Path:
    """The table as a folder of two files, one of them further down."""
    place = project.folder / "parts"
    (place / "below").mkdir(parents=True)
    shutil.copy(project.table, place / "first.csv")
    shutil.copy(project.table, place / "below" / "second.csv")
    project.edit(project.spec, "people.csv", "parts")
    return place


def test_a_folder_that_cannot_be_read_is_not_left_out(
    project: Project, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the rows would be published, and nobody would know. Whoever runs as root may read everything."""
    place, usual = folder(project), os.scandir

    def closed(path: str) -> object:
        if Path(path).name == "below":
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path)

    monkeypatch.setattr(os, "scandir", closed)
    refused(project, run, [str(place / "below"), "Permission denied"])


@pytest.mark.parametrize("what", ["a link to nothing", "a pipe", "a link to a folder"])
def test_a_part_that_cannot_be_read_is_not_left_out(what: str, project: Project, run: Run) -> None:
    part = folder(project) / "third.csv"
    if what == "a pipe":
        os.mkfifo(part)
    else:
        part.symlink_to(project.folder / ("nothing" if what == "a link to nothing" else "parts/below"))
    refused(project, run, ["third.csv"])


def test_a_folder_on_the_way_that_is_closed(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Path.stat

    def closed(path: Path, **named: bool) -> os.stat_result:
        if path.name == "people.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path, **named)

    monkeypatch.setattr(Path, "stat", closed)
    refused(project, run, ["people.csv", "Permission denied"])
