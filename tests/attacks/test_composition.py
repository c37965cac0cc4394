"""Two releases: somebody who joined in between is the difference, and the same table twice gives nothing away."""

import pyarrow as pa
import pytest

import unveil
from attacks.people import people, spec
from unveil.attacks import Outcome
from unveil.attacks.composition import common_parts
from unveil.attacks.scene import Records

SEARCHES = pytest.mark.parametrize(("search", "recoding"), [("paper", "global"), ("joint", "local")])


def found(attack: str, *releases: unveil.Release, **more: object) -> Outcome:
    later, earlier = releases
    exposure = unveil.attack(later, earlier=earlier, **more)
    return next(outcome for outcome in exposure.outcomes if outcome.attack == attack)


@pytest.mark.parametrize("k", [10, 40])
def test_one_person_who_joins_between_two_releases_is_the_difference(k: int) -> None:
    before = people()
    after = pa.concat_tables([before, people(1, seed=9)])
    outcome = found("difference of releases", *(unveil.publish(table, spec(k)) for table in (after, before)))
    assert outcome.leak
    assert (outcome.success.hits, outcome.success.tries) == (1, 1)


@SEARCHES
def test_the_same_table_twice_shows_nothing(search: str, recoding: str) -> None:
    """By other requirements the cuts differ, but what both can tell apart has the same counts."""
    fine, coarse = (unveil.publish(people(), spec(k, search, recoding)) for k in (10, 80))
    outcome = found("difference of releases", fine, coarse)
    assert not outcome.leak
    assert outcome.success.tries == 0


def test_many_who_join_the_same_groups_are_not_in_small_ones() -> None:
    """Everybody comes twice: each group has grown by at least k."""
    before = people()
    later = unveil.publish(pa.concat_tables([before, before]), spec(10))
    outcome = found("difference of releases", later, unveil.publish(before, spec(10)))
    assert (outcome.leak, outcome.success.tries) == (False, 600)


def test_labels_that_overlap_are_one_part() -> None:
    fine, coarse = (Records(unveil.publish(people(), spec(k))) for k in (10, 80))
    for name in ("age", "job", "town", "ill"):
        later, earlier = common_parts(fine, coarse, name)
        masked = [records.release.masking.rows(people()) for records in (fine, coarse)]
        for one, other in zip(*(rows[name].to_pylist() for rows in masked), strict=True):
            assert later[one] == earlier[other]


def test_intersecting_releases_leaves_what_both_allow() -> None:
    """The later release hides the towns, the earlier one shows them; in Aarhus everybody has the flu."""
    table = pa.table(
        {
            "age": ["20"] * 40 + ["30"] * 40,
            "town": (["Aarhus"] * 20 + ["Bergen"] * 20) * 2,
            "ill": (["flu"] * 20 + ["cold", "gout"] * 10) * 2,
        }
    )

    def masking(name: str) -> dict[str, object]:
        values = {"age": ["20", "30"], "town": ["Aarhus", "Bergen"]}
        return {
            "table": {"class": "ill"},
            "attributes": {name: {"kind": "category", "values": held} for name, held in values.items()},
            "require": [{"kind": "k-anonymity", "quasi-identifier": [name], "k": 60}],
        }

    later, earlier = (unveil.publish(table, masking(name)) for name in ("town", "age"))
    outcome = found("intersection of releases", later, earlier, raw=masking("town"), table=table)
    assert outcome.leak
    assert outcome.control.hits == 0
    assert outcome.success.tries == 16
    assert 0 < outcome.success.hits < 16
    again = found("intersection of releases", later, later, raw=masking("town"), table=table)
    assert (again.leak, again.success) == (False, again.control)


def test_noisy_counts_cannot_be_intersected() -> None:
    private = {**spec(), "require": [{"kind": "differential-privacy", "epsilon": 1.0}]}
    private["attributes"] = {**private["attributes"], "ill": {"kind": "category", "values": ["no", "yes"]}}
    private["publish"] = {"method": "additive"}
    earlier = unveil.publish(people(), private, unsafe_seed=1)
    with pytest.raises(unveil.ReleaseError, match="made by additive, but only masked rows can be measured"):
        unveil.attack(unveil.publish(people(), spec()), earlier=earlier)
