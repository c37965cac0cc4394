"""Adult blown up as in Section V-C of the TDR paper: the original records, and variations of them.

    python bench/blowup.py 200000 500000 1000000
    python bench/blowup.py --streamed 10000000

With `--streamed` a table is made and written block by block, as parquet alone, so that memory does not grow with it.

A variation of a record takes q attributes at random, q ~ U[1, |∪QID|], and gives each a random value of the domain that
was observed for it. ∪QID are all 14 attributes, so that one table serves every setting; the class is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from places import BUNDLED, CACHE, streamed_file, table_file
from settings import ATTRIBUTES, CLASS

SEED = 2007
BLOCK = 1_000_000
"""How many rows of a streamed table are made at a time."""


def original_records() -> pa.Table:
    """The 45,222 records without a missing value. Which raw file a record came from says nothing about a variation."""
    table = pa.parquet.read_table(BUNDLED / "adult.parquet").select([*ATTRIBUTES, CLASS])
    text = [name for name in table.column_names if pa.types.is_string(table.schema.field(name).type)]
    for name in text:
        table = table.filter(pc.not_equal(table[name], "?"))
    return table


def blow_up(records: pa.Table, rows: int, seed: int | tuple[int, int] = SEED, start: int = 0) -> pa.Table:
    """All records, then variations of the first, the second and so on: so many rows, from a place on."""
    rng = np.random.default_rng(seed)
    sources = np.arange(start, start + rows) % records.num_rows
    replaced = _replaced(rng, rows, kept=min(max(records.num_rows - start, 0), rows))
    columns = {name: _varied(rng, records[name], sources, replaced[:, i]) for i, name in enumerate(ATTRIBUTES)}
    return pa.table({**columns, CLASS: records[CLASS].take(pa.array(sources))})


def _replaced(rng: np.random.Generator, rows: int, kept: int) -> np.ndarray:
    """For each row and attribute whether its value is replaced; never in the original records."""
    width = len(ATTRIBUTES)
    q = rng.integers(1, width, size=(rows, 1), endpoint=True)
    order = rng.permuted(np.tile(np.arange(width, dtype=np.int8), (rows, 1)), axis=1)
    replaced = order < q
    replaced[:kept] = False
    return replaced


def _varied(rng: np.random.Generator, column: pa.ChunkedArray, sources: np.ndarray, replaced: np.ndarray) -> pa.Array:
    encoded = column.combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy()[sources]
    drawn = rng.integers(len(encoded.dictionary), size=len(codes))
    return encoded.dictionary.take(pa.array(np.where(replaced, drawn, codes)))


def write_tables(sizes: list[int]) -> None:
    """Writes the tables that the cache does not hold yet, as csv and parquet."""
    CACHE.mkdir(exist_ok=True)
    for rows in sizes:
        csv, parquet = table_file(rows, "csv"), table_file(rows, "parquet")
        if csv.exists() and parquet.exists():
            continue
        table = blow_up(original_records(), rows)
        for path, write in ((csv, pa.csv.write_csv), (parquet, pa.parquet.write_table)):
            draft = Path(f"{path}.part")
            write(table, draft)
            draft.rename(path)


def write_streamed(sizes: list[int]) -> None:
    """Writes the streamed tables that the cache does not hold yet; every block is drawn from a seed of its own."""
    CACHE.mkdir(exist_ok=True)
    records = original_records()
    for rows in sizes:
        path = streamed_file(rows)
        if path.exists():
            continue
        draft = Path(f"{path}.part")
        with pa.parquet.ParquetWriter(draft, records.schema) as writer:
            for number, start in enumerate(range(0, rows, BLOCK)):
                writer.write_table(blow_up(records, min(BLOCK, rows - start), (SEED, number), start))
        draft.rename(path)


if __name__ == "__main__":
    if sys.argv[1] == "--streamed":
        write_streamed([int(rows) for rows in sys.argv[2:]])
    else:
        write_tables([int(rows) for rows in sys.argv[1:]])
