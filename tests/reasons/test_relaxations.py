"""Which numbers are relaxed, by how much, and which are left alone."""

from typing import Any

import pyarrow as pa
import pytest

from unveil.reasons import Relaxation, Unrelaxed, relaxations
from unveil.schema import Spec, load_spec
from unveil.tables import load_table

TABLE = pa.table({"a": ["x", "y"] * 20, "b": [1, 2, 3, 4] * 10, "s": ["u", "v", "w", "u"] * 10, "c": ["p", "q"] * 20})
QI = {"quasi-identifier": ["a", "b"]}


def spec_of(*require: dict[str, Any]) -> Spec:
    return load_spec(
        {
            "table": {"class": "c"},
            "attributes": {"a": {"kind": "category"}, "b": {"kind": "number"}, "s": {"kind": "category"}},
            "require": list(require),
        }
    )


def tried(*require: dict[str, Any]) -> list[Relaxation | Unrelaxed]:
    spec = spec_of(*require)
    return list(relaxations(spec, load_table(spec, TABLE)))


def k_anonymity(k: int, names: tuple[str, ...] = ("a", "b")) -> dict[str, Any]:
    return {"kind": "k-anonymity", "quasi-identifier": list(names), "k": k}


@pytest.mark.parametrize(
    ("k", "expected"), [(50, [45, 25]), (12, [7, 6]), (10, [5]), (7, [2, 3]), (4, [2]), (3, [2]), (2, []), (1, [])]
)
def test_k(k: int, expected: list[int]) -> None:
    found = tried(k_anonymity(k))
    assert [item.after for item in found if isinstance(item, Relaxation)] == expected
    assert [item.spec.requirements[0].k for item in found if isinstance(item, Relaxation)] == expected
    if not expected:
        (left,) = found
        assert isinstance(left, Unrelaxed)
        assert left.reason == f"k = {k} of requirement 1 on {{a, b}}: any less would require nothing."


def test_a_step_that_is_cut_short_says_so() -> None:
    assert [str(item) for item in tried(k_anonymity(6))] == [
        "k 6 → 2 of requirement 1 on {a, b} (the last k that asks for anything)",
        "k 6 → 3 of requirement 1 on {a, b} (half of it)",
    ]


OTHERS: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"kind": "confidence", "channel": ["a", "b"], "sensitive": "s", "values": ["u", "v"], "limit": 0.75},
        ["limit 75% → 80% of requirement 1 on {a, b} → s"],
    ),
    (
        {"kind": "confidence", "channel": ["a"], "sensitive": "s", "limit": 0.96},
        ["limit 96% → 98% of requirement 1 on {a} → s (halfway to requiring nothing)"],
    ),
    ({"kind": "l-diversity", **QI, "sensitive": "s", "l": 3}, ["l 3 → 2 of requirement 1 on {a, b} → s"]),
    (
        {"kind": "l-diversity", **QI, "sensitive": "s", "l": 2.5, "variant": "entropy"},
        ["l 2.5 → 1.5 of requirement 1 on {a, b} → s"],
    ),
    (
        {"kind": "l-diversity", **QI, "sensitive": "s", "l": 1.5, "variant": "entropy"},
        ["l 1.5 → 1.25 of requirement 1 on {a, b} → s (halfway to requiring nothing)"],
    ),
    ({"kind": "t-closeness", **QI, "sensitive": "s", "t": 0.2}, ["t 0.2 → 0.25 of requirement 1 on {a, b} → s"]),
    (
        {"kind": "alpha-k-anonymity", **QI, "k": 4, "sensitive": "s", "alpha": 0.6},
        [
            "k 4 → 2 of requirement 1 on {a, b} → s (the last k that asks for anything)",
            "α 60% → 65% of requirement 1 on {a, b} → s",
        ],
    ),
]


@pytest.mark.parametrize(("require", "expected"), OTHERS)
def test_other_requirements(require: dict[str, Any], expected: list[str]) -> None:
    assert [str(item) for item in tried(require)] == expected


@pytest.mark.parametrize(
    "require",
    [
        {"kind": "confidence", "channel": ["a"], "sensitive": "s", "limit": 1.0},
        {"kind": "l-diversity", **QI, "sensitive": "s", "l": 2},
        {"kind": "t-closeness", **QI, "sensitive": "s", "t": 1.0},
    ],
)
def test_what_cannot_be_relaxed_is_reported(require: dict[str, Any]) -> None:
    (left,) = tried(require)
    assert isinstance(left, Unrelaxed)
    assert left.reason.endswith("any less would require nothing.")


def test_an_implied_requirement_buys_nothing_alone() -> None:
    found = tried(k_anonymity(20), k_anonymity(10, ("a",)))
    assert [(item.requirement, item.after) for item in found if isinstance(item, Relaxation)] == [(1, 15), (1, 10)]
    left = [item.reason for item in found if isinstance(item, Unrelaxed)]
    assert left == ["k = 10 of requirement 2 on {a}: other requirements imply it, so relaxing it alone buys nothing."]


def test_only_one_number_changes() -> None:
    spec = spec_of(k_anonymity(20), OTHERS[0][0])
    for item in relaxations(spec, load_table(spec, TABLE)):
        assert isinstance(item, Relaxation)
        changed = [one != other for one, other in zip(item.spec.requirements, spec.requirements, strict=True)]
        assert sum(changed) == 1
        assert changed[item.requirement - 1]


@pytest.mark.parametrize(
    ("h", "expected"),
    [
        (1, ["ε 0.5 → 1", "h 1 → 4 (all that the domains allow)"]),
        (3, ["ε 0.5 → 1", "h 3 → 1 (the fewest that refine anything)", "h 3 → 4 (all that the domains allow)"]),
        (0, ["ε 0.5 → 1", "h 0 → 4 (all that the domains allow)"]),
    ],
)
def test_differential_privacy(h: int, expected: list[str]) -> None:
    spec = load_spec(
        {
            "table": {"class": "c", "others": "drop"},
            "attributes": {
                "a": {"kind": "category", "values": ["x", "y"]},
                "b": {"kind": "number", "range": [1, 5], "whole": True},
                "c": {"values": ["p", "q"]},
            },
            "require": [{"kind": "differential-privacy", "epsilon": 0.5}],
            "publish": {"method": "diffgen", "specializations": h},
        }
    )
    assert [str(item) for item in relaxations(spec, load_table(spec, TABLE))] == expected
