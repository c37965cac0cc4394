"""Several releases together, by brute force: a column that tells every released row says who is in which release.

A plain group-by on that column, kind by kind. It imports nothing of the package.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
People = Mapping[Any, Row]
"""The rows of a release, by person."""


def broken_together(releases: Sequence[People], requirements: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which requirements break among people who look alike, or are absent, in each of the releases."""
    return [
        f"{requirement['kind']} by release {number}: {key} has {problem}"
        for requirement in requirements
        for number, release in enumerate(releases)
        for key, rows in cells(releases, number, names_of(requirement)).items()
        for problem in problems(requirement, rows, list(release.values()))
    ]


def names_of(requirement: Mapping[str, Any]) -> list[str]:
    """The attributes that a requirement is about."""
    return list(requirement.get("quasi-identifier") or requirement["channel"])


def cells(releases: Sequence[People], number: int, names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of one release by what all of them say about their people."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for person, row in releases[number].items():
        key = tuple(
            tuple(release[person].get(name) for name in names) if person in release else None for release in releases
        )
        found[key].append(row)
    return found


def problems(requirement: Mapping[str, Any], rows: Sequence[Row], whole: Sequence[Row]) -> Iterator[str]:
    """How some rows break a requirement."""
    kind = requirement["kind"]
    if kind in ("k-anonymity", "alpha-k-anonymity") and len(rows) < requirement["k"]:
        yield f"{len(rows)} people"
    if "sensitive" not in requirement:
        return
    held = Counter(row[requirement["sensitive"]] for row in rows)
    shares = {value: Fraction(count, len(rows)) for value, count in held.items()}
    if kind in ("confidence", "alpha-k-anonymity"):
        limit = Fraction(str(requirement["limit" if kind == "confidence" else "alpha"]))
        for value in requirement["values"]:
            if shares.get(value, 0) > limit:
                yield f"the share {shares[value]} of {value}"
    elif kind == "l-diversity" and len(held) < requirement["l"]:
        yield f"{len(held)} values"
    elif kind == "k-e-anonymity":
        if len(held) < requirement["k"] or max(held) - min(held) < requirement["e"]:
            yield f"{len(held)} numbers from {min(held)} to {max(held)}"
    elif kind == "t-closeness":
        every = Counter(row[requirement["sensitive"]] for row in whole)
        pairs = [(Fraction(held[value], len(rows)), Fraction(count, len(whole))) for value, count in every.items()]
        distance = sum(abs(here - there) for here, there in pairs)
        if distance / 2 > Fraction(str(requirement["t"])):
            yield f"the distance {float(distance / 2)}"
