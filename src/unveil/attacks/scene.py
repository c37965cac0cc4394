"""What is attacked, and the people by whom the attacks are judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
    places: IntArray
    """The rows of these people in the table."""
    people: pa.Table
    """Their raw values, class included."""
    without: Release | None
    """A release by the same spec of the table without them; None if there is none."""


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
