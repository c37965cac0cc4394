"""Some rows of a checked table are the table that reading these rows alone would give."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import TableError
from unveil.schema import Spec, load_spec
from unveil.tables import FrameSource, Table, load_table, part_of

AGES, JOBS, LABELS = (17, 18, 19, 30), ("baker", "clerk", "smith"), ("no", "yes", "never")
ROW = st.tuples(st.sampled_from(AGES), st.sampled_from(JOBS), st.sampled_from(LABELS), st.integers(1, 3), st.booleans())


def spec_of(*, declared: bool, private: bool) -> Spec:
    job = {"kind": "category", "values": list(JOBS)} if declared else {"kind": "category"}
    age: dict[str, Any] = {"kind": "number", "whole": True, **({"range": [17, 40]} if declared else {})}
    require = {"kind": "differential-privacy", "epsilon": 1.0}
    return load_spec(
        {
            "table": {"class": "ill", "weight": "people", "others": "drop" if private else "release"},
            "attributes": {"age": age, "job": job, **({"ill": {"values": list(LABELS)}} if declared else {})},
            "require": [require if private else {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 1}],
            **({"publish": {"method": "diffgen", "specializations": 1}} if private else {}),
        }
    )


@settings(deadline=None)
@given(
    rows=st.lists(ROW, min_size=2, max_size=12),
    declared=st.booleans(),
    private=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_a_part_is_what_its_rows_alone_would_be(rows: list[Any], declared: bool, private: bool, seed: int) -> None:
    names = ("age", "job", "ill", "people", "smokes")
    frame = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    spec = spec_of(declared=declared or private, private=private)
    draw = np.random.default_rng(seed)
    places = np.sort(draw.choice(len(rows), draw.integers(1, len(rows) + 1), replace=False))
    alone = loaded(spec, frame.take(pa.array(places)))
    whole = loaded(spec, frame)
    if isinstance(whole, str):
        return
    try:
        part: Table | str = part_of(whole, spec, places, "some rows")
    except TableError as error:
        part = str(error)
    assert told(part) == told(alone)


def loaded(spec: Spec, frame: pa.Table) -> Table | str:
    """The table, or the sentence that refuses it."""
    try:
        return load_table(spec, FrameSource(frame, "some rows"))
    except TableError as error:
        return str(error)


def told(table: Table | str) -> Any:
    """All that a table says, in values that can be compared."""
    if isinstance(table, str):
        return table
    columns = [(c.name, list(c.values), str(c.type), c.codes.tolist()) for c in (*table.columns, table.classes)]
    counts = [histogram.tolist() for histogram in table.histograms]
    weight = None if table.weight is None else table.weight.tolist()
    facts = (table.read, table.dropped, table.records, table.weighted, table.origin, table.kept.tolist())
    return columns, counts, weight, table.other_columns.to_pydict(), facts


def test_a_part_of_one_class_is_refused_as_a_table_of_one_class_is() -> None:
    frame = pa.table({"age": [17, 18], "job": ["smith"] * 2, "ill": ["no", "yes"], "people": [1, 1], "smokes": [1, 0]})
    spec = spec_of(declared=False, private=False)
    with pytest.raises(TableError, match="some rows: the class 'ill' has one label only, 'no', so there is nothing"):
        part_of(load_table(spec, frame), spec, np.array([0]), "some rows")
