"""The owner's history of releases: what is refused, what is written, and what the verifier finds in damaged ones."""

import json
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from commands import Run
from project import Project
from succession.chains import ATTRIBUTES, KINDS, Chain, crowd, table_of
from unveil.errors import ReleaseError, UnveilError
from unveil.interruption import settle as settle_as_usual


@pytest.fixture
def chain(tmp_path: Path) -> Chain:
    """Two releases that hold together."""
    made = Chain(tmp_path, KINDS["k"])
    made.publish(crowd(120))
    made.publish(crowd(120)[:100])
    assert not made.findings()
    return made


def keep_history(project: Project, folder: str = "history") -> None:
    project.edit(project.spec, 'class   = "ill"', 'class = "ill"\nperson = "name"')
    project.spec.write_text(project.spec.read_text() + f'\n[publish]\nhistory = "{folder}"\n')


def refuses(run: Run, project: Project, *words: str, options: tuple[object, ...] = ()) -> None:
    """To publish once more is refused in one sentence with these words."""
    before = project.files()
    outcome = run("publish", project.spec, "--to", project.folder / "another", *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert outcome.err.count("\n") == 1, outcome.err
    for word in words:
        assert word in outcome.err
    assert project.files() == before


def test_publish_enters_releases_and_keeps_to_them(project: Project, run: Run) -> None:
    keep_history(project)
    assert run("publish", project.spec, "--to", project.release).code == 0
    project.table.write_text(project.table.read_text() + "p99,30,baker,Cork,1000,yes\n")
    outcome = run("publish", project.spec, "--to", project.folder / "second", "--after", project.release)
    assert outcome.code == 0
    assert "1 row held back" in " ".join(outcome.out.split())
    assert "Together with 1 earlier release" in " ".join(outcome.out.split())
    assert "history, which is private" in " ".join(outcome.out.split())
    verified = run("verify", project.folder / "second", "--after", project.release, "--raw", project.spec)
    assert verified.code == 0, verified
    entered = sorted(path.name for path in (project.folder / "history").iterdir())
    assert entered == ["0001.parquet", "0002.parquet", "key"]
    for path in [project.folder / "history", *(project.folder / "history").iterdir()]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077


def test_check_says_who_would_be_held_back(project: Project, run: Run) -> None:
    keep_history(project)
    assert "held back" not in run("check", project.spec).out
    assert run("publish", project.spec, "--to", project.release).code == 0
    project.table.write_text(project.table.read_text() + "p99,30,baker,Cork,1000,yes\n")
    assert "1 row would be held back to keep the promise together" in " ".join(run("check", project.spec).out.split())
    assert json.loads(run("check", project.spec, "--json").out)["rows"]["held_back"] == 1
    published = unveil.publish(project.spec)
    assert published.manifest.rows.held_back == unveil.check(project.spec).table.withheld == 1


def test_check_refuses_what_publish_refuses(chain: Chain) -> None:
    more = {**chain.spec, "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 30}]}
    messages = []
    for verb in (unveil.check, unveil.publish):
        with pytest.raises(UnveilError) as error:
            verb(table_of(crowd(120)), more)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert "their own groups do not" in messages[0]


@pytest.mark.parametrize("verb", ["evaluate", "explain"])
def test_figures_that_leave_the_history_out_say_so(verb: str, project: Project, run: Run) -> None:
    quiet = run(verb, project.spec)
    keep_history(project)
    outcome = run(verb, project.spec)
    assert (quiet.code, outcome.code) == (0, 0), outcome
    assert "history plays no part" not in quiet.out
    assert "The history plays no part in these figures" in " ".join(outcome.out.split())


def test_no_key_of_a_person_is_in_the_history(chain: Chain) -> None:
    content = b"".join(path.read_bytes() for path in (chain.place / "history").iterdir())
    assert b"person 7" not in content


def test_an_entry_can_never_be_read_by_others(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even between the moment it comes to its place and the next."""
    modes = {}

    def settle(draft: Path, place: Path, **options: bool) -> None:
        modes[place.parent.name] = stat.S_IMODE(draft.stat().st_mode)
        settle_as_usual(draft, place, **options)

    monkeypatch.setattr("unveil.release.folder.settle", settle)
    unveil.publish(table_of(crowd(120)), chain.spec).write(chain.place / "release-2")
    assert modes["history"] == 0o600


def test_a_release_that_cannot_be_written_is_not_entered(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    later = unveil.publish(table_of(crowd(120)), chain.spec)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("unveil.release.folder._settle", full)
    with pytest.raises(ReleaseError, match="No space"):
        later.write(chain.place / "release-2")
    assert not (chain.place / "release-2").exists()
    assert not (chain.place / "history" / "0003.parquet").exists()
    monkeypatch.undo()
    later.write(chain.place / "release-2")
    assert (chain.place / "history" / "0003.parquet").exists()


def test_a_release_that_is_only_looked_at_is_not_entered(chain: Chain) -> None:
    people = crowd(120)[:90]
    later = unveil.publish(table_of(people), chain.spec)
    assert not unveil.verify(later, chain.spec, table=table_of(people), after=chain.folders)
    assert not (chain.place / "history" / "0003.parquet").exists()


def test_after_needs_a_history(project: Project, run: Run) -> None:
    options = ("--after", project.folder)
    refuses(run, project, "people.toml", "[publish] history", "[table] person", options=options)


def test_a_history_needs_persons(project: Project, run: Run) -> None:
    project.spec.write_text(project.spec.read_text() + '\n[publish]\nhistory = "history"\n')
    refuses(run, project, "people.toml", "[publish] history needs [table] person")


def test_differential_privacy_has_its_ledger_instead(project: Project, run: Run) -> None:
    keep_history(project)
    project.edit(project.spec, 'history = "history"', 'method = "diffgen"\nspecializations = 2\nhistory = "history"')
    refuses(run, project, "history is for refinement", "ε adds up over releases", "ledger tracks it")


def test_people_have_one_row_each(project: Project, run: Run) -> None:
    keep_history(project)
    project.table.write_text(project.table.read_text() + "p7,30,baker,Cork,1000,yes\n")
    refuses(run, project, "one row per person", "1 person of people.csv has several")


def test_another_table_is_not_in_the_history(project: Project, run: Run, tmp_path: Path) -> None:
    keep_history(project)
    assert run("publish", project.spec, "--to", project.release).code == 0
    (tmp_path / "other").mkdir()
    strange = Project(tmp_path / "other")
    strange.edit(strange.table, "1000.5", "2000.5")
    assert run("publish", strange.spec, "--to", strange.release).code == 0
    refuses(run, project, "the history in", "no release with these rows", options=("--after", strange.release))


def test_more_than_the_earlier_releases_promise_cannot_hold(project: Project, run: Run) -> None:
    keep_history(project)
    assert run("publish", project.spec, "--to", project.release).code == 0
    project.edit(project.spec, "k                = 3", "k = 40")
    refuses(run, project, "people.toml", "k = 40 persons on {age, job, town}", "0001.parquet", "than they promise")


def test_nothing_is_left_out_after_earlier_releases(project: Project, run: Run) -> None:
    keep_history(project)
    assert run("publish", project.spec, "--to", project.release).code == 0
    project.edit(project.spec, 'history = "history"', 'history = "history"\nleave-out = "1%"')
    refuses(run, project, "leave-out", "after earlier releases")


def test_a_cluster_keeps_no_history(project: Project, run: Run) -> None:
    keep_history(project)
    refuses(run, project, "history", "'memory' or 'stream'", options=("--engine", "spark"))


def test_the_history_cannot_be_in_the_release(project: Project, run: Run) -> None:
    keep_history(project, "another/history")
    refuses(run, project, "history is private", "outside the release")


DAMAGES = {
    "another key": (lambda folder: (folder / "key").write_text("00" * 32), "another key"),
    "a key that is none": (lambda folder: (folder / "key").write_text("secret"), "not a key"),
    "no key": (lambda folder: (folder / "key").unlink(), "key"),
    "an entry that is none": (lambda folder: (folder / "0001.parquet").write_bytes(b"PAR1"), "0001.parquet"),
}


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_a_damaged_history_is_refused(damage: str, chain: Chain) -> None:
    spoil, word = DAMAGES[damage]
    spoil(chain.place / "history")
    with pytest.raises(UnveilError, match=word):
        unveil.publish(table_of(crowd(120)), chain.spec)


def rewritten(folder: Path, **changes: object) -> None:
    """Changes the manifest of a release."""
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}, ensure_ascii=False, indent=2) + "\n")


def sha256_of(folder: Path) -> str:
    """The hash of the rows of a release."""
    return str(json.loads((folder / "manifest.json").read_text())["files"]["data.parquet"]["sha256"])


def test_verify_finds_numbers_and_releases_that_do_not_fit(chain: Chain) -> None:
    manifest = json.loads((chain.folders[1] / "manifest.json").read_text())
    rows, more = manifest["rows"], manifest["rows"].get("held_back", 0) + 1
    wrong = {
        "another release": {"after": ["0" * 64]},
        "none": {"after": []},
        "more held back": {"rows": {**rows, "held_back": more, "read": rows["read"] + 1}},
        "the masking of another": {"masking-of": "0" * 64},
    }
    for changes in wrong.values():
        text = (chain.folders[1] / "manifest.json").read_text()
        rewritten(chain.folders[1], **changes)
        assert chain.findings(), changes
        (chain.folders[1] / "manifest.json").write_text(text)
    assert not chain.findings()


@pytest.mark.parametrize("column", ["person", "label:town"])
def test_verify_finds_an_entry_of_other_people_or_labels(column: str, chain: Chain) -> None:
    path = chain.place / "history" / "0002.parquet"
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values = [bytes(16), *values[1:]] if column == "person" else [values[-1] + "!", *values[1:]]
    kind = pa.binary(16) if column == "person" else pa.string()
    changed = table.set_column(table.column_names.index(column), column, pa.array(values, kind))
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
    assert any(found.startswith("together: ") for found in chain.findings())


def test_attributes_that_an_earlier_release_lacks_say_nothing(tmp_path: Path) -> None:
    """The first release has no ages; people are still divided by their towns in it, and by who joined."""
    chain = Chain(tmp_path, KINDS["k"])
    towns = [{**KINDS["k"][0], "quasi-identifier": ["town"]}]
    chain.spec = {
        **chain.spec,
        "require": towns,
        "attributes": {**ATTRIBUTES, "age": {"role": "identifier"}},
    }
    people = crowd(120)
    chain.publish(people)
    chain.spec = {**chain.spec, "require": chain.require, "attributes": ATTRIBUTES}
    later = [dict(one, town="abcd"[number % 4]) for number, one in enumerate(people[10:])]
    chain.publish(later)
    assert not chain.broken()
    assert not chain.findings()


def test_verify_needs_the_earlier_entries(chain: Chain) -> None:
    (chain.place / "history" / "0001.parquet").unlink()
    assert any("lacks 1 release" in found for found in chain.findings())


def test_a_reader_finds_an_earlier_release_with_smaller_groups(chain: Chain) -> None:
    weak = {**chain.spec, "require": [{**KINDS["k"][0], "k": 2}], "publish": {}}
    unveil.publish(table_of(crowd(30)), weak).write(chain.place / "weak")
    rewritten(chain.folders[1], after=[sha256_of(chain.place / "weak")])
    found = [str(one) for one in unveil.verify(chain.folders[1], after=[chain.place / "weak"])]
    assert any(one.startswith("together: ") and "requirement 1 asks for at least 3" in one for one in found)
    strange = [str(one) for one in unveil.verify(chain.folders[1], after=[chain.folders[0]])]
    assert any("does not name the release with these rows" in one for one in strange)


def test_later_rows_are_released_as_far_as_they_can_be_hidden(chain: Chain) -> None:
    """Two have nobody to hide among; of a hundred, most have."""
    few = [dict(one, **{"class": label}) for one, label in zip(crowd(2, 5, first=700), "NY", strict=True)]
    with pytest.raises(UnveilError, match="held back"):
        unveil.apply_release(chain.folders[0], table_of(few), chain.spec)
    batch = crowd(100, 6, first=800)
    later = chain.add(unveil.apply_release(chain.folders[0], table_of(batch), chain.spec), batch)
    assert later.manifest.masking_of == sha256_of(chain.folders[0])
    assert 0 < later.manifest.rows.held_back < 100
    assert not chain.broken()
    assert not chain.findings()
    masked = unveil.apply(chain.folders[0], table_of(batch)).to_pylist()
    assert {row["tag"]: row for row in masked}.items() >= chain.releases[-1].items()


def test_later_rows_come_from_the_command_line(project: Project, run: Run) -> None:
    keep_history(project)
    assert run("publish", project.spec, "--to", project.release).code == 0
    rows = [f"n{i},{20 + (i * 7) % 60},clerk,Cork,1000,{'yes' if i % 2 else 'no'}" for i in range(40)]
    (batch := project.folder / "batch.csv").write_text("\n".join(["name,age,job,town,income,ill", *rows]) + "\n")
    outcome = run("apply", project.release, batch, "--release", project.spec, "--to", project.folder / "more")
    assert outcome.code == 0, outcome
    assert run("verify", project.folder / "more", "--after", project.release).code == 0
    strange = run("apply", project.release, batch, "--release", project.spec, "--to", "x", "--unseen", "suppress")
    assert strange.code == 2


def test_values_without_a_block_are_refused(chain: Chain) -> None:
    spec = {**chain.spec, "attributes": {**ATTRIBUTES, "age": {"kind": "number", "whole": True}}}
    older = [dict(one, age=one["age"] + 50) for one in crowd(50, 6, first=800)]
    with pytest.raises(UnveilError, match=r"'age'.*has no block"):
        unveil.apply_release(chain.folders[0], table_of(older), spec)
