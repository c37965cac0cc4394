"""Declared steps, by exact arithmetic: which numbers lie on them, and which value a number counts as."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unveil.schema import Attribute, Grid, grid_of, off_step
from unveil.schema.privacy import FINEST

STEPS = ("0.1", "0.01", "0.05", "0.25", "0.7", "1e-7", "3", "1e15")


@st.composite
def grids(draw: st.DrawFn) -> tuple[Grid, int]:
    """A grid as differential privacy takes it, and the number of one of its values."""
    start, step = (Fraction(draw(st.sampled_from(texts))) for texts in (("0", "0.1", "-3", "17", "-1000.1"), STEPS))
    end = start + draw(st.integers(1, 2**50)) * step
    assume(max(abs(start), abs(end)) / step <= FINEST)
    grid = grid_of(Attribute("x", kind="number", step=float(step), range=(float(start), float(end))))
    assume(grid is not None)
    assert grid is not None
    return grid, draw(st.integers(0, grid.size - 1))


@given(grids())
def test_a_value_of_the_grid_is_at_its_place_and_lowered_to_itself(drawn: tuple[Grid, int]) -> None:
    grid, place = drawn
    value = np.array([float(grid.value(place))])
    assert grid.places(value).tolist() == [place]
    assert grid.place(value[0]) == place
    assert grid.values(np.array([place])).tolist() == value.tolist() == grid.lowered(value).tolist()
    assert not off_step(value, float(grid.start), float(grid.step)).any()


@given(grids(), st.floats(0.01, 0.99))
def test_a_number_between_two_steps_counts_as_the_lower_one(drawn: tuple[Grid, int], part: float) -> None:
    grid, place = drawn
    assume(grid.size < 10**9)
    between = np.array([float(grid.start + (place + Fraction(part)) * grid.step)])
    assert grid.lowered(between).tolist() == [float(grid.value(place))]
    assert off_step(between, float(grid.start), float(grid.step)).all()


def test_what_is_outside_or_not_a_number_stays() -> None:
    grid = Grid(Fraction(0), Fraction("0.1"), 10)
    numbers = np.array([-0.05, 1.05, 1e300, -np.inf, np.nan])
    assert grid.lowered(numbers).tolist() == pytest.approx(numbers.tolist(), nan_ok=True)


@pytest.mark.parametrize(
    ("number", "step", "off"),
    [
        (0.1 + 0.2, 0.1, False),
        (1234.5678901, 1e-7, False),
        (123456789012345.6, 0.1, False),
        (1e15 + 0.5, 0.2, True),
        (1234.56789012, 1e-7, True),
        (44.5, 1.0, True),
    ],
)
def test_off_step(number: float, step: float, off: bool) -> None:
    assert off_step(np.array([number]), 0.0, step).tolist() == [off]


@settings(deadline=None, max_examples=150)
@given(
    st.fractions(-(10**6), 10**6, max_denominator=1000),
    st.fractions(Fraction(1, 1000), 10**4, max_denominator=1000),
    st.integers(2, 10**9),
    st.data(),
)
def test_values_are_those_of_the_fractions(start: Fraction, step: Fraction, size: int, data: st.DataObject) -> None:
    """Rounded once, whether they are computed one by one or all at once."""
    grid = Grid(start, step, size)
    places = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=8)))
    assert grid.values(places).tolist() == [float(start + place * step) for place in places.tolist()]
