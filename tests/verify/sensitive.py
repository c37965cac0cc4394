"""Releases made by hand with sensitive columns, and what their requirements come to when counted on fingers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import fsum, log
from pathlib import Path
from typing import Any

from unveil.verifier import Finding
from verdicts import verify_release
from verify.releases import OLD, YOUNG, Draft, Row, draft

COLUMNS = ("age", "sex", "disease", "pay", "income")
DISEASES = ("flu", "cold", "gout", "mumps")
Stated = dict[str, Any]
Group = Counter[Any]


def release_of(rows: Iterable[Row], *requirements: Stated, weights: Sequence[int] | None = None) -> Draft:
    """A release with age and sex masked, and the category disease and the number pay released as they are."""
    planted = draft()
    planted.rows = list(rows)
    masking = planted.manifest["masking"]
    disclosed = [name for name in ("F", "M") if any(row[1] == name for row in planted.rows)]
    planted.manifest["masking"] = {
        "age": masking["age"],
        "sex": {**masking["sex"], "disclosed": disclosed},
        "disease": {"kind": "released", "domain": "observed", "type": "category"},
        "pay": {"kind": "released", "domain": "observed", "type": "number"},
    }
    planted.manifest["requirements"] = list(requirements)
    if weights is None:
        planted.recount()
    else:
        planted.weigh(list(weights))
    return planted


def found(folder: Path, planted: Draft) -> list[Finding]:
    return verify_release(planted.write(folder / "release"))


def claims(findings: Iterable[Finding]) -> list[str]:
    return [finding.claim for finding in findings]


def people(age: str, *diseases: str) -> list[Row]:
    """Rows of one group on age: one for each disease, with a pay of their own."""
    return [(age, "⊥", disease, float(number), "low") for number, disease in enumerate(diseases)]


def paid(age: str, *pays: float) -> list[Row]:
    """Rows of one group on age: one for each pay."""
    return [(age, "⊥", "flu", float(pay), "low") for pay in pays]


def confidence(limit: float, *values: str, channel: Sequence[str] = ("age",)) -> Stated:
    return {
        "kind": "confidence",
        "channel": list(channel),
        "sensitive": "disease",
        "values": list(values or ("flu",)),
        "limit": limit,
    }


def diversity(least: float, variant: str = "distinct", sensitive: str = "disease") -> Stated:
    return {
        "kind": "l-diversity",
        "quasi-identifier": ["age"],
        "sensitive": sensitive,
        "l": least,
        "variant": variant,
    }


def closeness(
    most: float, distance: str = "equal", sensitive: str = "disease", order: Sequence[str] | None = None
) -> Stated:
    return {
        "kind": "t-closeness",
        "quasi-identifier": ["age"],
        "sensitive": sensitive,
        "t": most,
        "distance": distance,
        "order": None if order is None else list(order),
    }


def alpha_k(k: int, alpha: float, *values: str) -> Stated:
    return {
        "kind": "alpha-k-anonymity",
        "quasi-identifier": ["age"],
        "k": k,
        "sensitive": "disease",
        "values": list(values or ("flu",)),
        "alpha": alpha,
    }


def groups_of(rows: Sequence[Row], weights: Sequence[int], names: Sequence[str], sensitive: str) -> dict[Row, Group]:
    """How many records of each group hold each value."""
    groups: dict[Row, Group] = {}
    for row, weight in zip(rows, weights, strict=True):
        of = dict(zip(COLUMNS, row, strict=False))
        groups.setdefault(tuple(of[name] for name in names), Counter())[of[sensitive]] += weight
    return groups


def largest_share(groups: dict[Row, Group], values: Iterable[str]) -> Fraction:
    return max(Fraction(group[value], group.total()) for group in groups.values() for value in values)


def smallest_entropy(groups: dict[Row, Group]) -> float:
    return min(
        fsum(-count / group.total() * log(count / group.total()) for count in group.values())
        for group in groups.values()
    )


def largest_distance(groups: dict[Row, Group], order: Sequence[Any] | None) -> Fraction:
    """The equal distance, or the ordered one of values in this order."""
    whole: Group = sum(groups.values(), Counter())
    return max(_distance(group, whole, order) for group in groups.values())


def _distance(group: Group, whole: Group, order: Sequence[Any] | None) -> Fraction:
    differences = {
        value: Fraction(group[value], group.total()) - Fraction(whole[value], whole.total()) for value in whole
    }
    if order is None:
        return sum((abs(difference) for difference in differences.values()), Fraction()) / 2
    held = [value for value in order if value in whole]
    steps = [abs(sum((differences[value] for value in held[: end + 1]), Fraction())) for end in range(len(held))]
    return sum(steps, Fraction()) / max(len(held) - 1, 1)


__all__ = [
    "COLUMNS", "DISEASES", "OLD", "YOUNG", "Draft", "Row", "Stated", "alpha_k", "claims", "closeness", "confidence",
    "diversity", "found", "groups_of", "largest_distance", "largest_share", "paid", "people", "release_of",
    "smallest_entropy",
]  # fmt: skip
