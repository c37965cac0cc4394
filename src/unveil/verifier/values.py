"""Values as they are read and written: raw values as text and numbers, days, and amounts in a sentence."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

COARSER = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
START = date(1970, 1, 1)
WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d.*)?", re.ASCII)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def plain(values: pa.Array) -> list[Any]:
    """Arrow values as Python values; as text if Python has no such value, as for a time exact to the nanosecond."""
    kind = values.type
    coarse = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else COARSER.get(kind, kind)
    try:
        return list(pc.cast(values, coarse).to_pylist())
    except pa.ArrowException:
        return list(pc.cast(values, pa.string()).to_pylist())


def text(value: Any) -> str | None:
    """A raw value as text; None if it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def number(value: Any) -> int | float | None:
    """A raw value as a finite number; None for anything else."""
    if isinstance(value, str):
        value = value.strip()
        if not NUMERAL.fullmatch(value):
            return None
        value = int(value) if value.lstrip("+-").isdigit() else float(value)
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return value


def number_text(number: float) -> str:
    """A number in a sentence."""
    return str(int(number)) if number == int(number) else repr(number)


def percent(share: float) -> str:
    """A share in a sentence, exactly: 1e-9 is not 0%."""
    return f"{(Decimal(str(share)) * 100).normalize():f}%"


def exact_text(number: Fraction | int) -> str:
    """A number as it reads in a finding; one too long to read is rounded."""
    top, bottom = number.numerator, number.denominator
    if max(abs(top), bottom) < 10**24:
        return f"{top:,}" if bottom == 1 else f"{top}/{bottom}"
    context = Context(prec=6, Emin=-(10**9), Emax=10**9)
    return f"about {context.divide(Decimal(top), Decimal(bottom))}"


def day_number(value: Any) -> int | None:
    """How many days after 1970-01-01 a date, a time stamp or the text of one lies; None for anything else.

    A time stamp lies on the day that it shows, in whatever zone it is written.
    """
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, str):
        value = _read_day(value)
    return (value - START).days if isinstance(value, date) else None


def day_text(number: int) -> str:
    """The day as ISO 8601 writes it."""
    return (START + timedelta(days=number)).isoformat()


def _read_day(text: str) -> date | None:
    found = WRITTEN.fullmatch(text)
    try:
        return datetime.strptime(found[1], "%Y-%m-%d").date() if found else None
    except ValueError:
        return None
