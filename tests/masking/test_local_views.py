"""Labels that overlap between groups as types, as input of a classifier, and on the screen of a notebook."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

from masking.trees import Box, Grown, frozen, refinements, root_block
from unveil.masking import BoxTree, Discretization, Generalization, Masking, Split, Suppression, View
from unveil.masking.boxes import groups_text, sketch
from unveil.masking.entries import Generalized, Interval
from unveil.sklearn.encoding import Encoding

ROWS = [
    {"age": 5, "job": "Clerk", "city": "Bern", "home": "Bern"},
    {"age": 50, "job": "Clerk", "city": "Bern", "home": "Bern"},
    {"age": 50, "job": "Sales", "city": "Chur", "home": "Bern"},
]


def split(box: Box, name: str, way: int) -> list[Box]:
    parts = refinements(name, box.blocks[name])[way]
    box.split = Split(attribute=name, block=box.blocks[name].label, into=tuple(part.label for part in parts))
    box.children = [Box({**box.blocks, name: part}) for part in parts]
    return box.children


def grown() -> Grown:
    """Ages below 32 as they are, above with the office apart and its clerks told apart."""
    root, other = (
        Box({name: root_block(name) for name in names}) for names in (("age", "job", "home"), ("city", "home"))
    )
    _, above = split(root, "age", 31)
    office, *_ = split(above, "job", 0)
    split(office, "job", 1)
    split(other, "city", 0)
    return Grown(frozen([root, other]), [root, other])


def test_labels_of_different_fineness_are_typed() -> None:
    masking, table = grown().masking, pa.Table.from_pylist(ROWS)
    labels = masking.labels(table)
    assert labels.to_pylist() == [
        {"age": "[0, 32)", "job": "Any", "city": "Bern", "home": "⊥"},
        {"age": "[32, 64)", "job": "Clerk", "city": "Bern", "home": "⊥"},
        {"age": "[32, 64)", "job": "Office, other", "city": "⊥", "home": "⊥"},
    ]
    frame = masking.apply(table.to_pandas())
    assert list(frame["age"]) == [pd.Interval(0, 32, "left"), *[pd.Interval(32, 64, "left")] * 2]
    assert list(frame["job"]) == ["Any", "Clerk", "Office, other"]
    assert masking.apply(table)["age"].to_pylist()[0] == {"from": 0, "to": 32}
    assert masking.apply(polars.from_arrow(table), intervals="midpoint")["age"].to_list() == [15.5, 47.5, 47.5]
    assert masking.apply(table, suppressed=None)["city"].to_pylist() == ["Bern", "Bern", None]


def test_rows_that_are_left_out_have_the_full_range() -> None:
    """The label of the root is not a block of a cut, but has bounds all the same."""
    days = Discretization(
        domain="declared",
        unit="date",
        whole=True,
        blocks=(
            Interval(label="[2019-01-01, 2019-07-01)", from_=datetime.date(2019, 1, 1), to=datetime.date(2019, 7, 1)),
            Interval(label="[2019-07-01, 2020-01-01)", from_=datetime.date(2019, 7, 1), to=datetime.date(2020, 1, 1)),
        ),
    )
    labels = pa.table({"day": ["[2019-01-01, 2020-01-01)", "[2019-07-01, 2020-01-01)"]})
    (first, _) = View("bounds").of(labels, {"day": days})["day"].to_pylist()
    assert first == {"from": datetime.date(2019, 1, 1), "to": datetime.date(2020, 1, 1)}
    (first, _) = View("interval").of_pandas(labels, {"day": days})["day"]
    assert first.left == pd.Timestamp(2019, 1, 1)
    assert first.right == pd.Timestamp(2020, 1, 1)


def test_labels_that_overlap_are_encoded_by_both_ends() -> None:
    masking, table = grown().masking, pa.Table.from_pylist(ROWS)
    encoding = Encoding.of(masking, masking.labels(table), "codes")
    names = encoding.names({name: name for name in masking})
    assert names == ["age from", "age to", "job from", "job to", "city", "home"]
    encoded = encoding.encoded(masking.labels(table), "refuse")
    assert encoded[:, :2].tolist() == [[0, 32], [32, 64], [32, 64]]
    unseen = masking.labels(pa.Table.from_pylist([{**ROWS[0], "age": 99}]), unseen="suppress")
    assert np.isnan(encoding.encoded(unseen, "suppress")[0, :2]).all()


def test_the_top_of_a_tree_is_drawn() -> None:
    lines = list(sketch(grown().masking.boxes[0]).lines(groups_text))
    assert lines == [
        "all rows: 5 groups",
        "├─ age [0, 32): 1 group",
        "└─ age [32, 64): 4 groups",
        "   ├─ job Office: 2 groups",
        "   │  ├─ job Clerk: 1 group",
        "   │  └─ job Office, other: 1 group",
        "   ├─ job Manual: 1 group",
        "   └─ job None: 1 group",
    ]


def deep(values: int) -> BoxTree:
    splits = tuple(Split(attribute="code", block="⊥", into=(f"v{number}", "⊥")) for number in range(values))
    order = tuple(number for place in range(values) for number in (place, -1))
    return BoxTree(attributes=("code",), splits=splits, order=(*order, -1))


def test_values_told_apart_one_by_one_are_one_level() -> None:
    tree = deep(5_000)
    lines = list(sketch(tree, records=[*range(5_000), 7]).lines(lambda node: f"{node.records:,}"))
    assert lines[:3] == ["all rows: 12,497,507", "├─ code v4999: 4,999", "├─ code v4998: 4,998"]
    assert lines[-1] == "└─ … 4,992 more"  # v0 has no records
    assert len(lines) == 10


def test_a_notebook_shows_the_trees_escaped() -> None:
    hostile = "<script>alert(1)</script>"
    entry = Suppression(domain="declared", local=True, disclosed=(hostile,))
    tree = BoxTree(
        attributes=("town",), splits=(Split(attribute="town", block="⊥", into=(hostile, "⊥")),), order=(0, -1, -1)
    )
    page = Masking({"town": entry}, boxes=[tree])._repr_html_()
    assert "<script>" not in page
    assert "town &lt;script&gt;" in page
    assert "2 groups of town" in page
    assert "group by group" in page


def test_a_masking_of_cuts_is_shown_as_before() -> None:
    entry = Generalization(domain="declared", blocks=(Generalized(label="Any", values=("a", "b")),))
    assert Masking({"job": entry})._repr_html_().startswith('<div style="overflow-x: auto"><table>')


@pytest.mark.parametrize("output", ["onehot", "labels"])
def test_every_label_of_the_vocabulary_has_a_place(output: Any) -> None:
    masking, table = grown().masking, pa.Table.from_pylist(ROWS)
    encoding = Encoding.of(masking, masking.labels(table), output)
    encoded = encoding.encoded(masking.labels(table), "refuse")
    assert encoded.shape == (3, len(encoding.names({name: name for name in masking})))
