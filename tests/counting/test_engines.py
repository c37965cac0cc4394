"""Every engine gives the same release: same steps, same claims, same rows in the same order; same private draws."""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engines
import unveil
from bridge import spec_of, table_of
from oracles.problem import Problem
from oracles.strategies import mixed_problems
from recounting import plain
from unveil.counting.engine import open_engine
from unveil.errors import TableError
from unveil.tables import files

pytestmark = pytest.mark.engines(*engines.NAMES)

BUNDLED = Path(unveil.__file__).parent / "data"
SPEC: dict[str, Any] = {
    "table": {"class": "ill", "missing": {"values": ["?"], "rows": "drop"}, "others": "release"},
    "attributes": {
        "age": {"kind": "number", "whole": True},
        "town": {"kind": "category"},
        "income": {"kind": "number"},
    },
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
}


def people(rows: int = 60, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    holes = rng.random(rows) < 0.1
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 60, rows), mask=holes),
            "town": rng.choice(["Cork", "Ōsaka", "São Paulo", "?"], rows),
            "income": pa.array(rng.choice([0.0, -0.0, 1.5, 2.25], rows)),
            "note": pa.array(rng.choice(["b", "a", "é", "中"], rows), mask=rng.random(rows) < 0.2),
            "seen": pa.array([dt.date(2024, 1, 1 + int(day)) for day in rng.integers(0, 5, rows)]),
            "at": pa.array([dt.datetime(2024, 1, 1, int(hour), tzinfo=dt.UTC) for hour in rng.integers(0, 5, rows)]),
            "paid": pa.array([Decimal(int(cents)) / 100 for cents in rng.integers(0, 9, rows)], pa.decimal128(9, 2)),
            "score": pa.array(rng.choice([0.5, np.nan, -0.0, 0.0], rows)),
            "ok": pa.array(rng.random(rows) < 0.5),
            "ill": rng.choice(["yes", "no"], rows),
        }
    )


def same(one: unveil.Release, other: unveil.Release) -> None:
    assert one.trace == other.trace
    assert one.manifest == other.manifest
    assert one.table.schema == other.table.schema
    assert repr(values(one.table)) == repr(values(other.table))


def values(table: pa.Table) -> list[list[Any]]:
    return [plain(column) for column in table.columns]


def in_memory(table: Any, spec: Any, **options: Any) -> unveil.Release:
    return unveil.publish(table, spec, engine="memory", **options)


@cache
def bundled_in_memory(name: str, **options: Any) -> unveil.Release:
    """Published once for all engines that are compared with it."""
    return in_memory(BUNDLED / name, None, **options)


@pytest.fixture
def steps(engine: str) -> int | None:
    """How far the search goes: on the cluster every step is a few jobs, and late steps are like early ones."""
    return 3 if engine == "spark-cluster" else None


def refusal(table: pa.Table, engine: str | None) -> str | None:
    try:
        unveil.publish(table, SPEC, engine=engine)
    except unveil.UnveilError as error:
        return str(error)
    return None


def test_missing_values_that_are_kept(steps: int | None) -> None:
    table = {**SPEC["table"], "missing": {"values": ["?"], "rows": "keep"}}
    spec = {**SPEC, "table": table, "publish": {"search": "paper"}}
    one = unveil.publish(people(), spec, steps=steps)
    same(one, in_memory(people(), spec, steps=steps))
    assert one.manifest.rows.dropped == 0
    assert "missing" in " or ".join(one.masking["age"].shown)


@settings(deadline=None, max_examples=60)
@given(mixed_problems())
def test_any_mix_of_requirements(problem: Problem) -> None:
    table, spec = table_of(problem), spec_of(problem)
    same(unveil.publish(table, spec), in_memory(table, spec))


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 200), st.integers(0, 5))
def test_undescribed_columns_of_every_type_and_missing_values(rows: int, seed: int) -> None:
    table = people(rows, seed)
    if sentence := refusal(table, "memory"):
        assert refusal(table, None) == sentence
    else:
        same(unveil.publish(table, SPEC), in_memory(table, SPEC))


def test_nans_of_other_bits_tell_nothing_of_the_order_of_the_input() -> None:
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001], dtype=np.uint64)
    columns = {"age": [20, 30] * 12, "score": np.tile(bits.view(np.float64), 8), "note": [*"abcdef"] * 4}
    table = pa.table({**columns, "ill": ["yes", "no"] * 12})
    spec = SPEC | {"attributes": {"age": {"kind": "number"}}}
    spec["require"] = [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 3}]
    release = unveil.publish(table, spec)
    assert len(set(release.table["score"].to_numpy().view(np.uint64))) == 1
    same(release, in_memory(table.take(list(reversed(range(24)))), spec))


def test_dropped_rows_where_no_other_column_is_released(steps: int | None) -> None:
    table, spec = people(90), SPEC | {"table": SPEC["table"] | {"others": "drop"}}
    assert in_memory(table, spec).manifest.rows.dropped > 0
    same(unveil.publish(table, spec, steps=steps), in_memory(table, spec, steps=steps))


def test_missing_texts_of_an_undescribed_column_are_written(tmp_path: Path) -> None:
    notes = ["called", None, "wrote", None] * 6
    table = pa.table({"age": [20, 30, 40] * 8, "note": notes, "ill": ["yes", "no", "no", "yes"] * 6})
    spec = SPEC | {"attributes": {"age": {"kind": "number"}}}
    spec["require"] = [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 3}]
    unveil.publish(table, spec).write(tmp_path / "release")
    written = pa.parquet.read_table(tmp_path / "release" / "data.parquet")["note"].to_pylist()
    assert Counter(written) == Counter(notes)
    assert unveil.verify(tmp_path / "release") == []


def test_a_column_without_values_in_several_pieces(steps: int | None, tmp_path: Path) -> None:
    table = people(60).drop_columns(["at"]).append_column("nothing", pa.nulls(60))
    pa.parquet.write_table(table, tmp_path / "people.parquet", row_group_size=20)
    release = unveil.publish(tmp_path / "people.parquet", SPEC, steps=steps)
    same(release, in_memory(table, SPEC, steps=steps))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_and_folders_of_files(ending: str, steps: int | None, tmp_path: Path) -> None:
    table = people(200).drop_columns(["note", "at", "score"])
    write = pa.csv.write_csv if ending == "csv" else pa.parquet.write_table
    folder = tmp_path / "people"
    folder.mkdir()
    for number in range(3):
        write(table.slice(67 * number, 67), folder / f"{number}.{ending}")
    spec = SPEC | {"table": SPEC["table"] | {"missing": {"values": ["?", ""], "rows": "drop"}}}
    for path in (folder, folder / f"0.{ending}"):
        same(unveil.publish(path, spec, steps=steps), in_memory(path, spec, steps=steps))


def test_quotes_spaces_and_empty_fields_of_a_csv_file(steps: int | None, tmp_path: Path) -> None:
    lines = ["age,town,income,note,ill"]
    towns = [" Cork", '"Cork "', '"São; ""Paulo"""', '"two\nlines"', ""]
    lines += [f"{20 + place % 3},{towns[place % 5]},1,,{'yes' if place % 2 else 'no'}" for place in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = tmp_path / "people.csv"
    same(unveil.publish(path, SPEC, steps=steps), in_memory(path, SPEC, steps=steps))


@pytest.mark.parametrize("publish", [{}, {"recoding": "global", "leave-out": "10%"}])
def test_the_joint_search(publish: dict[str, Any], steps: int | None) -> None:
    """On the cluster, rows stay where they are and answer for their boxes."""
    spec = SPEC | {"publish": {"search": "joint", **publish}}
    same(unveil.publish(people(200), spec, steps=steps), in_memory(people(200), spec, steps=steps))


@pytest.fixture
def _batches_for_adult(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows at a time are too few for 45,222."""
    monkeypatch.setattr(files, "BATCH", 9_973)


@pytest.mark.usefixtures("_batches_for_adult")
@pytest.mark.parametrize("name", ["adult.toml", "adult-templates.toml"])
def test_the_bundled_specs(name: str, steps: int | None, tmp_path: Path) -> None:
    release = unveil.publish(BUNDLED / name, steps=steps)
    same(release, bundled_in_memory(name, steps=steps))
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release") == []
    same_rows = unveil.open_release(tmp_path / "release").table
    assert same_rows.num_rows == release.manifest.rows.released
    assert values(same_rows) == values(release.table)


@pytest.mark.usefixtures("_batches_for_adult")
def test_the_same_seed_draws_the_same_private_release(engine: str) -> None:
    name = "adult-private.toml"
    for seed in (1,) if engine.startswith("spark") else (1, 2):
        same(unveil.publish(BUNDLED / name, unsafe_seed=seed), bundled_in_memory(name, unsafe_seed=seed))


@pytest.mark.parametrize("goal", ["class", "statistics"])
def test_the_same_seed_draws_the_same_additive_release(goal: str) -> None:
    """Three classes, so that a model is learned for each, and weights, so that rows are several records."""
    rng = np.random.default_rng(5)
    rows = pa.table(
        {
            "age": rng.integers(20, 60, 900),
            "town": rng.choice(["Cork", "Ōsaka", "São Paulo"], 900),
            "n": rng.integers(1, 4, 900),
            "ill": rng.choice(["yes", "no", "maybe"], 900),
        }
    )
    spec = {
        "table": {"class": "ill", "weight": "n"},
        "attributes": {
            "age": {"kind": "number", "range": [20, 60], "whole": True},
            "town": {"kind": "category", "values": ["Cork", "Ōsaka", "São Paulo"]},
            "ill": {"values": ["yes", "no", "maybe"]},
        },
        "require": [{"kind": "differential-privacy", "epsilon": 2.0}],
        "publish": {"method": "additive", "goal": goal},
    }
    same(unveil.publish(rows, spec, unsafe_seed=3), in_memory(rows, spec, unsafe_seed=3))


@pytest.mark.usefixtures("_batches_for_adult")
def test_the_counts_that_private_draws_hang_on_are_the_same() -> None:
    spec = unveil.load_spec(BUNDLED / "adult-private.toml")
    outline, counts = open_engine(spec)
    _, expected = open_engine(spec, engine="memory")
    for mine, theirs in zip(counts.histograms(), expected.histograms(), strict=True):
        assert np.array_equal(mine, theirs)
    halves = [_halves(len(domain)) for domain in outline.columns]
    for mine, theirs in zip(counts.cells(halves), expected.cells(halves), strict=True):
        assert np.array_equal(mine, theirs)


def _halves(size: int) -> list[Any]:
    from unveil.masking import Block

    parts = np.array_split(np.arange(size), 2)
    return [Block(str(number), codes) for number, codes in enumerate(parts) if len(codes)]


Change = Callable[[pa.Table], pa.Table]


def _another_value(table: pa.Table) -> pa.Table:
    return table.set_column(0, "age", pa.array([99] * table.num_rows))


def _one_row_less(table: pa.Table) -> pa.Table:
    return table.slice(1)


@pytest.mark.parametrize("change", [_another_value, _one_row_less])
def test_a_source_that_changes_between_passes_is_refused(change: Change, engine: str, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pa.parquet.write_table(people(200).drop_columns(["at"]), path)
    spec = unveil.load_spec(SPEC)
    outline, counts = open_engine(spec, path)
    stamp = path.stat()
    pa.parquet.write_table(change(people(200).drop_columns(["at"])), path)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    if engine == "memory":
        assert counts.index([0, 1]).totals().sum() == outline.rows  # it was read once and for all
        return
    with pytest.raises(TableError, match=r"people\.parquet: the source changed while it was being read"):
        counts.index([0, 1])


def test_the_engine_that_counts_is_the_one_that_the_test_is_named_after(request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["engine"]
    outline, counts = open_engine(unveil.load_spec(SPEC), people())
    index = counts.index([0, 1])
    kinds = {"memory": ("Table", "MemoryIndex"), "stream": ("Outline", "MemoryIndex")}
    kinds |= {"spark": ("Outline", "MemoryIndex"), "spark-cluster": ("Outline", "SparkIndex")}
    assert (type(outline).__name__, type(index).__name__) == kinds[name]
    assert type(counts).__name__ == ("SparkEngine" if name.startswith("spark") else "MemoryEngine")
    assert files.BATCH == 3 or name != "stream"


def test_derived_columns(steps: int | None) -> None:
    table = people(120)
    spec = SPEC | {"table": {**SPEC["table"], "class": "rich"}}
    spec["attributes"] = {
        "age": {"derive": {"from": "age of person", "bands": [0, 30, 45]}},
        "town": {"kind": "category"},
        "early": {"derive": "seen < 2024-01-03"},
        "rich": {"derive": "income > 1"},
    }
    table = table.rename_columns({"age": "age of person"})
    release = unveil.publish(table, spec, steps=steps)
    same(release, in_memory(table, spec, steps=steps))
    assert not {"age of person", "income", "seen"} & set(release.table.column_names)


@pytest.mark.parametrize("search", ["paper", "joint"])
def test_persons_with_several_rows(search: str, engine: str) -> None:
    """They are searched in the driver, so an index on the cluster is refused."""
    rng = np.random.default_rng(0)
    whose = pa.array([f"p{number}" for number in rng.integers(0, 70, 200)])
    table = people(200).append_column("whose", whose)
    spec = SPEC | {"table": SPEC["table"] | {"person": ["whose", "seen"]}, "publish": {"search": search}}
    if engine == "spark-cluster":
        with pytest.raises(unveil.UnveilError, match="by person are searched in the driver"):
            unveil.publish(table, spec)
        return
    release = unveil.publish(table, spec)
    assert release.manifest.persons is not None
    assert release.manifest.persons < release.manifest.records
    same(release, in_memory(table, spec))


@pytest.mark.parametrize("shown", [{"release": "rounded", "step": 0.5}, {"release": "group-mean", "step": 0.25}])
def test_survey_weights(shown: dict[str, Any]) -> None:
    draw = np.random.default_rng(0)
    weights = np.round(draw.gamma(2, 3, 60), 2)
    rows = pa.table(
        {
            "age": draw.integers(20, 60, 60),
            "wgt": [None, *weights[1:].tolist()],
            "town": draw.choice(["Cork", "Bergen"], 60),
            "income": draw.choice([1.5, 2.5], 60),
            "ill": draw.choice(["yes", "no"], 60),
        }
    )
    weight = {"wgt": {"role": "survey-weight", **shown}}
    spec = {**SPEC, "attributes": {**weight, **SPEC["attributes"]}, "publish": {"search": "paper"}}
    found, expected = unveil.publish(rows, spec), unveil.publish(rows, spec, engine="memory")
    assert found.table.to_pylist() == expected.table.to_pylist()
    assert found.manifest == expected.manifest
