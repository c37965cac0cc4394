"""The benchmark reads the labels of every tool alike: what a label covers decides what a release is worth."""

import numpy as np
import pytest
from domains import Categories, Numbers, flat

JOBS = Categories((("Any", "Office", "clerk"), ("Any", "Office", "judge"), ("Any", "baker")))
AGES = Numbers(17, 91, np.array([17, 20, 39, 40, 90]))


@pytest.mark.parametrize(
    ("label", "places", "share"),
    [
        ("Any", [0, 1, 2], 1.0),
        ("Office", [0, 1], 2 / 3),
        ("Office, other", [0, 1], 2 / 3),
        ("baker", [2], 0.0),
        ("⊥", [0, 1, 2], 1.0),
        ("['baker,clerk']", [0, 2], 2 / 3),
    ],
)
def test_a_label_of_a_category_covers_the_values_below_it(label: str, places: list[int], share: float) -> None:
    assert JOBS.covered(label).tolist() == places
    assert JOBS.share(label) == share
    assert JOBS.ends(label) == (places[0], places[-1])


@pytest.mark.parametrize(
    ("label", "held", "ends"),
    [
        ("[17, 40)", [17, 20, 39], (17, 39)),
        ("[80, 100)", [90], (80, 90)),
        ("['20-40']", [20, 39, 40], (20, 40)),
        ("39", [39], (39, 39)),
        ("⊥", [17, 20, 39, 40, 90], (17, 90)),
    ],
)
def test_an_interval_covers_whole_numbers_of_the_range(label: str, held: list[int], ends: tuple[int, int]) -> None:
    assert AGES.held[AGES.covered(label)].tolist() == held
    assert AGES.ends(label) == ends
    assert AGES.share(label) == (ends[1] - ends[0]) / 73


def test_levels_lead_from_the_values_to_one_label() -> None:
    assert JOBS.levels == [["clerk", "judge", "baker"], ["Office", "Office", "baker"], ["Any", "Any", "Any"]]
    assert flat(["a", "b"]).levels == [["a", "b"], ["⊥", "⊥"]]
    assert AGES.levels[0] == [17, 20, 39, 40, 90]
    assert AGES.levels[1] == ["[15, 20)", "[20, 25)", "[35, 40)", "[40, 45)", "[90, 95)"]
    assert AGES.levels[-1] == ["[17, 91)"] * 5
    assert Numbers(0, 100_000, np.array([7])).levels[1] == ["[0, 5000)"]
