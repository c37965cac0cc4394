"""The owner's ledger: what all private releases of a table have cost, in a file next to the spec."""

import json
import multiprocessing
from fractions import Fraction
from typing import Any

import pytest

import unveil
from commands import Run
from noise.private import SPEC, PrivateProject, no_draws
from project import SPEC as PLAIN
from unveil.errors import BudgetError, ReleaseError
from unveil.noise import SystemSource
from unveil.publishers.budget import LEDGER, Identity, enter, read_ledger, spent_on
from unveil.release import Release
from unveil.schema import load_spec

PUBLISHERS = 3
EACH = 15


def entries(private: PrivateProject) -> list[dict[str, Any]]:
    return json.loads(private.ledger.read_text())


def spent(private: PrivateProject) -> Fraction:
    return spent_on(read_ledger(private.ledger), Identity(private.table), private.folder)


def test_every_release_is_entered(private: PrivateProject, run: Run) -> None:
    for number in (1, 2):
        assert run("publish", private.spec, "--to", private.folder / f"release-{number}").code == 0
    assert entries(private) == [{"source": "people.csv", "spec": "people.toml", "epsilon": "1/2"}] * 2


def test_it_is_entered_before_anything_is_drawn(private: PrivateProject, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    draw = SystemSource.bytes

    def spy(source: SystemSource, count: int) -> bytes:
        seen.append(len(entries(private)))
        return draw(source, count)

    monkeypatch.setattr(SystemSource, "bytes", spy)
    unveil.publish(private.spec)
    assert set(seen) == {1}


def test_it_stays_entered_when_drawing_fails(private: PrivateProject, monkeypatch: pytest.MonkeyPatch) -> None:
    no_draws(monkeypatch)
    with pytest.raises(AssertionError):
        unveil.publish(private.spec)
    assert len(entries(private)) == 1


def test_it_stays_entered_when_writing_fails(
    private: PrivateProject, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ReleaseError("release: the release cannot be written: No space left on device.")

    monkeypatch.setattr(Release, "write", fail)
    assert run("publish", private.spec, "--to", private.release).code == 2
    assert len(entries(private)) == 1
    assert not private.release.exists()


def test_an_output_folder_that_exists_costs_nothing(private: PrivateProject, run: Run) -> None:
    private.release.mkdir()
    assert run("publish", private.spec, "--to", private.release).code == 2
    assert not private.ledger.exists()


def test_a_table_that_does_not_fit_costs_nothing(private: PrivateProject, run: Run) -> None:
    private.table.write_text(private.table.read_text() + "x,30,baker,Corc,1,no\n")
    assert run("publish", private.spec, "--to", private.release).code == 2
    assert not private.ledger.exists()


def test_the_budget_of_a_table_is_refused_past_its_end(private: PrivateProject) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 1.2')
    unveil.publish(private.spec)
    unveil.publish(private.spec)
    with pytest.raises(BudgetError, match=r"people\.csv have cost ε = 1 of the budget .*left, and this one asks for"):
        unveil.publish(private.spec)
    assert len(entries(private)) == 2
    private.edit(private.spec, "epsilon = 0.5", "epsilon = 0.2")
    unveil.publish(private.spec)
    assert spent(private) == Fraction(12, 10)


def test_tenths_add_up_to_the_budget(private: PrivateProject) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.3')
    private.edit(private.spec, "epsilon = 0.5", "epsilon = 0.1")
    for _ in range(3):
        unveil.publish(private.spec)
    with pytest.raises(BudgetError, match="0 is left"):
        unveil.publish(private.spec)


def test_specs_of_one_folder_share_it(private: PrivateProject) -> None:
    unveil.publish(private.spec)
    other = private.folder / "other.toml"
    other.write_text(SPEC.replace('class   = "ill"', 'class = "ill"\nbudget = 0.7'))
    with pytest.raises(BudgetError, match="people"):
        unveil.publish(other)
    assert [entry["spec"] for entry in entries(private)] == ["people.toml"]


def test_other_tables_are_counted_apart(private: PrivateProject) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.5')
    unveil.publish(private.spec)
    (private.folder / "others.csv").write_bytes(private.table.read_bytes())
    private.edit(private.spec, "people.csv", "others.csv")
    unveil.publish(private.spec)
    assert [entry["source"] for entry in entries(private)] == ["people.csv", "others.csv"]


@pytest.mark.parametrize("alias", ["./people.csv", "sub/../people.csv"])
def test_another_way_to_write_the_same_path_is_the_same_table(private: PrivateProject, alias: str) -> None:
    (private.folder / "sub").mkdir()
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.5')
    unveil.publish(private.spec)
    private.edit(private.spec, "people.csv", alias)
    with pytest.raises(BudgetError):
        unveil.publish(private.spec)


def test_seeded_releases_are_not_entered(private: PrivateProject) -> None:
    release = unveil.publish(private.spec, unsafe_seed=1)
    assert not private.ledger.exists()
    assert release.manifest.private is False
    assert "None" in release.manifest.guarantee


def test_a_seed_does_not_read_a_used_up_budget(private: PrivateProject) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.5')
    unveil.publish(private.spec)
    unveil.publish(private.spec, unsafe_seed=1)
    assert len(entries(private)) == 1


def test_a_spec_that_was_read_from_a_file_has_one(private: PrivateProject) -> None:
    unveil.publish(private.table, load_spec(private.spec))
    assert len(entries(private)) == 1


def test_k_anonymity_has_no_ledger(private: PrivateProject) -> None:
    private.spec.write_text(PLAIN)
    unveil.publish(private.spec)
    assert not private.ledger.exists()


DAMAGED = {
    "cut off": '[{"source": "people.csv", "spec": "people.toml", "eps',
    "empty": "",
    "not text": b"\xff\xfe",
    "no list": "7",
    "null": "null",
    "no entries": '["people.csv"]',
    "no epsilon": '[{"source": "people.csv"}]',
    "a source that is not text": '[{"source": 3, "epsilon": "1/2"}]',
    "a negative epsilon": '[{"source": "people.csv", "epsilon": "-1/2"}]',
    "no number": '[{"source": "people.csv", "epsilon": "half"}]',
    "a division by zero": '[{"source": "people.csv", "epsilon": "1/0"}]',
    "not a number": '[{"source": "people.csv", "epsilon": NaN}]',
    "infinite": '[{"source": "people.csv", "epsilon": 1e999}]',
    "an object": "{}",
    "an endless number": '[{"source": "people.csv", "epsilon": "1e4000000"}]',
    "an endless fraction": '[{"source": "people.csv", "epsilon": "1e-9999999"}]',
    "a number that is too long": f'[{{"source": "people.csv", "epsilon": "{"9" * 5000}"}}]',
    "a table that is not text": '[{"source": "people.csv", "table": 3, "epsilon": "1/2"}]',
    "nested too deep": "[" * 100_000,
    "a text": '""',
}


@pytest.mark.parametrize(
    "name",
    DAMAGED,
)
def test_a_damaged_ledger_is_refused(
    name: str, private: PrivateProject, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = DAMAGED[name]
    private.ledger.write_bytes(content if isinstance(content, bytes) else content.encode())
    no_draws(monkeypatch)
    before = private.ledger.read_bytes()
    outcome = run("publish", private.spec, "--to", private.release)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1, outcome.err
    assert ("not UTF-8 text" if name == "not text" else "damaged") in outcome.err
    assert LEDGER in outcome.err
    assert private.ledger.read_bytes() == before
    assert not private.release.exists()


def test_a_ledger_that_cannot_be_read_is_one_sentence(private: PrivateProject, run: Run) -> None:
    private.ledger.mkdir()
    outcome = run("publish", private.spec, "--to", private.release)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err


def test_a_folder_that_cannot_be_written_is_one_sentence(
    private: PrivateProject, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    no_draws(monkeypatch)
    outcome = run("publish", private.spec, "--to", private.release)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err


def test_several_processes_at_once_lose_no_entry(private: PrivateProject) -> None:
    """They ask for 45 releases, and the budget is for 20. Each entry that one of them lost would let in one more."""
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 10')
    with multiprocessing.get_context("spawn").Pool(PUBLISHERS) as pool:
        entered = sum(pool.map(enter_often, [str(private.spec)] * PUBLISHERS))
    assert entered == 20
    assert len(entries(private)) == 20
    assert spent(private) == 10


def enter_often(spec_file: str) -> int:
    """Enters many releases; says how many were not refused."""
    spec, entered = load_spec(spec_file), 0
    for _ in range(EACH):
        try:
            enter(spec, spec.source)
            entered += 1
        except BudgetError:
            continue
    return entered
