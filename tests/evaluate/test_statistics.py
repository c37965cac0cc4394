"""What survives of tables, means and quantiles, counted again in plain Python: record by record, value by value."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil import Release, load_spec, publish
from unveil.evaluation import statistics as module
from unveil.evaluation.distances import QUANTILES, Spread, number_kept, table_distances
from unveil.evaluation.information import certainty_penalty
from unveil.evaluation.statistics import Statistics, mean_statistics, statistics
from unveil.schema import Taxonomy
from unveil.tables import load_table

TREE = {"Any": ["Craft", "Office"], "Craft": ["smith", "baker"], "Office": ["clerk", "judge", "notary"]}
JOBS = ("smith", "baker", "clerk", "judge", "notary")
TOWNS = ("Aarhus", "Bergen", "Cork", "Delft")
AGES = range(20, 44)


def _branch(label: str) -> Any:
    return label, [_branch(child) for child in TREE.get(label, ())]


def people(rows: int = 160) -> pa.Table:
    draw = np.random.default_rng(3)
    age = draw.choice([20, 21, 25, 30, 31, 40, 43], rows)
    job = draw.choice(JOBS, rows)
    ill = (age > 28) & np.isin(job, ["clerk", "judge"]) ^ (draw.random(rows) < 0.1)
    town = draw.choice(TOWNS, rows, p=[0.7, 0.1, 0.1, 0.1])
    return pa.table({"age": age, "job": job, "town": town, "ill": np.where(ill, "yes", "no")})


def wish(publish: Mapping[str, Any]) -> dict[str, Any]:
    private = "method" in publish
    require: dict[str, Any] = (
        {"kind": "differential-privacy", "epsilon": 2}
        if private
        else {"kind": "k-anonymity", "quasi-identifier": ["age", "job", "town"], "k": 8}
    )
    return {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "range": [AGES.start, AGES.stop], "whole": True},
            "job": {"kind": "category", "taxonomy": Taxonomy(_branch("Any"))},
            "town": {"kind": "category", "values": list(TOWNS)},
            "ill": {"values": ["no", "yes"]},
        },
        "require": [require],
        "publish": dict(publish),
    }


WAYS: dict[str, dict[str, Any]] = {
    "paper": {"search": "paper"},
    "joint": {"search": "joint", "recoding": "global"},
    "local": {"search": "joint", "recoding": "local"},
    "diffgen": {"method": "diffgen", "specializations": 3},
    "additive": {"method": "additive"},
    "safe": {"method": "safe", "delta": 0.001, "specializations": 2},
}


def released(way: str) -> tuple[Release, Statistics]:
    checked = load_spec(wish(WAYS[way]))
    release = publish(people(), checked, **({"unsafe_seed": 5} if "method" in WAYS[way] else {}))
    return release, statistics(release, checked, load_table(checked, people()))


def covered(release: Release, name: str, label: str) -> list[Any]:
    """The raw values that a label may mean, by what it says."""
    entry = release.manifest.model_dump(by_alias=True)["masking"][name]
    if name == "age":
        lo, hi = label.strip("[)").split(", ")
        return list(range(int(lo), int(hi)))
    if name == "job":
        return next(list(block["values"]) for block in entry["blocks"] if block["label"] == label)
    local, disclosed = entry.get("local", False), entry.get("disclosed", ())
    return [label] if label != "⊥" else [town for town in TOWNS if local or town not in disclosed]


def records(release: Release) -> Iterator[tuple[dict[str, list[Any]], float]]:
    """Each released row: what every column may be, and how many records it represents."""
    by = release.manifest.weighed_by
    for row in release.table.to_pylist():
        values = {name: covered(release, name, row[name]) for name in ("age", "job", "town")}
        yield {**values, "ill": [row["ill"]]}, 1.0 if by is None else float(row[by])


def cell(name: str, value: Any) -> Any:
    """Of ages: the largest of the raw table that is not above this one."""
    return value if name != "age" else max(age for age in RAW_AGES if age <= value)


def shares(rows: list[tuple[dict[str, list[Any]], float]], names: tuple[str, ...]) -> dict[tuple[Any, ...], float]:
    found: dict[tuple[Any, ...], float] = defaultdict(float)
    total = sum(weight for _, weight in rows)
    for row, weight in rows:
        possible = list(product(*(row[name] for name in names)))
        for values in possible:
            place = tuple(cell(name, value) for name, value in zip(names, values, strict=True))
            found[place] += weight / total / len(possible)
    return found


RAW = [({name: [value] for name, value in row.items()}, 1.0) for row in people().to_pylist()]
RAW_AGES = sorted({row["age"] for row in people().to_pylist()})


def apart(release: Release, *names: str) -> float:
    before, after = shares(RAW, names), shares(list(records(release)), names)
    return sum(abs(before.get(place, 0) - after.get(place, 0)) for place in {*before, *after}) / 2


def ages(release: Release) -> list[tuple[int, float]]:
    """Every age that a record may have, in order, with its part of the records."""
    held: dict[int, float] = defaultdict(float)
    for row, weight in records(release):
        for age in row["age"]:
            held[age] += weight / len(row["age"])
    return [(age, weight / sum(held.values())) for age, weight in sorted(held.items())]


def quantile(held: list[tuple[int, float]], share: float) -> int:
    below = 0.0
    for age, weight in held:
        below += weight
        if below >= share - 1e-9:
            return age
    return held[-1][0]


@pytest.mark.parametrize("way", WAYS)
def test_statistics_of_every_method_by_hand(way: str) -> None:
    release, found = released(way)
    assert set(found.attributes) == {"age", "job", "town"}
    for name, kept in found.attributes.items():
        others = [other for other in ("age", "job", "town") if other != name]
        assert kept.one_way == pytest.approx(apart(release, name), abs=1e-9)
        assert kept.with_class == pytest.approx(apart(release, name, "ill"), abs=1e-9)
        assert kept.two_way == pytest.approx(fmean(apart(release, name, other) for other in others), abs=1e-9)
        assert kept.coarseness == certainty_penalty(release, name, load_spec(wish(WAYS[way])))
    assert found.two_way == pytest.approx(
        fmean(apart(release, *pair) for pair in (("age", "job"), ("age", "town"), ("job", "town"))), abs=1e-9
    )
    number = found.numbers["age"]
    raw = people()["age"].to_pylist()
    mean = sum(age * weight for age, weight in ages(release))
    assert (number.raw_mean, number.released_mean) == pytest.approx((fmean(raw), mean))
    assert number.mean_error == pytest.approx(abs(mean - fmean(raw)) / pstdev(raw))
    assert number.released_quantiles == tuple(quantile(ages(release), share) for share in QUANTILES)
    plain = [(age, 1 / len(raw)) for age in sorted(raw)]
    assert number.raw_quantiles == tuple(quantile(plain, share) for share in QUANTILES)
    errors = [
        max(sum(age < got for age in raw) / len(raw) - share, share - sum(age <= got for age in raw) / len(raw), 0)
        for got, share in zip(number.released_quantiles, QUANTILES, strict=True)
    ]
    assert number.quantile_error == pytest.approx(fmean(errors), abs=1e-9)


def first_only(array: Any) -> Any:
    """All of each label on the first of its cells."""
    found = np.zeros_like(array)
    found[np.arange(len(array)), array.argmax(axis=1)] = 1
    return found


DEFECTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "labels on one value": lambda patch: patch.setattr(
        module, "Spread", lambda labels, shares: Spread(labels, first_only(shares))
    ),
    "counts left out": lambda patch: patch.setattr(
        Release, "counted", property(lambda self: (self.rows.counted()[0], np.ones(self.rows.counted()[0].num_rows)))
    ),
    "ends of intervals as values": lambda patch: patch.setattr(
        module, "number_kept", lambda *facts: number_kept(*facts[:4], 0.0)
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defects_would_be_found(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    DEFECTS[defect](monkeypatch)
    with pytest.raises(AssertionError):
        test_statistics_of_every_method_by_hand("joint")


def test_a_release_of_raw_values_keeps_everything() -> None:
    spec = wish({"search": "paper"})
    spec["require"][0]["k"] = 1
    spec["attributes"]["ill"] = {"kind": "category", "values": ["no", "yes"]}
    spec["attributes"]["age"]["range"] = [0, 8]
    ages = pa.array([number % 8 for number in range(160)])
    rows = people().set_column(0, "age", ages).append_column("one", pa.array([str(n) for n in range(160)]))
    checked = load_spec({**spec, "table": {"class": "one"}})
    found = statistics(publish(rows, checked), checked, load_table(checked, rows))
    assert (found.coarseness, found.two_way) == pytest.approx((0, 0), abs=1e-9)
    assert (found.one_way, found.with_class) == pytest.approx((0, 0), abs=1e-9)
    assert found.numbers["age"].quantile_error == 0
    assert found.numbers["age"].mean_error == pytest.approx(0, abs=1e-9)


def test_a_release_without_records_keeps_nothing() -> None:
    checked = load_spec(wish({**WAYS["diffgen"], "threshold": 10**6}))
    release = publish(people(), checked, unsafe_seed=1)
    assert release.table.num_rows == 0
    found = statistics(release, checked, load_table(checked, people()))
    assert (found.coarseness, found.one_way, found.with_class, found.two_way) == (1, 1, 1, 1)
    assert found.numbers["age"].released_quantiles[2] == 31


def test_means_over_releases() -> None:
    one, other = released("paper")[1], released("diffgen")[1]
    found = mean_statistics([one, other])
    assert found.releases == 2
    assert found.two_way == pytest.approx((one.two_way + other.two_way) / 2)
    assert found.attributes["job"].with_class == pytest.approx(
        (one.attributes["job"].with_class + other.attributes["job"].with_class) / 2
    )
    assert found.numbers["age"].released_mean == pytest.approx(
        (one.numbers["age"].released_mean + other.numbers["age"].released_mean) / 2
    )


def test_many_values_share_cells_and_many_pairs_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    exact = released("paper")[1]
    assert exact.pairs == 2
    monkeypatch.undo()
    every = released("paper")[1]
    assert every.pairs is None
    # Tables with fewer cells have less that can differ.
    assert all(exact.attributes[name].one_way <= kept.one_way + 1e-9 for name, kept in every.attributes.items())
    assert exact.numbers == every.numbers


BLOCKS = ([{0, 1}, {2}], [{0, 1, 2}], [{0}, {1}, {2, 3}])
"""Three attributes, and what each of their labels covers."""


def counted_cells(columns: list[list[set[int]]], names: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """The table of some attributes: every record gives an equal part of itself to each value that it may have."""
    table: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for record in zip(*(columns[name] for name in names), strict=True):
        possible = list(product(*record))
        for cell in possible:
            table[cell] += Fraction(1, len(possible) * len(columns[0]))
    return table


def counted_distance(names: tuple[int, ...], raw: list[list[set[int]]], released: list[list[set[int]]]) -> Fraction:
    before, after = counted_cells(raw, names), counted_cells(released, names)
    return sum((abs(before[cell] - after[cell]) for cell in {*before, *after}), Fraction(0)) / 2


triples = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12)


@given(triples, st.integers(0, 11))
def test_distances_of_tables_are_those_of_record_by_record_counts(held: list[tuple[int, ...]], left: int) -> None:
    kept = [record for place, record in enumerate(held) if place != left] or held
    labels = [[next(i for i, block in enumerate(BLOCKS[a]) if record[a] in block) for record in kept] for a in range(3)]
    shares = [
        np.array([[(value in block) / len(block) for value in range(max(map(max, blocks)) + 1)] for block in blocks])
        for blocks in BLOCKS
    ]
    found = table_distances(
        [np.array([record[a] for record in held]) for a in range(3)],
        [Spread(np.array(labels[a]), shares[a]) for a in range(3)],
    ).of(range(3))
    raw = [[{record[a]} for record in held] for a in range(3)]
    released = [[BLOCKS[a][label] for label in labels[a]] for a in range(3)]
    for distance, tables in zip(found, ([(0,), (1,), (2,)], [(0, 1), (0, 2), (1, 2)]), strict=True):
        counted = [counted_distance(names, raw, released) for names in tables]
        assert distance == pytest.approx(float(sum(counted) / 3), abs=1e-12)


def test_a_release_of_raw_values_keeps_every_table() -> None:
    codes = [np.array([0, 1, 1, 2]), np.array([1, 0, 1, 1])]
    found = table_distances(codes, [Spread(codes[0], np.eye(3)), Spread(codes[1], np.eye(2))])
    assert found.of(range(2)) == (0.0, 0.0)
