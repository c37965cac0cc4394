"""What is attacked, and the people by whom the attacks are judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.attacks.records import Records
from unveil.release import RefinementManifest, Release
from unveil.schema import Spec
from unveil.tables import Table


@dataclass(frozen=True, eq=False)
class Truth:
    """What only the owner has: the raw table, and some people drawn from it at random."""

    spec: Spec
    table: Table
    rows: pa.Table
    """The raw rows of the table: what a release would have of them, class included."""
    places: IntArray
    """The rows of these people."""
    without: Release | None
    """A release by the same spec of the table without them; None if there is none."""

    @cached_property
    def people(self) -> pa.Table:
        """The raw rows of these people."""
        return self.rows.take(pa.array(self.places))

    @cached_property
    def others(self) -> IntArray:
        """The places of everybody else."""
        return np.setdiff1d(np.arange(self.rows.num_rows), self.places)


@dataclass(frozen=True, eq=False)
class Scene:
    """A release under attack."""

    release: Release
    truth: Truth | None = None
    """None for a reader, who has the release alone."""

    @property
    def has_rows(self) -> bool:
        """Whether the release has masked rows, and not noisy counts or weights."""
        return isinstance(self.release.manifest, RefinementManifest)

    @cached_property
    def records(self) -> Records:
        """The rows of the release."""
        return Records(self.release)

    @cached_property
    def records_without(self) -> Records | None:
        """The rows of the release without the people."""
        without = None if self.truth is None else self.truth.without
        return None if without is None else Records(without)
