"""The bundled data sets are the papers': sizes, splits, and the rows of UCI."""

from collections.abc import Callable

import pyarrow.parquet as pq
import pytest
from reproduce.data import (
    ADULT_RANKED,
    CRX_RANKED,
    GERMAN_RANKED,
    DataSet,
    adult,
    crx,
    german,
)
from reproduce.places import BUNDLED, SHARED


@pytest.mark.parametrize(
    ("load", "train", "test", "numbers", "categories", "ranked"),
    [
        (adult, 30_162, 15_060, 6, 8, ADULT_RANKED),
        (crx, 465, 188, 6, 9, CRX_RANKED),
        (german, 666, 334, 7, 13, GERMAN_RANKED),
    ],
    ids=["adult", "crx", "german"],
)
def test_sizes_and_attributes(
    load: Callable[[], DataSet], train: int, test: int, numbers: int, categories: int, ranked: tuple[str, ...]
) -> None:
    data = load()
    assert (data.train.num_rows, data.test.num_rows) == (train, test)
    assert (len(data.attributes) - len(data.categories), len(data.categories)) == (numbers, categories)
    assert set(ranked) <= set(data.attributes)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the raw files are not next to the checkout")
def test_crx_is_ucis_value_by_value() -> None:
    table = pq.read_table(BUNDLED / "crx.parquet")
    lines = (SHARED / "uci" / "crx.data").read_text().splitlines()
    rows = [line.split(",") for line in lines if line]
    for place, name in enumerate(table.column_names):
        number = str(table.schema.field(name).type) != "string"
        texts = [row[place] for row in rows]
        raw = [None if text == "?" else float(text) for text in texts] if number else texts
        assert table[name].to_pylist() == raw


@pytest.mark.skipif(not SHARED.is_dir(), reason="the raw files are not next to the checkout")
def test_german_is_ucis_value_by_value() -> None:
    table = pq.read_table(BUNDLED / "german.parquet")
    rows = [line.split() for line in (SHARED / "uci" / "german.data").read_text().splitlines() if line]
    for place, name in enumerate(table.column_names[:-1]):
        assert [str(value) for value in table[name].to_pylist()] == [row[place] for row in rows]
    assert table["class"].to_pylist() == [{"1": "good", "2": "bad"}[row[-1]] for row in rows]
