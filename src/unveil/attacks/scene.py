"""What is attacked, and the people by whom the attacks are judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.attacks.records import Records
from unveil.release import RefinementManifest, Release, SafeManifest
from unveil.schema import Spec
from unveil.tables import Table


@dataclass(frozen=True, eq=False)
class Truth:
    """What only the owner has: the raw table behind a release, people in it, and people who are not."""

    spec: Spec
    table: Table
    rows: pa.Table
    """The raw rows of the table: what a release would have of them, class included."""
    places: IntArray
    """The rows of the people to attack, drawn at random."""
    complete: bool = True
    """Whether these are all rows behind the release, and not a sample of them."""
    absent: pa.Table | None = None
    """Raw rows of as many people who are not in the table `without`; None if there is no control."""
    without: Release | None = None
    """The release that is attacked, or, of one that exists and has everybody, another one by the same spec."""

    @cached_property
    def people(self) -> pa.Table:
        """The raw rows of the people to attack."""
        return self.rows.take(pa.array(self.places))

    @cached_property
    def others(self) -> IntArray:
        """The places of everybody else in the table."""
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
        return isinstance(self.release.manifest, RefinementManifest | SafeManifest)

    @cached_property
    def records(self) -> Records:
        """The rows of the release."""
        return Records(self.release)

    @cached_property
    def control(self) -> tuple[Records, pa.Table] | None:
        """The rows of the release that lacks some people, and these people; None if there is no control."""
        truth = self.truth
        if truth is None or truth.without is None or truth.absent is None:
            return None
        return self.records if truth.without is self.release else Records(truth.without), truth.absent
