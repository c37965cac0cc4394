"""Where the budget of a private release went, and what its noise drowns: read off the release, not off the rows.

Everything but the number of records follows from what is published: the ledger, the cuts and the number of cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any, Literal

from unveil.reasons.prices import blocks_of
from unveil.release import (
    AdditiveManifest,
    PrivateManifest,
    RefinementManifest,
    Release,
    SafeManifest,
    StatisticsManifest,
    WeightsManifest,
    counted_by,
)

PURPOSES = {
    "class totals": "class totals",
    "table of ": "tables of the attributes with the class",
    "choice of pair ": "choice of pairs",
    "counts of pair ": "counts of the pairs",
    "choice of round ": "choice of attributes",
    "sums of round ": "sums of the chosen attributes",
    "counts of the leaves": "counts of the leaves",
    "first split of ": "first splits of numbers",
    "specialization ": "choice of specializations",
    "splits after ": "later splits of numbers",
    "counts ": "counts of the cells",
    "sampling ": "sampling of the rows",
}
"""How the charges of a ledger begin, and what they are for."""


Counted = Literal["cells", "leaves", "tables"]
CELLS: dict[Counted, tuple[str, str]] = {
    "cells": ("cell", "cells"),
    "leaves": ("leaf", "leaf counts"),
    "tables": ("cell of a table", "cells, by the mean of all tables with the class"),
}
"""What sentences call one of these, and all of them."""


@dataclass(frozen=True)
class Spending:
    """What became of the budget of a private release, or on average of several draws."""

    draws: int
    seeded: bool
    """Whether it was drawn from seeds, to be thrown away, and not from a release at hand."""
    specializations: int | None
    """How many were drawn; None for weights."""
    counted: Counted
    """What a noisy count is one of."""
    epsilon: Fraction
    purposes: dict[str, float]
    """The share of ε by purpose."""
    blocks: dict[str, float]
    """Blocks per attribute."""
    refined: dict[str, int]
    """In how many draws each attribute was specialized, or measured, at all."""
    cells: float
    """How many counts there are: one per combination of blocks and class, or per leaf and class."""
    noise: float | None
    """The mean size of the noise on a count; None if rows are sampled instead."""
    records: int
    """Of a release at hand the sum of its noisy counts; else the records of the table."""

    @property
    def unrefined(self) -> tuple[str, ...]:
        """The attributes that no specialization, or no round, was spent on."""
        return tuple(name for name, draws in self.refined.items() if not draws)

    def sentences(self) -> tuple[str, ...]:
        """What the owner reads."""
        shares = ", ".join(f"{share:.1%} to the {purpose}" for purpose, share in self.purposes.items())
        sentences = [f"The budget went {shares}.", self._structure()]
        if self.unrefined:
            sentences.append(self._left_out(", ".join(self.unrefined)))
        if self.noise is None:
            return tuple(sentences)
        kind = "records" if self.seeded else "noisy records"
        cell, many = CELLS[self.counted]
        sentences.append(
            f"A {cell} has {self.records / self.cells:,.1f} {kind} on average ({self.records:,} in {self.cells:,.0f} "
            f"{many}), and its count is off by {self.noise:,.1f} on average."
        )
        return tuple(sentences)

    def _left_out(self, names: str) -> str:
        if self.specializations is None:
            return (
                f"Never measured, so released as one block: {names}. Each round chose another attribute, which "
                "explained more of the class; a larger ε affords more rounds."
            )
        return (
            f"Never specialized, so released as one block: {names}. Each of the {self.specializations} "
            "specializations was drawn for another attribute; more of them, or fewer attributes, leave room."
        )

    def _structure(self) -> str:
        held = {name: count for name, count in self.blocks.items() if self.refined[name]}
        blocks = ", ".join(
            f"{name} {count:,.3g}" + ("" if self.draws == 1 else f" ({self.refined[name]})")
            for name, count in sorted(held.items(), key=lambda item: (-self.refined[item[0]], -item[1]))
        )
        done = "specialized" if self.specializations is not None else "measured"
        draws = "" if self.draws == 1 else f", on average over {self.draws} draws (in how many it was {done})"
        return f"Blocks of the {done} attributes{draws}: {blocks or 'there are none'}."

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {**vars(self), "epsilon": str(self.epsilon)}


def spending_of(releases: Sequence[Release], records: int | None = None) -> Spending:
    """What became of the budget of one release, or of several draws by the same spec.

    Without the number of records, which only the owner may read, the noisy counts are added.
    """
    manifests = [item.manifest for item in releases if not isinstance(item.manifest, RefinementManifest)]
    first = manifests[0]
    cuts = [blocks_of(release) for release in releases]
    spent_on = [_spent_on(manifest, cut) for manifest, cut in zip(manifests, cuts, strict=True)]
    return Spending(
        draws=len(manifests),
        seeded=records is not None,
        specializations=None if isinstance(first, WeightsManifest) else first.specializations,
        counted=_counted(first)[0],
        epsilon=Fraction(str(first.requirements[0]["epsilon"])),
        purposes=_purposes(manifests),
        blocks={name: fmean(len(held[name]) for held in cuts) for name in cuts[0]},
        refined={name: sum(name in held for held in spent_on) for name in cuts[0]},
        cells=fmean(_counted(manifest)[1] for manifest in manifests),
        noise=_noise(manifests),
        records=_released(releases[0]) if records is None else records,
    )


def _released(release: Release) -> int:
    """How many records a release has, by its noisy counts or its rows."""
    weight = release.manifest.weighed_by
    return release.rows.num_rows if weight is None else round(release.table[weight].to_numpy().sum())


def _noise(manifests: Sequence[PrivateManifest]) -> float | None:
    if isinstance(manifests[0], SafeManifest):
        return None
    rows = manifests[0].contributions or 1
    return fmean(expected_noise(Fraction(counted_by(manifest).epsilon) / rows) for manifest in manifests)


def _counted(manifest: PrivateManifest) -> tuple[Counted, float]:
    """What a noisy count is one of, and how many each record is in one of; of tables, on average."""
    if isinstance(manifest, StatisticsManifest):
        return "tables", len(manifest.classes) * fmean(len(table) for table in manifest.tables.values())
    if isinstance(manifest, AdditiveManifest):
        return "leaves", len(manifest.leaves) * len(manifest.classes)
    return "cells", manifest.cells


def _spent_on(manifest: PrivateManifest, cut: dict[str, tuple[str, ...]]) -> set[str]:
    """The attributes that a draw was about."""
    if isinstance(manifest, WeightsManifest):
        return set(manifest.bins)
    return {name for name, blocks in cut.items() if len(blocks) > 1}


def expected_noise(epsilon: Fraction) -> float:
    """E|Z| of two-sided geometric noise: 2α / (1 − α²) with α = exp(−ε), which is 1 / sinh ε."""
    return 1 / math.sinh(float(epsilon))


def _purposes(manifests: Sequence[PrivateManifest]) -> dict[str, float]:
    """The share of ε that went to each purpose, on average."""
    shares = dict.fromkeys(PURPOSES.values(), 0.0)
    for manifest in manifests:
        total = Fraction(str(manifest.requirements[0]["epsilon"]))
        for entry in manifest.ledger:
            purpose = next(name for begins, name in PURPOSES.items() if entry.purpose.startswith(begins))
            shares[purpose] += float(Fraction(entry.epsilon) / total) / len(manifests)
    return {purpose: share for purpose, share in shares.items() if share}
