"""The mean of a survey weight over the groups of a quasi-identifier, released in place of the weight of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, CodeArray, IntArray, group_numbers
from unveil.masking import AsIs, Masking
from unveil.schema import MILLIONTHS, group_mean
from unveil.tables import Chunk, Outline


class Means(NamedTuple):
    """The released means in ascending order, and the rank of each row's."""

    values: pa.Array
    ranks: CodeArray


@dataclass(frozen=True)
class GroupMeans:
    """What it takes to compute them. It is plain data, to be sent to workers."""

    place: int
    """The position of the weight among the attributes."""
    groups: tuple[int, ...]
    """The positions of the quasi-identifier."""
    step: float
    millionths: IntArray
    """The weight that each code means. Whole numbers add up to the same sum in any order."""

    @classmethod
    def of(cls, outline: Outline, masking: Masking) -> GroupMeans | None:
        """None if the release does not show the means of groups."""
        names = [domain.name for domain in outline.columns]
        for place, domain in enumerate(outline.columns):
            entry = masking[domain.name]
            weight = entry.survey_weight if isinstance(entry, AsIs) else None
            if weight is not None and weight.step is not None and not weight.by_row:
                units = np.rint(np.asarray(domain.values, dtype=np.float64) * MILLIONTHS).astype(np.int64)
                return cls(place, tuple(names.index(name) for name in weight.groups), weight.step, units)
        return None

    def totals(self, chunk: Chunk) -> IntArray:
        """The weight of each row in millionths."""
        return self.millionths[chunk.codes[self.place]]

    def ranked(self, groups: Sequence[Array], totals: IntArray, records: IntArray) -> Means:
        """The means of the groups that rows are in, by the ranks of their released values; totals are in millionths."""
        numbers, count = group_numbers([np.asarray(codes) for codes in groups])
        sums, sizes = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        np.add.at(sums, numbers, totals)
        np.add.at(sizes, numbers, records)
        pairs = zip(sums.tolist(), sizes.tolist(), strict=True)
        values, rank_of = np.unique([group_mean(total, size, self.step) for total, size in pairs], return_inverse=True)
        return Means(pa.array(values, pa.float64()), rank_of[numbers].astype(np.int32))
