"""Taxonomies over bands that are written as text."""

import pyarrow as pa
import pytest

from unveil.drafts import draft
from unveil.errors import TableError


def test_bands_are_ordered_by_their_numbers_and_joined() -> None:
    bands = ["[90-100)", "[0-10)", *(f"[{start}-{start + 10})" for start in range(10, 90, 10))]
    found = draft(pa.table({"age": bands}), "age")
    assert found.by == "bands"
    assert found.taxonomy.leaves == tuple(sorted(bands, key=lambda text: int(text[1:].split("-")[0])))
    assert all(len(node.children) <= 3 for node in found.taxonomy.root.walk())
    assert found.taxonomy.leaves_of("0 to 40") == ("[0-10)", "[10-20)", "[20-30)", "[30-40)")


@pytest.mark.parametrize("open_end", ["65+", "65 and above", ">= 65", "65 or more"])
def test_open_bands(open_end: str) -> None:
    values = ["under 5", "5 to 9", "10-14", "15 - 64", open_end]
    found = draft(pa.table({"age": [*reversed(values)]}), "age")
    assert (found.by, found.taxonomy.leaves) == ("bands", tuple(values))


def test_what_is_not_a_band_is_refused_by_name() -> None:
    with pytest.raises(TableError, match="the value 'old' is not a band of numbers"):
        draft(pa.table({"age": ["0-4", "5-9", "old"]}), "age", "bands")
    assert draft(pa.table({"code": ["90-10", "90-20", "70-30"]}), "code").by == "prefix"
    assert draft(pa.table({"n": ["1", "2", "3", "4"]}), "n").by == "numbers"
