"""The partition index of a projection whose distinct rows do not fit in the driver: they stay on the cluster.

The driver knows which block masks a code, in tables as small as the domains, and a group is identified by its blocks.
So the rows never change: a refinement changes the tables, and every step is one job over the same checkpointed rows,
filtered down to the groups that hold the refined block. The lineage does not grow.

The job has two stages. First each partition adds up, for its rows, the weight of every cell of every watched block of
their groups. Then the sums of each group are brought together and become pieces: the counts per sensitive value of what
each candidate makes of the group. Equal pieces of one candidate are sent to the driver once.

The joint search splits the same rows into boxes (`far_marked`): every question is one job, and the splits made so far
travel with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, BoolArray, IntArray, grouped, packed_keys
from unveil.counting.distinct import DistinctRows, unpacked
from unveil.counting.engine import Pieces
from unveil.counting.far import FarMarked, Held, Tally
from unveil.counting.spark.session import told_plainly
from unveil.masking import Block, Offer, Refinement
from unveil.tables import Outline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WEIGHT = "w"
WHOLE = -1
"""The cell of all records of a group."""
KEY = "key"


@dataclass
class Cover:
    """What masks the codes of one column, and what its blocks could be refined into."""

    block_of: IntArray
    cell_of: IntArray


@dataclass(frozen=True)
class Watch:
    """The tables of a step, as the workers need them."""

    covers: tuple[Cover, ...]
    blocks: int
    watched: BoolArray
    """By block: whether it has a candidate that is still of interest."""
    owner: IntArray
    """By cell: the candidate that it belongs to."""
    discloses: BoolArray
    """By cell: whether the candidate discloses it and keeps the rest."""
    width: int


class SparkIndex:
    """TIPS on the cluster."""

    def __init__(
        self, frame: DataFrame, columns: Sequence[int], sizes: Sequence[int], width: int, outline: Outline
    ) -> None:
        """Checkpoints the distinct rows: codes `k0, k1, …`, of which each attribute has `sizes`, and the weight `w`.

        A sensitive code comes last; `width` says how many there are, 1 without a sensitive attribute.
        """
        self._frame = frame.localCheckpoint()
        self._place = {column: place for place, column in enumerate(columns)}
        self._covers = tuple(Cover(np.zeros(size, dtype=np.int64), np.full(size, WHOLE)) for size in sizes)
        self._width = width
        self._total = outline.records
        self._origin = outline.origin
        # Block 0 is for attributes that cannot be refined at all.
        self._offers: list[Offer | None] = [None]
        self._owner: list[int] = []
        self._discloses: list[bool] = []

    def totals(self) -> IntArray:
        """The counts of the group that holds every record."""
        if self._width == 1:
            return np.array([[self._total]], dtype=np.int64)
        secret = f"k{len(self._covers)}"
        with told_plainly(self._origin):
            found = self._frame.groupBy(secret).sum("w").toArrow()
        counts = np.zeros((1, self._width), dtype=np.int64)
        counts[0, found[0].to_numpy()] = found[1].to_numpy()
        return counts

    def watch(self, offers: Sequence[Offer], alive: BoolArray) -> Iterator[Pieces]:
        """Starts to count the pieces of the first offers."""
        for offer in offers:
            self._enter(self._place[offer.column], offer.block, offer)
        yield from self._pieces(self._frame, None, alive)

    def refine(
        self, refinement: Refinement, column: int, offers: Sequence[Offer], alive: BoolArray
    ) -> Iterator[Pieces]:
        """Masks by the children instead, and counts the pieces of the groups that held the refined block."""
        place = self._place[column]
        offer_of = {offer.block: offer for offer in offers}
        for child in refinement.children:
            # What stays suppressed keeps its number and its candidates; every other child is a new block.
            if child.label != refinement.block.label:
                self._enter(place, child, offer_of.get(child))
        codes = refinement.block.codes
        if len(codes):
            touched = self._frame.where(self._frame[f"k{place}"].between(int(codes.min()), int(codes.max())))
            inside = np.zeros(len(self._covers[place].block_of), dtype=np.bool_)
            inside[codes] = True
            yield from self._pieces(touched, (place, inside), alive)

    def recount(self, offer: Offer, candidates: IntArray) -> Iterator[Pieces]:
        """Does nothing: one job counts all pieces of a step."""
        return iter(())

    def _enter(self, place: int, block: Block, offer: Offer | None) -> None:
        cover = self._covers[place]
        cover.block_of[block.codes] = len(self._offers)
        self._offers.append(offer)
        for number, part in enumerate(offer.parts if offer else ()):
            cover.cell_of[part.codes] = len(self._owner)
            self._owner.append(offer.first + number if offer and offer.discloses else offer.first if offer else 0)
            self._discloses.append(bool(offer and offer.discloses))

    def _pieces(self, frame: DataFrame, only: tuple[int, BoolArray] | None, alive: BoolArray) -> Iterator[Pieces]:
        watch = Watch(
            covers=self._covers,
            blocks=len(self._offers),
            watched=np.array([offer is not None and offer.alive(alive) for offer in self._offers]),
            owner=np.array(self._owner, dtype=np.int64),
            discloses=np.array(self._discloses, dtype=np.bool_),
            width=self._width,
        )
        if not watch.watched.any():
            return

        def tally(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield from tallied(batch, watch, only).to_batches()

        def piece(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from pieces_of(pa.Table.from_batches(list(batches), schema=TALLIED), watch).to_batches()

        with told_plainly(self._origin):
            sums = frame.mapInArrow(tally, "key binary, cell bigint, secret int, w bigint")
            meeting = sums.groupBy(KEY, "cell", "secret").sum("w").toDF(*TALLIED.names).repartition(KEY)
            found = meeting.mapInArrow(piece, "owner bigint, counts array<bigint>").distinct().toArrow()
        owners = found["owner"].to_numpy()
        counts = found["counts"].combine_chunks().flatten().to_numpy().reshape(len(owners), self._width)
        yield Pieces(owners, counts)


TALLIED = pa.schema([(KEY, pa.binary()), ("cell", pa.int64()), ("secret", pa.int32()), ("w", pa.int64())])


def tallied(batch: pa.RecordBatch, watch: Watch, only: tuple[int, BoolArray] | None) -> pa.Table:
    """The weights of watched cells, by group and sensitive value, of some rows."""
    codes: list[Array] = [column.to_numpy() for column in batch.columns[: len(watch.covers)]]
    weight: Array = batch.columns[-1].to_numpy()
    secret: Array = np.zeros(len(weight), np.int32) if watch.width == 1 else batch.columns[len(watch.covers)].to_numpy()
    if only is not None:
        rows = only[1][codes[only[0]]]
        codes, weight, secret = [column[rows] for column in codes], weight[rows], secret[rows]
    blocks = [cover.block_of[column] for cover, column in zip(watch.covers, codes, strict=True)]
    keys = np.stack([block.astype(np.int32) for block in blocks], axis=1)
    order, starts, group = grouped(packed_keys(blocks, [watch.blocks] * len(blocks)))
    sums = DistinctRows([max(len(starts), 1), len(watch.owner) + 1, watch.width])
    sums.add([group, np.zeros_like(group), secret[order]], weight[order])
    for cover, column, block in zip(watch.covers, codes, blocks, strict=True):
        seen = watch.watched[block[order]]
        cells = cover.cell_of[column[order]][seen] + 1
        sums.add([group[seen], cells, secret[order][seen]], weight[order][seen])
    collapsed = sums.sorted()
    groups, cells, secrets = collapsed.columns()
    names = [row.tobytes() for row in keys[order[starts]]]
    return pa.table(
        {
            KEY: pa.array(names, pa.binary()).take(pa.array(groups)),
            "cell": pa.array(cells.astype(np.int64) - 1),
            "secret": pa.array(secrets.astype(np.int32)),
            "w": pa.array(collapsed.weight),
        },
        schema=TALLIED,
    )


def pieces_of(tally: pa.Table, watch: Watch) -> pa.Table:
    """The distinct pieces of each candidate, from the sums of whole groups."""
    group = tally[KEY].combine_chunks().dictionary_encode().indices.to_numpy()
    cell, secret, weight = (tally[place].to_numpy() for place in (1, 2, 3))
    _, starts, place = grouped(packed_keys([group, cell + 1], [tally.num_rows + 1, len(watch.owner) + 1]))
    order = np.lexsort((cell, group))
    counts = np.zeros((len(starts), watch.width), dtype=np.int64)
    np.add.at(counts, (place, secret[order]), weight[order])
    cells, groups = cell[order][starts], group[order][starts]
    whole = np.zeros((int(group.max(initial=-1)) + 1, watch.width), dtype=np.int64)
    whole[groups[cells == WHOLE]] = counts[cells == WHOLE]
    parts = cells != WHOLE
    owners, counts, groups = watch.owner[cells[parts]], counts[parts], groups[parts]
    disclosed = watch.discloses[cells[parts]]
    rest = whole[groups[disclosed]] - counts[disclosed]
    left = rest.sum(axis=1) > 0
    all_owners = np.concatenate([owners, owners[disclosed][left]])
    both = np.unique(np.column_stack([all_owners, np.concatenate([counts, rest[left]])]), axis=0)
    return pa.table({"owner": pa.array(both[:, 0]), "counts": pa.array(list(both[:, 1:]), pa.list_(pa.int64()))})


def far_marked(frame: DataFrame, sizes: Sequence[int], columns: int, outline: Outline) -> FarMarked:
    """Checkpoints the distinct rows: codes `k0, k1, …`, of which each column has `sizes`, and the weight `w`.

    The attributes, as many as `columns`, come first, then the other marks and the class.
    """
    held = frame.localCheckpoint()
    rows = held.count()

    def gather(function: Callable[[Held], Tally], numbers: Sequence[int]) -> Tally:
        with told_plainly(outline.origin):
            return gathered(held, columns, function, numbers)

    return FarMarked(gather, list(sizes[:columns]), [sizes[-1], *sizes[columns:-1]], rows, outline.records)


def gathered(frame: DataFrame, columns: int, function: Callable[[Held], Tally], sizes: Sequence[int]) -> Tally:
    """What a function computes from all rows: the distinct numbers with the sums of their weights."""
    from pyspark.sql import functions

    words = [f"word{number}" for number in range(DistinctRows(sizes).sorted().keys.shape[1])]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        distinct = DistinctRows(sizes)
        for batch in batches:
            *codes, weight = (column.to_numpy() for column in batch.columns)
            if len(weight):
                distinct.add(*function(Held(codes[:columns], [codes[-1], *codes[columns:-1]], weight)))
        rows = distinct.sorted()
        yield pa.RecordBatch.from_arrays([*map(pa.array, rows.keys.T), pa.array(rows.weight)], [*words, WEIGHT])

    schema = ", ".join(f"{name} bigint" for name in [*words, WEIGHT])
    found = frame.mapInArrow(run, schema).groupBy(*words).agg(functions.sum(WEIGHT).alias(WEIGHT)).toArrow()
    *keys, weight = (column.to_numpy() for column in found.columns)
    return Tally(unpacked(keys, sizes), weight)
