"""Dates as whole numbers of days, and back."""

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.sentences import sentence
from unveil.errors import SpecError
from unveil.schema import bound_text, day_of, interval_label, load_spec, number_of, widened_days

OSLO = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    "value",
    [
        datetime.date(2020, 2, 29),
        datetime.datetime(2020, 2, 29, 23, 59, 59, 999999),
        datetime.datetime(2020, 2, 29, 0, 30, tzinfo=OSLO),
        "2020-02-29",
        "2020-02-29 10:00",
        "2020-02-29T10:00:00",
        "2020-02-29T23:59:59.123456789Z",
        "2020-02-29 00:30:00+01:00",
    ],
    ids=str,
)
def test_a_time_stamp_counts_as_the_day_that_it_shows(value: object) -> None:
    assert number_of(value, "date") == (datetime.date(2020, 2, 29) - datetime.date(1970, 1, 1)).days


@pytest.mark.parametrize(
    "value",
    [
        "2020-02-30",
        "29.02.2020",
        "2020-2-29",
        "20200229",
        "2020-02-29x",
        "2020-02-29 noon",
        "٢٠٢٠-02-29",
        18321,
        1.5,
        True,
    ],
)
def test_what_is_not_a_date(value: object) -> None:
    assert number_of(value, "date") is None


@given(st.dates())
def test_days_there_and_back(day: datetime.date) -> None:
    number = number_of(day, "date")
    assert number is not None
    assert day_of(number) == day
    assert number_of(bound_text(number, "date"), "date") == number


@given(st.dates(max_value=datetime.date(9999, 12, 30)), st.integers(0, 4000))
def test_an_observed_range_is_widened_to_whole_months_or_years(first: datetime.date, span: int) -> None:
    last = min(first.toordinal() + span, datetime.date(9999, 12, 30).toordinal())
    lo, hi = number_of(first, "date") or 0.0, number_of(datetime.date.fromordinal(last), "date") or 0.0
    below, above = (day_of(bound) for bound in widened_days(lo, hi))
    assert below.day == 1
    assert (above.day, above.month) in {(1, above.month), (31, 12)}  # the calendar ends with a day of its own
    if first > datetime.date.min:
        assert below < first
    assert above > datetime.date.fromordinal(last)
    if hi - lo > 2 * 366:
        assert below.month == 1


def test_labels_are_written_in_iso() -> None:
    assert interval_label(17897, 18444, "date") == "[2019-01-01, 2020-07-01)"
    assert interval_label(17897, 18444) == "[17897, 18444)"


def described(**keys: Any) -> dict[str, Any]:
    return {
        "table": {"class": "y"},
        "attributes": {"born": {"kind": "date", **keys}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["born"], "k": 2}],
    }


@pytest.mark.parametrize(
    "range_",
    [[datetime.date(2019, 1, 1), datetime.date(2024, 1, 1)], ["2019-01-01", "2024-01-01"]],
    ids=["TOML's own", "text"],
)
def test_a_declared_range(range_: list[Any]) -> None:
    attribute = load_spec(described(range=range_)).attributes["born"]
    assert (attribute.range, attribute.whole, attribute.declared) == ((17897, 19723), True, True)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"whole": True}, "is a date, for which 'whole' has no meaning."),
        ({"step": 1.0}, "is a date, for which 'step' has no meaning."),
        ({"values": ["2019-01-01"]}, "is a date, for which 'values' has no meaning."),
        ({"range": [0, 5]}, "range holds 0, but it must be a date such as 2019-01-31."),
        ({"range": ["2019-01-01", "soon"]}, "range holds 'soon', but it must be a date such as 2019-01-31."),
        (
            {"range": [datetime.datetime(2019, 1, 1), datetime.date(2020, 1, 1)]},
            "range holds 2019-01-01T00:00:00, but it must be a date such as 2019-01-31.",
        ),
        (
            {"range": ["2020-01-01", "2019-01-01"]},
            "range is [2020-01-01, 2019-01-01), but it must go from a date to a later one.",
        ),
        ({"kind": "number", "range": ["0", 5]}, "range holds '0', but it must be a number, without quotes."),
        (
            {"kind": "number", "range": [datetime.date(2019, 1, 1), 5]},
            "range holds 2019-01-01, but it must be a number.",
        ),
    ],
)
def test_a_date_that_is_described_wrongly(keys: dict[str, Any], problem: str) -> None:
    assert sentence(SpecError, lambda: load_spec(described(**keys))) == f"spec: [attributes.born] {problem}"
