"""Records that are left out, against a brute-force search: the same steps, the same rows set aside, the same table."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import unveil
from bridge import joint_spec, records_of, released_records, table_of
from oracles.omissions import leaving
from oracles.problem import QID, Generalized, Headcount, Problem, Record, Suppressed
from oracles.strategies import (
    crossed_problems,
    crowded_problems,
    one_set_problems,
    several_set_problems,
    with_persons,
)
from unveil.arrays import BoolArray, IntArray
from unveil.errors import BrokenPromiseError
from unveil.refine.omissions import Omissions
from unveil.schema import LeftOut, Recoding

pytestmark = pytest.mark.engines

RECODINGS: SearchStrategy[Recoding] = st.sampled_from(("local", "global"))
SHARES = st.sampled_from((Fraction(1, 20), Fraction(1, 5), Fraction(2, 5)))
WAYS: SearchStrategy[LeftOut] = st.sampled_from(("drop", "mask"))


def assert_same(problem: Problem, recoding: Recoding, share: Fraction, way: LeftOut, folder: Path) -> int:
    """Compares a release with the oracle's and verifies it; gives the records that are left out."""
    table = table_of(problem)
    spec = replace(joint_spec(problem, recoding), leave_out=share, left_out=way)
    release, expected = unveil.publish(table, spec), leaving(problem, recoding, share, way)
    assert [(step["attribute"], step["refined"], tuple(step["into"]), step.get("group")) for step in release.trace] == [
        (step.attribute, step.refined, step.into, step.group) for step in expected.result.steps
    ]
    for step, searched in zip(release.trace, expected.result.steps, strict=True):
        assert step["gain"] == pytest.approx(searched.gain, abs=1e-6)
        assert step["score"] == pytest.approx(searched.score, abs=1e-6)
    assert released_records(release) == records_of(problem, expected.table(problem))
    omitted = release.manifest.leave_out
    assert omitted is not None
    assert omitted.records == sum(record.weight for record in expected.out)
    whose = {record.person for record in problem.records} - {""}
    assert omitted.all_persons == (len(whose) or None)
    assert omitted.persons == (len({record.person for record in expected.out}) if whose else None)
    assert release.manifest.rows.left_out == len(expected.out)
    release.write(folder)
    assert unveil.verify(folder) == []
    assert unveil.verify(folder, spec, table=table) == []
    return omitted.records


@settings(deadline=None, max_examples=60)
@given(
    st.one_of(one_set_problems(), crowded_problems(), several_set_problems(), crossed_problems(), crossed_problems()),
    RECODINGS,
    SHARES,
    WAYS,
)
def test_same_steps_rows_set_aside_and_table(
    tmp_path_factory: pytest.TempPathFactory, problem: Problem, recoding: Recoding, share: Fraction, way: LeftOut
) -> None:
    assert_same(problem, recoding, share, way, tmp_path_factory.mktemp("left") / "release")


@settings(deadline=None, max_examples=60)
@given(
    with_persons(st.one_of(one_set_problems(), crowded_problems(), several_set_problems(), crossed_problems())),
    RECODINGS,
    SHARES,
    WAYS,
)
def test_same_persons_set_aside(
    tmp_path_factory: pytest.TempPathFactory, problem: Problem, recoding: Recoding, share: Fraction, way: LeftOut
) -> None:
    """No more persons have records among those left out than the share allows."""
    folder = tmp_path_factory.mktemp("left") / "release"
    assert_same(problem, recoding, share, way, folder)
    stated = json.loads((folder / "manifest.json").read_text())["leave-out"]
    assert stated["persons"] <= share * len({record.person for record in problem.records})


def test_labels_that_cover_all_values_alike_verify(tmp_path: Path) -> None:
    """The cut has the lowest of them, fully masked records would have the highest."""
    tree = ("Any", [("Some", [("Clerk", []), ("Judge", [])])])
    rows = [Record({"job": "Clerk"}, "Y"), Record({"job": "Judge"}, "N")]
    chain = Problem([Generalized("job", tree)], rows, qids=[QID(("job",), 2)])
    assert assert_same(chain, "global", Fraction(1, 20), "mask", tmp_path / "release") == 0


def judges(records: int) -> Problem:
    """Eight clerks and a few judges, at k = 4: to tell them apart, fewer than four judges must be left out."""
    tree = ("Any", [("Clerk", []), ("Judge", [])])
    held = [("Clerk", "Y", 6), ("Clerk", "N", 2), ("Judge", "N", 1), ("Judge", "N", records - 1)]
    rows = [Record({"job": job}, label, weight) for job, label, weight in held]
    return Problem([Generalized("job", tree)], rows, qids=[QID(("job",), 4)])


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize("way", ["drop", "mask"])
def test_the_budget_is_used_up_to_its_last_record_and_no_further(
    recoding: Recoding, way: LeftOut, tmp_path: Path
) -> None:
    assert assert_same(judges(3), recoding, Fraction(28, 100), way, tmp_path / "enough") == 3
    assert assert_same(judges(3), recoding, Fraction(27, 100), way, tmp_path / "short") == 0


def judges_of_persons() -> Problem:
    """Eight clerks with one record, and three judges with four: one of them judged once as a clerk."""
    tree = ("Any", [("Clerk", []), ("Judge", [])])
    clerks = [Record({"job": "Clerk"}, "Y" if number < 6 else "N", person=f"c{number}") for number in range(8)]
    judges = [Record({"job": "Judge"}, "N", person=f"j{number}") for number in range(3) for _ in range(4)]
    rows = [*clerks, *judges, Record({"job": "Clerk"}, "Y", person="j0")]
    return Problem([Generalized("job", tree)], rows, qids=[Headcount(("job",), 4)])


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize("way", ["drop", "mask"])
def test_the_budget_is_a_share_of_persons_where_the_table_has_them(
    recoding: Recoding, way: LeftOut, tmp_path: Path
) -> None:
    """Three of eleven persons have twelve of 21 records, and one of them stays with another record."""
    assert assert_same(judges_of_persons(), recoding, Fraction(28, 100), way, tmp_path / "enough") == 12
    assert assert_same(judges_of_persons(), recoding, Fraction(27, 100), way, tmp_path / "short") == 0
    manifest = json.loads((tmp_path / "enough" / "manifest.json").read_text())
    assert manifest["persons"] == (9 if manifest["leave-out"]["as"] == "drop" else 11)
    assert "12 of 21 records, which belong to 3 of 11 persons, were" in manifest["guarantee"]


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_person_too_many_is_noticed(recoding: Recoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted defect."""
    monkeypatch.setattr("unveil.publishers.joint._spare", lambda table, spec: 3)
    with pytest.raises(BrokenPromiseError, match="left out 3 persons, more than it may"):
        assert_same(judges_of_persons(), recoding, Fraction(27, 100), "drop", tmp_path / "release")


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize(("share", "defect"), [(Fraction(27, 100), 1), (Fraction(28, 100), -1)])
def test_a_record_too_many_or_too_few_is_noticed(
    recoding: Recoding, share: Fraction, defect: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted defect."""
    monkeypatch.setattr("unveil.publishers.joint._spare", lambda table, spec: int(share * 11) + defect)
    with pytest.raises((AssertionError, BrokenPromiseError)):
        assert_same(judges(3), recoding, share, "drop", tmp_path / "release")


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_piece_that_is_set_aside_though_it_holds_its_level_is_noticed(
    recoding: Recoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted defect."""
    assert assert_same(judges(4), recoding, Fraction(2, 5), "drop", tmp_path / "right") == 0
    right = Omissions.broken

    def broken(self: Omissions, counts: IntArray) -> BoolArray:
        return right(self, counts) | (counts[:, 0] == 4)

    monkeypatch.setattr(Omissions, "broken", broken)
    with pytest.raises(AssertionError):
        assert_same(judges(4), recoding, Fraction(2, 5), "drop", tmp_path / "release")


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_no_value_is_disclosed_that_only_records_left_out_hold(recoding: Recoding, tmp_path: Path) -> None:
    """The judges are the only people in the islet: when they are left out, all other towns are disclosed."""
    tree, towns = ("Any", [("Clerk", []), ("Judge", [])]), ("north", "south", "islet")
    clerks = [
        ("Clerk", "north", "Y", 10),
        ("Clerk", "north", "N", 2),
        ("Clerk", "south", "Y", 8),
        ("Clerk", "south", "N", 2),
    ]
    held = [*clerks, ("Judge", "islet", "N", 9)]
    rows = [Record({"job": job, "town": town}, label, weight) for job, town, label, weight in held]
    problem = Problem([Generalized("job", tree), Suppressed("town", towns)], rows, qids=[QID(("job", "town"), 10)])
    assert assert_same(problem, recoding, Fraction(3, 10), "drop", tmp_path / "release") == 9
    assert "islet" not in (tmp_path / "release" / "manifest.json").read_text()


def islanders(clerks: int, least: int) -> Problem:
    """Three judges, who all live in the islet with a few clerks; four people must share a job, and `least` a town."""
    jobs, towns = ("Any", [("Clerk", []), ("Judge", [])]), ("All", [("Mainland", []), ("Islet", [])])
    held = [("Clerk", "Mainland", "Y", 12), ("Clerk", "Islet", "N", clerks), ("Judge", "Islet", "N", 3)]
    rows = [Record({"job": job, "town": town}, label, weight) for job, town, label, weight in held if weight]
    return Problem(
        [Generalized("job", jobs), Generalized("town", towns)], rows, qids=[QID(("job",), 4), QID(("town",), least)]
    )


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize("way", ["drop", "mask"])
def test_nobody_is_left_out_whom_another_group_needs(recoding: Recoding, way: LeftOut, tmp_path: Path) -> None:
    """Towns are separated first. Then the judges can be left out only if enough clerks remain in the islet."""
    assert assert_same(islanders(4, 4), recoding, Fraction(1, 5), way, tmp_path / "enough") == 3
    assert assert_same(islanders(3, 4), recoding, Fraction(1, 5), way, tmp_path / "too few") == 0
    assert assert_same(islanders(0, 3), recoding, Fraction(1, 5), way, tmp_path / "none at all") == 0


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_group_that_others_left_too_small_is_noticed(
    recoding: Recoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted defect."""
    monkeypatch.setattr("unveil.refine.boxes.Partition.holds", lambda self, boxes, out: True)
    with pytest.raises(BrokenPromiseError, match="does not satisfy"):
        assert_same(islanders(3, 4), recoding, Fraction(1, 5), "drop", tmp_path / "release")


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_row_that_stays_in_another_group_is_noticed(
    recoding: Recoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted defect: those left out still count in the groups of the other set."""
    jobs = ("Any", [("Clerk", []), ("Judge", [])])
    towns = ("All", [("Mainland", []), ("Islet", [("North", []), ("South", [])])])
    clerks = {"Mainland": (7, 1), "North": (3, 2), "South": (4, 5)}
    rows = [
        Record({"job": "Clerk", "town": town}, label, weight)
        for town, weights in clerks.items()
        for label, weight in zip("YN", weights, strict=True)
    ]
    rows.append(Record({"job": "Judge", "town": "North"}, "N"))
    qids = [QID(("job",), 4), QID(("town",), 4)]
    problem = Problem([Generalized("job", jobs), Generalized("town", towns)], rows, qids=qids)
    assert assert_same(problem, recoding, Fraction(1, 5), "drop", tmp_path / "right") == 1
    monkeypatch.setattr("unveil.refine.boxes.Partition.take_out", lambda self, boxes, out: None)
    with pytest.raises(AssertionError):
        assert_same(problem, recoding, Fraction(1, 5), "drop", tmp_path / "release")


def test_the_label_of_everything_may_be_above_the_only_one_of_a_cut(tmp_path: Path) -> None:
    """A chain of labels is refined without telling anybody apart; fully masked rows have its root."""
    tree = ("Any", [("Some", [("Clerk", [])])])
    rows = [Record({"job": "Clerk", "town": town}, label, n) for town, label, n in (("n", "Y", 4), ("s", "N", 4))]
    problem = Problem([Generalized("job", tree), Suppressed("town", ("n", "s"))], rows, qids=[QID(("job",), 2)])
    assert_same(problem, "global", Fraction(1, 5), "mask", tmp_path / "release")
