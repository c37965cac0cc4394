"""A table of which every row can be wrong in every way, and a spec that has such rows dropped."""

from __future__ import annotations

from collections import Counter
from typing import Any

import unveil

SPEC = """\
[table]
source  = "people.csv"
class   = "ill"
missing = { values = ["?", ""], rows = "drop" }
invalid = "drop"

[attributes.name]
role = "identifier"

[attributes.age]
kind    = "number"
range   = [0, 100]
whole   = true
outside = "clamp"

[attributes.paid]
kind  = "number"
range = [0, 2]
step  = 0.1

[attributes.seen]
kind  = "date"
range = [2019-01-01, 2024-01-01]

[attributes.job]
kind     = "category"
taxonomy = "job.tree"

[attributes.ward]
kind   = "category"
values = ["1", "2", "3"]

[attributes.ill]
values = ["0", "1"]

[[require]]
kind    = "differential-privacy"
epsilon = 5000

[publish]
method          = "diffgen"
specializations = 0
"""
COLUMNS = ["name", "age", "paid", "seen", "job", "ward", "ill"]
HEADER = ",".join(COLUMNS).encode() + b"\n"
WAYS = {
    "an undeclared category": b"x,30,0.1,2020-01-01,baker,7,0",
    "an inner label": b"x,30,0.1,2020-01-01,Office,1,0",
    "an undeclared class": b"x,30,0.1,2020-01-01,baker,1,maybe",
    "a part of a whole number": b"x,44.5,0.1,2020-01-01,baker,1,0",
    "a number in words": b"x,forty,0.1,2020-01-01,baker,1,0",
    "infinity": b"x,inf,0.1,2020-01-01,baker,1,0",
    "not a number": b"x,nan,0.1,2020-01-01,baker,1,0",
    "an exponent too large": b"x,1e400,0.1,2020-01-01,baker,1,0",
    "twenty digits": b"x,12345678901234567890,0.1,2020-01-01,baker,1,0",
    "off its step": b"x,30,0.15,2020-01-01,baker,1,0",
    "outside of its range": b"x,30,2,2020-01-01,baker,1,0",
    "a day that there is not": b"x,30,0.1,2020-02-30,baker,1,0",
    "the last day": b"x,30,0.1,9999-12-31,baker,1,0",
    "too few values": b"x,30,0.1,2020-01-01,baker,1",
    "too many values": b"x,30,0.1,2020-01-01,baker,1,0,0",
    "a suppressed value": "x,30,0.1,2020-01-01,⊥,1,0".encode(),
    "bytes that are not text": b"x,30,0.1,2020-01-01,baker,1,\xff",
    "a quote that is not closed": b'x,30,0.1,2020-01-01,baker,1,"0',
}
"""Rows that are wrong."""


def content(rows: list[bytes]) -> bytes:
    return HEADER + b"".join(row + b"\n" for row in rows)


def counts(release: unveil.Release) -> Counter[tuple[Any, ...]]:
    return Counter({tuple(cell.values())[:-1]: cell["count"] for cell in release.table.to_pylist()})
