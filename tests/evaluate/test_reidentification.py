"""Re-identification risk, worked by hand and counted again by brute force."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import ReleaseError, TableError
from unveil.evaluation.reidentification import (
    attacker_risk,
    group_sizes,
    quasi_identifiers,
    reidentification_risk,
    whole_row_risk,
)
from unveil.release import DiffGenManifest, RefinementManifest
from unveil.schema import Spec, load_spec
from unveil.tables import Table, load_table
from verify.releases import OLD, YOUNG, Draft, draft, write_raw

QUASI = ["age", "education", "sex"]

Row = tuple[str, str]


def release_of(planted: Draft) -> unveil.Release:
    return unveil.Release(planted.table(), RefinementManifest.model_validate(planted.manifest))


@pytest.fixture
def raw(tmp_path: Path) -> Table:
    """The ten raw rows behind the release that `draft` makes."""
    return load_table(load_spec(write_raw(tmp_path)))


def people(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table([list(values) for values in zip(*rows, strict=True)], names=[*QUASI, "n"][: len(rows[0])])


def test_worked_by_hand() -> None:
    """Groups of 4, 3 and 3: risks of 1/4 and 1/3."""
    found = reidentification_risk(release_of(draft()), QUASI, threshold=0.3)
    assert found.quasi_identifier == tuple(QUASI)
    assert (found.records, found.groups, found.uniques) == (10, 3, 0)
    assert found.smallest == {3: 2, 4: 1}
    assert list(found.smallest) == [3, 4]
    assert found.prosecutor.highest == 1 / 3
    assert found.prosecutor.average == 3 / 10  # (4 × 1/4 + 3 × 1/3 + 3 × 1/3) / 10
    assert found.prosecutor.above == 6 / 10  # 1/3 > 0.3 for 3 + 3 records
    assert found.journalist == found.prosecutor  # nobody but them
    assert found.marketer == 3 / 10


def test_before_and_after(raw: Table) -> None:
    """Raw, everyone is alone but for the two of 36: Cid has a Bachelors, Dan a Masters, so they are alone as well."""
    before = reidentification_risk(raw, QUASI)
    assert (before.records, before.groups, before.uniques) == (10, 10, 10)
    assert (before.prosecutor.highest, before.prosecutor.above, before.marketer) == (1, 1, 1)
    # sex: M 7 times, F twice, X once.
    part = reidentification_risk(raw, ["sex"], threshold=0.4)
    assert (part.groups, part.uniques, part.smallest) == (3, 1, {1: 1, 2: 1, 7: 1})
    assert part.prosecutor.above == 3 / 10
    assert part.marketer == 3 / 10
    # age: 36 and 37 twice.
    assert group_sizes(raw, ["age"]).tolist() == [1, 1, 1, 1, 1, 1, 2, 2]


def test_weights_are_records() -> None:
    planted = draft()
    planted.rows = [
        (YOUNG, "University", "M", 40.0, "high"),
        (YOUNG, "University", "M", 40.0, "low"),
        (OLD, "9th", "⊥", 40.0, "low"),
        (OLD, "University", "M", 40.0, "low"),
    ]
    planted.weigh([5, 2, 12, 1])
    found = reidentification_risk(release_of(planted), QUASI)
    assert (found.records, found.groups, found.uniques) == (20, 3, 1)
    assert found.smallest == {1: 1, 7: 1, 12: 1}
    assert found.prosecutor.highest == 1
    assert found.prosecutor.above == 1 / 20
    assert found.marketer == 3 / 20


def test_weights_of_the_raw_table() -> None:
    spec = load_spec(
        {
            "table": {"class": "ill", "weight": "n"},
            "attributes": {"town": {"kind": "category"}},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["town"], "k": 1}],
        }
    )
    rows = pa.table({"town": ["A", "A", "B"], "ill": ["y", "n", "n"], "n": [2, 3, 1]})
    assert group_sizes(load_table(spec, rows), ["town"]).tolist() == [1, 5]


def test_whole_rows_with_weights_are_records() -> None:
    """Two rows of one record each that differ in a column released as it is; a third that only its class sets apart."""
    planted = draft()
    planted.rows = [
        (YOUNG, "University", "M", 40.0, "high"),
        (YOUNG, "University", "M", 40.0, "low"),
        (YOUNG, "University", "M", 38.0, "low"),
    ]
    planted.weigh([2, 1, 1])
    found = whole_row_risk(release_of(planted))
    assert found.quasi_identifier == (*QUASI, "hours", "income")
    assert (found.records, found.groups, found.uniques) == (4, 3, 2)
    assert reidentification_risk(release_of(planted), QUASI).uniques == 0


POPULATION = people(
    *[(20, "Masters", "M")] * 8,  # [17, 37) × University × M
    *[(40, "9th", "F")] * 3,  # [37, 91) × 9th × ⊥
    *[(41, "9th", "never seen")] * 2,  # hidden as well
    (40, "Masters", "M"),  # [37, 91) × University × M: one, though the release has three
    (40, "10th", "M"),  # in a group that the release does not have
    (99, "9th", "F"),  # outside the range: in no group
    (40, "pilot", "F"),  # no leaf: in no group
    (40, "9th", None),  # unknown, so not among the hidden
)


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "text"])
def test_a_population_masked_like_the_release(kind: str) -> None:
    """Groups of 4, 3, 3 in the release, of 8, 5 and 3 (not below its own size) in the population."""
    texts = POPULATION.set_column(0, "age", POPULATION["age"].cast(pa.string()))
    population = {
        "arrow": POPULATION,
        "pandas": POPULATION.to_pandas(),
        "polars": pl.from_arrow(POPULATION),
        "text": texts,
    }[kind]
    found = reidentification_risk(release_of(draft()), QUASI, population=population, threshold=0.15)
    assert found.prosecutor.highest == 1 / 3
    assert found.prosecutor.above == 1
    assert found.journalist.highest == 1 / 3
    assert found.journalist.average == pytest.approx((4 / 8 + 3 / 5 + 3 / 3) / 10)
    assert found.journalist.above == (3 + 3) / 10  # 1/8 is not above 0.15, 1/5 and 1/3 are
    assert found.marketer == found.journalist.average


def test_a_population_of_counts() -> None:
    counted = people((20, "Masters", "M", 8), (40, "9th", "F", 2), (40, "9th", "X", 3), (50, "Bachelors", "M", 60))
    found = reidentification_risk(release_of(draft()), QUASI, population=counted, population_weight="n")
    assert found.journalist.highest == 1 / 5
    assert found.marketer == pytest.approx((4 / 8 + 3 / 5 + 3 / 60) / 10)


@pytest.mark.parametrize("as_text", [False, True])
def test_a_population_next_to_the_raw_table(as_text: bool, raw: Table) -> None:
    """Raw, Ann (17, Bachelors, M) has three peers in the population, the others only themselves."""
    ages: list[Any] = [17, 17, 17, 17, 25]
    population = people(*[(str(age) if as_text else age, "Bachelors", "M") for age in ages])
    found = reidentification_risk(raw, QUASI, population=population)
    assert found.journalist.average == pytest.approx((1 / 4 + 9) / 10)
    assert found.prosecutor.average == 1


def test_values_released_as_they_are_are_compared_by_value() -> None:
    """Six records have hours of 40.0; the population gives them as whole numbers."""
    population = pa.table({"hours": [40] * 12 + [8]})
    found = reidentification_risk(release_of(draft()), ["hours"], population=population)
    assert (found.groups, found.uniques) == (5, 4)
    assert found.marketer == pytest.approx((6 / 12 + 4) / 10)


def test_a_population_that_cannot_be_compared(raw: Table) -> None:
    with pytest.raises(TableError, match=r"population: .*old"):
        reidentification_risk(raw, ["age"], population=pa.table({"age": ["old"]}))
    with pytest.raises(TableError, match="the population has no attribute 'sex'"):
        reidentification_risk(raw, ["sex"], population=pa.table({"age": ["17"]}))
    with pytest.raises(TableError, match="the population has no attribute 'n'"):
        reidentification_risk(raw, ["age"], population=pa.table({"age": ["17"]}), population_weight="n")


def test_the_threshold_itself_is_not_above() -> None:
    for size in range(1, 100):
        sizes = np.array([size])
        assert attacker_risk(sizes, sizes, threshold=1 / size).above == 0
        assert attacker_risk(sizes, sizes, threshold=1 / (size + 1)).above == 1


def test_only_the_smallest_sizes_are_reported() -> None:
    planted = draft()
    names = ["9th", "10th", "Bachelors", "Masters"]
    planted.rows = [(YOUNG, name, "M", 0.0, "low") for size, name in enumerate(names, 2) for _ in range(size)]
    found = reidentification_risk(release_of(planted), ["education"], smallest=2)
    assert found.smallest == {2: 1, 3: 1}
    assert found.groups == 4


def test_row_groups_may_number_values_differently() -> None:
    whole = draft().table().combine_chunks()
    parts = [whole.slice(start, 4) for start in (0, 4, 8)]
    encoded = [
        pa.table([column.chunk(0).dictionary_encode() for column in part.columns], names=whole.column_names)
        for part in parts
    ]
    release = unveil.Release(pa.concat_tables(encoded), RefinementManifest.model_validate(draft().manifest))
    assert release.table["age"].num_chunks == 3
    assert group_sizes(release, QUASI).tolist() == [3, 3, 4]


def test_the_sets_that_the_requirements_are_about() -> None:
    planted = draft()
    planted.manifest["requirements"] += [
        {"kind": "confidence", "channel": ["age"], "sensitive": "hours", "values": ["40"], "limit": 0.5},
        {"kind": "l-diversity", "quasi-identifier": QUASI, "sensitive": "hours", "l": 2, "variant": "distinct"},
    ]
    assert quasi_identifiers(release_of(planted)) == (tuple(QUASI), ("age",))


@pytest.mark.parametrize(
    ("names", "words"),
    [(["agee"], "no attribute 'agee'; did you mean 'age'"), (["income"], "'income'"), ([], "names no attribute")],
)
def test_an_unknown_attribute_is_refused(names: list[str], words: str, raw: Table) -> None:
    for rows in (release_of(draft()), raw):
        with pytest.raises(TableError, match=words):
            reidentification_risk(rows, names)


def test_noisy_counts_and_empty_releases_are_refused() -> None:
    counts = DiffGenManifest.model_construct(method="diffgen", columns={})
    with pytest.raises(ReleaseError, match="diffgen"):
        reidentification_risk(unveil.Release(draft().table(), counts), QUASI)
    empty = unveil.Release(draft().table().slice(0, 0), RefinementManifest.model_validate(draft().manifest))
    with pytest.raises(ReleaseError, match="no rows"):
        reidentification_risk(empty, QUASI)


def spec_of(k: int) -> Spec:
    towns = {"kind": "category", "values": ["A", "B", "C", "D"]}
    return load_spec(
        {
            "table": {"class": "ill"},
            "attributes": {"home": towns, "work": towns},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["home", "work"], "k": k}],
        }
    )


def frame(rows: list[Row]) -> pd.DataFrame:
    """Every other one is ill, so that there are two classes."""
    return pd.DataFrame(rows, columns=["home", "work"]).assign(ill=["yn"[place % 2] for place in range(len(rows))])


def pairs(rows: pd.DataFrame) -> list[Row]:
    return list(zip(rows["home"], rows["work"], strict=True))


OTHERS = st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCDE"))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCD")), min_size=4, max_size=25),
    others=st.lists(OTHERS, max_size=25),
    k=st.integers(1, 4),
    threshold=st.sampled_from([0.05, 0.2, 0.25, 1 / 3, 0.5, 1.0]),
)
def test_every_measure_against_brute_force(rows: list[Row], others: list[Row], k: int, threshold: float) -> None:
    """Each record on its own: how many look like it in the release, and among everybody."""
    table, spec = frame(rows), spec_of(k)
    everybody = pd.concat([table, frame(others)], ignore_index=True)
    release = unveil.publish(table, spec)
    masked = pairs(release.table.to_pandas()), pairs(release.masking.apply(everybody))
    plain = pairs(table), pairs(everybody)
    for source, (values, anyone) in ((release, masked), (load_table(spec, table), plain)):
        found = reidentification_risk(source, ["home", "work"], population=everybody, threshold=threshold)
        own = Counter(values)
        assert (found.records, found.groups) == (len(rows), len(own))
        assert found.uniques == sum(own[value] == 1 for value in values)
        assert found.smallest == dict(sorted(Counter(own.values()).items())[:5])
        for risk, counts in ((found.prosecutor, own), (found.journalist, Counter(anyone))):
            risks = [Fraction(1, counts[value]) for value in values]
            assert risk.highest == pytest.approx(float(max(risks)))
            assert risk.average == pytest.approx(float(sum(risks) / len(rows)))
            assert risk.above == pytest.approx(sum(float(each) > threshold for each in risks) / len(rows))
        assert found.prosecutor.average == len(own) / len(rows)
        assert found.marketer == found.journalist.average <= found.prosecutor.average
    assert reidentification_risk(release, ["home", "work"]).prosecutor.highest <= 1 / k


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ABCD"), st.sampled_from("AB"), st.integers(0, 9), st.sampled_from("xyz")),
        min_size=4,
        max_size=40,
    ),
    k=st.integers(1, 4),
)
def test_whole_rows_against_a_plain_count(rows: list[tuple[str, str, int, str]], k: int) -> None:
    """On home and work nobody may be alone; on all columns, those released as they are among them, many are."""
    table = frame([row[:2] for row in rows]).assign(score=[row[2] for row in rows], ward=[row[3] for row in rows])
    spec = {
        "table": {"class": "ill"},
        "attributes": {name: {"kind": "category"} for name in ("home", "work", "ward")} | {"score": {"kind": "number"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["home", "work"], "k": k}],
    }
    release = unveil.publish(table, spec)
    held = Counter(tuple(row.values()) for row in release.table.to_pylist())
    found = whole_row_risk(release)
    assert found.uniques == sum(count == 1 for count in held.values())
    assert (found.records, found.groups) == (len(rows), len(held))
    assert set(found.quasi_identifier) == set(release.table.column_names)
