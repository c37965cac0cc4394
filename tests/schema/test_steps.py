"""Bounds at whole steps, by exact arithmetic."""

import datetime
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unveil.schema import Attribute, day_of, number_of
from unveil.schema.grid import MONTHS, step_bounds, step_bounds_count, step_split

NUMBER = Attribute("x", kind="number")
DATE = Attribute("x", kind="date", whole=True)
steps = st.sampled_from((0.01, 0.1, 0.25, 1.0, 2.5, 5.0, 7.0, 100.0))
places = st.integers(-2000, 2000).map(lambda hundredths: hundredths / 100)
days = st.dates(datetime.date(1950, 1, 1), datetime.date(2050, 1, 1)).map(lambda day: number_of(day, "date") or 0.0)


def exact(number: float) -> Fraction:
    return Fraction(str(number))


@pytest.mark.parametrize(
    ("left", "right", "step", "bound"),
    [
        (17, 23, 5.0, 20),
        (17, 20, 5.0, 20),
        (21, 24, 5.0, None),
        (17, 63, 5.0, 40),
        (0.27, 0.33, 0.1, 0.3),
        (-7, -2, 5.0, -5),
    ],
)
def test_the_roundest_multiple_tells_neighbours_apart(
    left: float, right: float, step: float, bound: float | None
) -> None:
    assert step_split(left, right, step, NUMBER) == bound


@given(places, places, steps)
def test_a_multiple_tells_neighbours_apart_wherever_there_is_one(one: float, other: float, step: float) -> None:
    left, right = sorted((one, other))
    assume(left < right)
    found = step_split(left, right, step, NUMBER)
    multiples = exact(right) // exact(step) - exact(left) // exact(step)
    assert (found is None) == (multiples == 0)
    if found is not None:
        assert left < found <= right
        assert exact(found) % exact(step) == 0


@given(places, places, steps)
def test_all_bounds_are_listed_once(one: float, other: float, step: float) -> None:
    lo, hi = sorted((one, other))
    bounds = list(step_bounds(step, lo, hi))
    first, last = exact(lo) // exact(step) + 1, -(-exact(hi) // exact(step)) - 1
    assert [exact(bound) for bound in bounds] == [number * exact(step) for number in range(first, last + 1)]
    assert abs(step_bounds_count(step, lo, hi) - len(bounds)) <= 1


@given(days, days, st.sampled_from(sorted(MONTHS)))
def test_periods_begin_on_their_first_days(one: float, other: float, period: str) -> None:
    lo, hi = sorted((one, other))
    every = (day_of(lo) + datetime.timedelta(days) for days in range(1, int(hi - lo)))
    begins = [day for day in every if day.day == 1 and (day.month - 1) % MONTHS[period] == 0]
    assert [day_of(bound) for bound in step_bounds(period, lo, hi)] == begins
    found = step_split(lo, hi, period, DATE) if lo < hi else None
    held = [*begins, *([day_of(hi)] if day_of(hi).day == 1 and (day_of(hi).month - 1) % MONTHS[period] == 0 else [])]
    assert (found is None) == (not held or lo == hi)
    assert found is None or day_of(found) in held
