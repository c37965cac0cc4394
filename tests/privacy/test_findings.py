"""Places where the publisher once did not keep its promise to the letter."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from privacy.dice import EXACT, Dice, NoSource, equal_chances
from privacy.losses import Structures
from privacy.worlds import World
from unveil.errors import SpecError, TableError
from unveil.noise import Geometric, Source, draws, source
from unveil.schema import Attribute, PrivatePlan, load_spec


class _TooDeep(Exception):  # noqa: N818 - it ends a run, not an error
    """More words were drawn than are followed here."""


def test_noise_beyond_the_table_is_exact() -> None:
    """The sampler itself, enumerated with words of 6 bits: where its table ends, the noise still falls by ε.

    A word below the last entry draws the excess afresh; a word equal to it goes on with its own bits and hardly gets
    beyond K. So P(G > K) is floor(2^64 · P(G ≥ K)) / 2^64 · exp(−ε), which is too small, and G = K gets the rest. The
    cure: where a word that equals the last entry turns out to lie below P(G ≥ K), let it draw the excess afresh, too.
    """
    chances = enumerated_magnitudes(Fraction(4), words=4)
    assert abs(float(EXACT.ln(EXACT.divide(chances[1], chances[2]))) - 4) < 0.03


def enumerated_magnitudes(epsilon: Fraction, words: int) -> dict[int, Decimal]:
    """How likely each magnitude is, as far as so many words decide it."""
    dice = Dice()
    chances: dict[int, Decimal] = defaultdict(Decimal)

    def word() -> int:
        if len(dice.rolled) == words:
            raise _TooDeep
        return dice.roll(equal_chances(64))

    def drawn() -> int | None:
        try:
            return int(noise.draw(1)[0])
        except _TooDeep:
            return None

    def one_word(source: Source, count: int) -> np.ndarray:
        return np.array([word() for _ in range(count)], dtype=np.uint64)

    with (
        patch.multiple(draws, CHUNK=6, words=one_word),
        patch.multiple(source, CHUNK=6, bits=lambda source, count: word()),
    ):
        noise = Geometric(epsilon, NoSource(), two_sided=True)
        for magnitude in dice.all(drawn):
            if magnitude is not None:
                chances[magnitude] = EXACT.add(chances[magnitude], dice.chance())
    return chances


def test_a_value_that_rounds_to_the_end_of_its_range_is_refused() -> None:
    """0.7 − 0.2 is 0.49999999999999994, less than 0.5, but its value of the grid is 0.5, which is not in [0, 0.5).

    With it the range can be split at its own end, into [0, 0.5) and [0.5, 0.5); without it, it cannot.
    """
    world = World((Attribute("share", kind="number", range=(0, 0.5), step=0.1),))
    with pytest.raises(TableError):
        assert not Structures(world, PrivatePlan(Fraction(1), 1)).worst([((), ((0.7 - 0.2, "Y"),))]).broken


STAMP = {"kind": "number", "range": [2**53, 2**53 + 8], "step": 1}
STAMPED = {
    "table": {"class": "class"},
    "attributes": {"stamp": STAMP, "class": {"values": ["Y", "N"]}},
    "require": [{"kind": "differential-privacy", "epsilon": 1}],
    "publish": {"method": "diffgen", "specializations": 2},
}


def test_a_grid_that_floats_cannot_tell_apart_is_refused() -> None:
    """From 2^53 on floats are 2 apart. A split at 2^53 + 5 puts 2^53 + 4 to the right, where it lies outside.

    Then [2^53 + 5, 2^53 + 8) can be split at its own beginning, which it cannot where nobody is at 2^53 + 4.
    """
    world = World((Attribute("stamp", kind="number", range=(2**53, 2**53 + 8), step=1),))
    assert Structures(world, PrivatePlan(Fraction(1), 2)).worst([((), ((2.0**53 + 4, "Y"),))]).broken
    with pytest.raises(SpecError):
        load_spec(STAMPED)
