"""Round bounds, by exact arithmetic: observed ranges that hold all values, and splits that part the same ones."""

import datetime
import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unveil.schema import Attribute, day_of, number_of, round_split, widened, widened_days

FIRST, LAST = (number_of(day, "date") or 0 for day in (datetime.date.min, datetime.date(9999, 12, 30)))
NUMBER = Attribute("x", kind="number")
WHOLE = Attribute("x", kind="number", whole=True)
DATE = Attribute("x", kind="date", whole=True)

exponents = st.sampled_from((-300, -20, -7, -3, -2, -1, 0, 1, 2, 7, 15, 290))
decimals = st.builds(
    lambda digits, exponent: float(Decimal(digits).scaleb(exponent)), st.integers(-999, 999), exponents
)
numbers = st.one_of(decimals, st.floats(-1e300, 1e300))


# ---- Observed ranges ----


@pytest.mark.parametrize(
    ("values", "whole", "bounds"),
    [
        ([17, 90], True, (10, 100)),
        ([0, 4356], True, (0, 5000)),
        ([1990, 2005], True, (1980, 2010)),
        ([1, 4], True, (0, 10)),
        ([5, 5], True, (0, 10)),
        ([0, 0], True, (0, 10)),
        ([100, 200], True, (0, 300)),
        ([-3.2, 7.9], False, (-10, 10)),
        ([0.03, 0.07], False, (0.02, 0.08)),
        ([0.5, 0.5], False, (0.4, 0.6)),
        # 0.3 / 0.1 and 3.03 / 0.01 are not whole in floats.
        ([0.0, 0.3], False, (0, 0.4)),
        ([3.03, 3.04], False, (3.02, 3.05)),
        ([1e16, 1e16 + 2], False, (1e16 - 2, 1e16 + 4)),
    ],
)
def test_widened(values: list[float], whole: bool, bounds: tuple[float, float]) -> None:
    assert widened(*values, whole=whole) == bounds


@given(numbers, numbers)
def test_an_observed_range_holds_all_values_and_is_none_of_them(one: float, other: float) -> None:
    lowest, highest = sorted((one, other))
    lo, hi = widened(lowest, highest, whole=False)
    assert lo < lowest or lo == lowest == 0
    assert highest < hi
    assert math.isfinite(lo)
    assert math.isfinite(hi)


@given(decimals, decimals)
def test_the_ends_of_a_range_have_fewer_digits_than_what_they_hide(one: float, other: float) -> None:
    lowest, highest = sorted((one, other))
    assume(lowest < highest)
    with localcontext(prec=700):  # so that the difference of 1e290 and 1e-300 is exact
        grid = Decimal(1).scaleb((Decimal(str(highest)) - Decimal(str(lowest))).adjusted())
        assert all(Decimal(str(bound)) % grid == 0 for bound in widened(lowest, highest, whole=False))


@given(st.integers(-(2**53), 2**53), st.integers(-(2**53), 2**53))
def test_whole_numbers_are_widened_to_tens_at_least(one: int, other: int) -> None:
    lowest, highest = sorted((one, other))
    lo, hi = widened(lowest, highest, whole=True)
    assert lo < lowest or lo == lowest == 0
    assert highest < hi
    assert lo % 10 == hi % 10 == 0


@given(st.dates(min_value=datetime.date(1, 1, 2), max_value=datetime.date(9999, 12, 30)), st.integers(0, 5000))
def test_an_observed_range_of_dates_holds_all_of_them(first: datetime.date, span: int) -> None:
    lowest = number_of(first, "date") or 0.0
    highest = min(lowest + span, LAST)
    lo, hi = widened_days(lowest, highest)
    assert lo < lowest
    assert highest < hi


# ---- Splits ----


@pytest.mark.parametrize(
    ("left", "right", "attribute", "bound"),
    [
        (35, 37, WHOLE, 36),
        (36, 37, WHOLE, 37),
        (4386, 5178, WHOLE, 5000),
        (-12, -3, WHOLE, -10),
        (-5, 3, WHOLE, 0),
        (20, 90, WHOLE, 50),
        (20, 50, WHOLE, 30),
        (0.1, 0.2, NUMBER, 0.15),
        (1e-7, 3e-7, NUMBER, 2e-7),
        (0.1, 0.10000000000000002, NUMBER, 0.10000000000000002),
        (1e15, 1e15 + 1, NUMBER, 1e15 + 0.5),
        (0.25, 0.5, Attribute("x", kind="number", step=0.25), 0.5),
        (0.25, 1.25, Attribute("x", kind="number", step=0.25), 1),
        (0.35, 3.1, Attribute("x", kind="number", step=0.25, range=(0.1, 9.1)), 1.6),
        (0.3, 0.7, Attribute("x", kind="number", step=0.1), 0.5),
    ],
)
def test_round_split(left: float, right: float, attribute: Attribute, bound: float) -> None:
    assert round_split(left, right, attribute) == bound


@pytest.mark.parametrize(
    ("left", "right", "bound"),
    [
        ("2018-12-30", "2019-02-01", "2019-01-01"),
        ("2019-01-01", "2019-06-30", "2019-04-01"),
        ("2019-04-01", "2019-06-30", "2019-05-01"),
        ("2019-04-01", "2019-04-30", "2019-04-16"),
        ("2019-04-01", "2019-04-02", "2019-04-02"),
        ("1960-05-05", "1980-05-05", "1970-01-01"),
    ],
)
def test_round_days(left: str, right: str, bound: str) -> None:
    found = round_split(number_of(left, "date") or 0, number_of(right, "date") or 0, DATE)
    assert day_of(found).isoformat() == bound


@given(numbers, numbers)
def test_a_split_of_floats_parts_them_and_is_neither(one: float, other: float) -> None:
    left, right = sorted((one, other))
    assume(left < right)
    bound = round_split(left, right, NUMBER)
    assert left < bound <= right
    assert bound < right or math.nextafter(left, right) == right


@given(numbers, numbers)
def test_nothing_between_two_floats_is_rounder(one: float, other: float) -> None:
    left, right = sorted((one, other))
    assume(left < right)
    bound = Decimal(str(round_split(left, right, NUMBER)))
    if bound not in (0, Decimal(str(right))):
        rounder = Decimal(1).scaleb(bound.normalize().as_tuple().exponent + 1)
        nearest = [(bound // rounder + side) * rounder for side in (-1, 0, 1)]
        assert not any(left < float(number) < right for number in nearest)


@given(st.integers(-(2**53), 2**53), st.integers(1, 10**6))
def test_a_split_of_whole_numbers_is_whole(left: int, gap: int) -> None:
    bound = round_split(left, left + gap, WHOLE)
    assert bound == int(bound)
    assert left < bound < left + gap or (gap == 1 and bound == left + gap)


@given(
    st.sampled_from(("0.1", "0.01", "0.05", "0.25", "0.7", "1e-7", "3", "1e15")),
    st.sampled_from(("0", "0.1", "-3", "17")),
    st.integers(-1000, 1000),
    st.integers(1, 1000),
)
def test_a_split_of_steps_is_at_a_step(step: str, start: str, place: int, gap: int) -> None:
    attribute = Attribute("x", kind="number", step=float(step), range=(float(start), 1e300))
    exact = [Decimal(start) + n * Decimal(step) for n in (place, place + gap)]
    left, right = map(float, exact)
    assume([Decimal(str(left)), Decimal(str(right))] == exact)
    bound = round_split(left, right, attribute)
    assert (Decimal(str(bound)) - Decimal(start)) % Decimal(step) == 0
    assert left < bound < right or (gap == 1 and bound == right)


@given(st.integers(int(FIRST), int(LAST)), st.integers(1, 10**5))
def test_a_split_of_dates_is_a_day_between_them(left: int, gap: int) -> None:
    right = min(left + gap, int(LAST) + 1)
    bound = round_split(left, right, DATE)
    assert left < bound < right or (right == left + 1 and bound == right)
