"""Every level is anti-monotone: however a group is split, one piece at least is no more private than the group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.schema.requirements import (
    Atom,
    BetaLikeness,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    Level,
    TCloseness,
    Template,
)

VALUES = ("0", "1", "2", "4")
ATOMS: list[Atom] = [
    KAnonymity(quasi_identifier=("x",), k=3),
    Template(("x",), "s", "1", 0.5),
    LDiversity(quasi_identifier=("x",), sensitive="s", l=2),
    LDiversity(quasi_identifier=("x",), sensitive="s", l=1.5, variant="entropy"),
    TCloseness(quasi_identifier=("x",), sensitive="s", t=0.3),
    TCloseness(quasi_identifier=("x",), sensitive="s", t=0.3, distance="ordered"),
    BetaLikeness(quasi_identifier=("x",), sensitive="s", beta=1),
    KEAnonymity(quasi_identifier=("x",), sensitive="s", k=2, e=1),
]

counts = st.lists(st.integers(0, 9), min_size=4, max_size=4).map(np.array)
pieces = st.lists(counts.filter(lambda piece: piece.sum() > 0), min_size=1, max_size=5).map(np.array)


def broken(level: Level, group: np.ndarray) -> bool:
    """Whether all pieces are more private than the group they make up."""
    whole = level.of(group.sum(axis=0)[None])[0]
    return bool(level.of(group).min() > whole + 1e-12)


@pytest.mark.parametrize("atom", ATOMS, ids=str)
@settings(deadline=None, max_examples=200)
@given(group=pieces, rest=pieces)
def test_one_piece_is_no_more_private_than_the_group(atom: Atom, group: np.ndarray, rest: np.ndarray) -> None:
    total = group.sum(axis=0) + rest.sum(axis=0)
    assert not broken(atom.level(VALUES, total), group)


def test_the_check_fails_for_a_level_that_is_not_anti_monotone() -> None:
    class Smallness:
        """Sizes negated: every piece of a group is smaller, so all of them pass for more private."""

        def of(self, counts: np.ndarray) -> np.ndarray:
            return -counts.sum(axis=1).astype(float)

    assert broken(Smallness(), np.array([[1, 0], [0, 1]]))


@pytest.mark.parametrize(
    ("atom", "group", "holds"),
    [
        (KAnonymity(quasi_identifier=("x",), k=3), [1, 1, 1, 0], True),
        (KAnonymity(quasi_identifier=("x",), k=3), [1, 1, 0, 0], False),
        (Template(("x",), "s", "1", 0.75), [1, 3, 0, 0], True),
        (Template(("x",), "s", "1", 0.7), [3, 7, 0, 0], True),
        (Template(("x",), "s", "1", 0.333333), [2, 1, 0, 0], False),
        (Template(("x",), "s", "1", 1.0), [0, 4, 0, 0], True),
        (LDiversity(quasi_identifier=("x",), sensitive="s", l=2), [9, 1, 0, 0], True),
        (LDiversity(quasi_identifier=("x",), sensitive="s", l=2), [9, 0, 0, 0], False),
        (LDiversity(quasi_identifier=("x",), sensitive="s", l=2, variant="entropy"), [5, 5, 0, 0], True),
        (LDiversity(quasi_identifier=("x",), sensitive="s", l=2, variant="entropy"), [5, 4, 0, 0], False),
        (LDiversity(quasi_identifier=("x",), sensitive="s", l=4, variant="entropy"), [7, 7, 7, 7], True),
        (TCloseness(quasi_identifier=("x",), sensitive="s", t=0.5), [2, 0, 0, 0], False),
        (TCloseness(quasi_identifier=("x",), sensitive="s", t=0.5), [1, 0, 1, 0], True),
        (TCloseness(quasi_identifier=("x",), sensitive="s", t=0.5, distance="ordered"), [1, 0, 0, 0], True),
        (TCloseness(quasi_identifier=("x",), sensitive="s", t=0.49, distance="ordered"), [1, 0, 0, 0], False),
        (BetaLikeness(quasi_identifier=("x",), sensitive="s", beta=1), [1, 1, 0, 0], True),
        (BetaLikeness(quasi_identifier=("x",), sensitive="s", beta=1), [3, 2, 0, 0], False),
        (KEAnonymity(quasi_identifier=("x",), sensitive="s", k=2, e=2), [1, 0, 1, 0], True),
        (KEAnonymity(quasi_identifier=("x",), sensitive="s", k=2, e=2), [1, 1, 0, 0], False),
        (KEAnonymity(quasi_identifier=("x",), sensitive="s", k=3, e=2), [1, 0, 0, 1], False),
    ],
    ids=str,
)
def test_bounds_are_met_exactly(atom: Atom, group: list[int], holds: bool) -> None:
    level = atom.level(VALUES, np.array([10, 10, 10, 10]))
    assert bool(level.holds(level.of(np.array([group])))[0]) is holds
