"""Derivations, against plain Python, and as the verifier computes them."""

import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.schema import Derivation, UnfitError
from unveil.schema.derivations import read_derivation
from unveil.verifier.claims import Derived
from unveil.verifier.cuts import derived_value

NUMBERS = st.one_of(st.integers(-9, 9), st.sampled_from([-0.5, 2.5, "3", "-4", "2.50", "1e1", Decimal("2.5")]))


def both(content: dict[str, Any], value: object) -> str | None:
    """What the engine derives, after the verifier derived the same."""
    way = Derivation.model_validate(content)
    other = Derived.model_validate(way.describe())
    assert list(way.values) == other.values
    try:
        found = way.of(value)
    except UnfitError:
        with pytest.raises(ValueError, match="it "):
            derived_value(other, value)
        raise
    assert derived_value(other, value) == found
    return found


@given(NUMBERS, st.integers(-5, 5), st.integers(-5, 5))
def test_comparisons(value: Any, lo: int, hi: int) -> None:
    number = float(value)
    assert both({"from": "x", "at-least": lo}, value) == str(number >= lo).lower()
    assert both({"from": "x", "above": lo}, value) == str(number > lo).lower()
    assert both({"from": "x", "at-most": lo}, value) == str(number <= lo).lower()
    assert both({"from": "x", "below": 2.5}, value) == str(number < 2.5).lower()
    assert both({"from": "x", "at-least": lo, "below": hi}, value) == str(lo <= number < hi).lower()
    assert both({"from": "x", "equals": lo}, value) == str(number == lo).lower()
    assert both({"from": "x", "in": [lo, 2.5]}, value) == str(number in (lo, 2.5)).lower()


@given(NUMBERS, st.sets(st.integers(-9, 9), min_size=1))
def test_bands(value: Any, starts: set[int]) -> None:
    bands = sorted(starts)
    names = [f"band {start}" for start in bands]
    content = {"from": "x", "bands": bands, "labels": names}
    below = [start for start in bands if start <= float(value)]
    if not below:
        with pytest.raises(UnfitError, match="below the first band"):
            both(content, value)
    else:
        assert both(content, value) == f"band {below[-1]}"


def test_bands_are_called_by_their_bounds() -> None:
    assert both({"from": "x", "bands": [0, 18.0, 65.5]}, 17.9) == "[0, 18)"
    assert both({"from": "x", "bands": [0, 18.0, 65.5]}, 65.5) == "65.5 and above"
    assert both({"from": "x", "bands": ["2020-01-01", "2021-01-01"]}, "2020-12-31") == "[2020-01-01, 2021-01-01)"


def test_dates_texts_and_missing_values() -> None:
    born = {"from": "x", "at-least": datetime.date(2020, 2, 1)}
    assert both(born, "2020-02-01T23:00:00Z") == both(born, datetime.date(2020, 2, 1)) == "true"
    assert both(born, "2020-01-31") == "false"
    assert both({"from": "x", "equals": "Y", "labels": ["no", "yes"]}, "Y") == "yes"
    assert both({"from": "x", "in": ["1", "true"]}, 1) == both({"from": "x", "in": ["1", "true"]}, True) == "true"
    for value in (None, float("nan"), "N"):
        assert both({"from": "x", "at-least": 3, "missing": ["N"]}, value) is None
    kept = {"from": "x", "at-least": 3, "missing": ["N", "-9", "?"], "kept": ["N", "-9"]}
    assert [both(kept, value) for value in ("N", "-9", -9, -9.0, "?", -8)] == ["N", "-9", "-9", "-9", None, "false"]
    for value in ("", "3 000", "٣", "inf", float("inf"), True):
        with pytest.raises(UnfitError, match="is not a number"):
            both({"from": "x", "at-least": 3}, value)


def test_the_text_form() -> None:
    assert read_derivation("PINCP_DECILE >= 7") == {"from": "PINCP_DECILE", "at-least": 7}
    assert read_derivation("'wage per hour' < 1.5e2") == {"from": "wage per hour", "below": 150.0}
    assert read_derivation("town==\"Cork, 'new'\"") == {"from": "town", "equals": "Cork, 'new'"}
    assert read_derivation("town in ['a', 'b']") == {"from": "town", "in": ["a", "b"]}
    assert read_derivation("seen <= 2020-01-31") == {"from": "seen", "at-most": datetime.date(2020, 1, 31)}
    assert read_derivation("inn > -3") == {"from": "inn", "above": -3}
