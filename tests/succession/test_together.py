"""Releases of a table that changes keep their promise together: counted by brute force, and by the verifier."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unveil
from succession.chains import KINDS, SEARCHES, Chain, changed, crowd, table_of
from unveil.counting.earlier import Earlier
from unveil.errors import UnveilError
from unveil.publishers.withholding import Withholding
from unveil.refine.boxes import Partition


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(20, 120),
    churn=st.sampled_from([0.0, 0.1, 0.3, 0.6]),
    kind=st.sampled_from(sorted(KINDS)),
    search=st.sampled_from(SEARCHES),
    engine=st.sampled_from(["memory", "memory", "stream"]),
)
@example(seed=2357, size=20, churn=0.6, kind="closeness", search={"search": "paper"}, engine="memory")  # all held back
def test_three_releases_hold_together(
    seed: int, size: int, churn: float, kind: str, search: dict[str, str], engine: str
) -> None:
    draw = random.Random(seed)  # noqa: S311 - people of a test
    people = crowd(size, seed)
    with TemporaryDirectory() as place:
        chain = Chain(Path(place), KINDS[kind], **search)
        for number in range(3):
            try:
                chain.publish(people, engine=engine)
            except UnveilError as error:
                # A promise that cannot hold, a table of one class, or nobody left to release.
                if not any(word in str(error) for word in ("held back", "one label only", "can satisfy")):
                    raise
                return
            assert not chain.broken()
            assert not chain.findings()
            people = changed(people, churn, draw, 1000 * (number + 1))
            if not people:
                return


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: "-".join(search.values()))
def test_a_later_release_is_refined_further(search: dict[str, str], tmp_path: Path) -> None:
    """The first groups are large, so that they can be divided."""
    coarse = [{**KINDS["k"][0], "k": 60}]
    chain = Chain(tmp_path, coarse, **search)
    people = crowd(400)
    chain.publish(people)
    chain.spec["require"] = chain.require = KINDS["k"]
    later = chain.publish(people[40:] + crowd(120, 1, first=1000))
    assert later.manifest.rows.held_back < 40
    assert not chain.broken()
    cells = {tuple(row[name] for name in ("age", "town")) for row in chain.releases[1].values()}
    assert len(cells) > len({tuple(row[name] for name in ("age", "town")) for row in chain.releases[0].values()})


def test_memory_and_stream_release_the_same(tmp_path: Path) -> None:
    people = crowd(150)
    made = {}
    for engine in ("memory", "stream"):
        (tmp_path / engine).mkdir()
        chain = Chain(tmp_path / engine, KINDS["template"], search="joint", recoding="local")
        chain.publish(people, engine=engine)
        made[engine] = chain.publish(people[:100], engine=engine).table
    assert made["memory"].num_rows
    # Whom the two hold back depends on their keys, and so only the number of rows is the same.
    assert made["memory"].num_rows == made["stream"].num_rows


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: "-".join(search.values()))
def test_one_person_who_joins_is_held_back(search: dict[str, str], tmp_path: Path) -> None:
    people = crowd(100)
    chain = Chain(tmp_path, KINDS["k"], **search)
    chain.publish(people)
    later = chain.publish([*people, *crowd(1, 7, first=500)])
    assert later.manifest.rows.held_back == 1
    assert "t500" not in chain.releases[1]
    assert "1 of 101 persons was held back" in later.manifest.guarantee
    assert not chain.broken()


def test_when_one_person_leaves_others_of_the_group_are_held_back(tmp_path: Path) -> None:
    people = crowd(100)
    chain = Chain(tmp_path, KINDS["k"], search="paper")
    chain.publish(people)
    later = chain.publish(people[1:])
    gone = set(chain.releases[0]) - set(chain.releases[1])
    assert "t0" in gone
    assert later.manifest.rows.held_back >= KINDS["k"][0]["k"] - 1
    assert len({tuple(chain.releases[0][tag][name] for name in ("age", "town")) for tag in gone}) == 1
    assert not chain.broken()


def test_the_same_table_again_is_released_as_it_was(tmp_path: Path) -> None:
    people = crowd(80)
    chain = Chain(tmp_path, KINDS["k"])
    first = chain.publish(people)
    again = chain.publish(people)
    assert again.manifest.rows.held_back == 0
    assert again.table.num_rows == first.table.num_rows


def test_only_the_releases_that_are_named_count(tmp_path: Path) -> None:
    people = crowd(80)
    chain = Chain(tmp_path, KINDS["k"])
    chain.publish(people)
    chain.publish(people[:60])
    later = unveil.publish(table_of(people[:60]), chain.spec, after=[chain.folders[1]])
    assert len(later.manifest.after) == 1
    assert "Together with 1 earlier release:" in later.manifest.guarantee


def undivided(self: Earlier, names: list[str]) -> object:
    """A fault: everybody has the same history, but for those who joined."""
    return np.append(np.zeros(len(self), dtype=np.int64), 1)


FAULTS = {
    "nobody is held back": (Withholding, "settle", lambda self: None),
    "groups are not divided": (Earlier, "histories", undivided),
}


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: "-".join(search.values()))
@pytest.mark.parametrize("kind", ["k", "template"])
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_the_oracle_and_the_verifier_find_a_search_that_forgets(
    fault: str, kind: str, search: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = crowd(200)
    chain = Chain(tmp_path, KINDS[kind], **search)
    chain.publish(people)
    monkeypatch.setattr(*FAULTS[fault])
    monkeypatch.setattr(Partition, "valid", True)
    monkeypatch.setattr("unveil.refine.guard.Guard.holds", True)
    later = people[3:] + crowd(5, 3, first=900)
    for one in later:
        one["age"] = (one["age"] + 3) % 10  # other ages, so that groups of the two releases cross
    chain.publish(later)
    assert chain.broken()
    assert any(found.startswith("together: ") for found in chain.findings())


def test_a_template_that_only_people_in_both_break_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each release keeps its limit on hiv in every group; those whom both place alike do not."""
    require = [
        {"kind": "confidence", "channel": ["town"], "sensitive": "ill", "values": ["hiv"], "limit": 0.5},
    ]
    people = crowd(40)
    for number, one in enumerate(people):
        one["ill"] = "hiv" if number % 4 < 2 else "flu"
        one["town"] = "ab"[number % 4 in (0, 2)]
    later = [dict(one, town="cd"[number % 4 in (0, 3)]) for number, one in enumerate(people)]
    for fault in (True, False):
        (place := tmp_path / str(fault)).mkdir()
        chain = Chain(place, require, search="paper")
        chain.publish(people)
        if fault:
            monkeypatch.setattr(Earlier, "histories", undivided)
        chain.publish(later)
        monkeypatch.undo()
        assert bool(chain.broken()) is fault
        assert any("hiv" in found for found in chain.findings()) is fault


def test_values_of_the_earlier_release_count_too(tmp_path: Path) -> None:
    """Nobody has hiv any more; but those whom both releases place alike must not all have had it."""
    require = [{"kind": "confidence", "channel": ["town"], "sensitive": "ill", "values": ["hiv"], "limit": 0.5}]
    people = crowd(40)
    for number, one in enumerate(people):
        one["ill"], one["town"] = ("hiv", "flu")[number % 2], "ab"[number < 20]
    later = [dict(one, ill=("flu", "hiv")[number == 0], town="cd"[number % 2]) for number, one in enumerate(people)]
    chain = Chain(tmp_path, require, search="paper")
    chain.publish(people)
    chain.publish(later)
    assert not chain.broken()
    assert not chain.findings()


def test_who_joined_can_be_subtracted_only_without_a_history(tmp_path: Path) -> None:
    """The attack on two releases finds one person who joins between them, and nobody after the earlier one."""
    people = crowd(100)
    joined = [*people, *crowd(1, 7, first=500)]
    for history, leaks in ((False, True), (True, False)):
        (place := tmp_path / str(history)).mkdir()
        chain = Chain(place, KINDS["k"])
        if not history:
            del chain.spec["publish"]["history"]
        before, after = chain.publish(people), chain.publish(joined)
        exposure = unveil.attack(after, earlier=before)
        difference = next(one for one in exposure.outcomes if one.attack == "difference of releases")
        assert difference.leak is leaks
        assert difference.success.hits == int(leaks)


def test_rows_that_are_all_of_others_are_a_table_of_those_who_joined(tmp_path: Path) -> None:
    chain = Chain(tmp_path, KINDS["k"])
    chain.publish(crowd(60))
    later = chain.publish(crowd(60, 1, first=100))
    assert later.manifest.rows.held_back == 0
    assert isinstance(later.table, pa.Table)
    assert not chain.broken()
