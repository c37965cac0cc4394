"""What the columns of a release hold: how many records have each label, and how many values a label stands for."""

from __future__ import annotations

import numpy as np

from unveil.masking import AsIs, Discretization, Generalization, Suppression, dictionary_of
from unveil.release import DiffGenManifest, Release
from unveil.reports.drawings import Bar, Bars
from unveil.reports.figures import Figure
from unveil.schema import COUNT, Spec

Masked = Generalization | Suppression | Discretization
"""How a column that holds labels is masked."""


def label_shares(release: Release, name: str) -> dict[str, float]:
    """The share of the records that hold each label of a masked column; noisy counts are taken as they are."""
    manifest = release.manifest
    weight = COUNT if isinstance(manifest, DiffGenManifest) else manifest.weight
    distinct, counts = release.counted
    labels = dictionary_of(distinct[name])
    if weight is not None:
        counts = counts * distinct[weight].to_numpy()
    sums = np.bincount(labels.indices.to_numpy(), weights=counts, minlength=len(labels.dictionary))
    total = sums.sum() or 1
    return {str(label): float(held / total) for label, held in zip(labels.dictionary.to_pylist(), sums, strict=True)}


def possible_values(entry: Generalization | Discretization, step: float | None) -> int | None:
    """How many values the labels of a column stand for together; None for numbers that nobody counts.

    Args:
        entry: The cut.
        step: The resolution of a number that is not whole, where it is known.
    """
    if isinstance(entry, Generalization):
        return sum(len(block.values) for block in entry.blocks)
    step = 1.0 if entry.whole else step
    return None if step is None else round((entry.blocks[-1].hi - entry.blocks[0].lo) / step)


def detail_chart(release: Release, figure: Figure, spec: Spec | None = None) -> Bars:
    """How many of the possible values of every masked attribute the release tells apart."""
    masked = {name: entry for name, entry in release.masking.columns.items() if not isinstance(entry, AsIs)}
    bars = [_detail(release, name, entry, figure, spec) for name, entry in masked.items()]
    return Bars.of("Values told apart, of all possible values", bars)


def _detail(release: Release, name: str, entry: Masked, figure: Figure, spec: Spec | None) -> Bar:
    if len(entry.shown) == 1:
        return Bar(name, 0.0, "none")
    if isinstance(entry, Suppression):
        # How many values are hidden is not public, so there is no share of them to draw.
        return Bar(name, None, f"hidden: {figure(label_shares(release, name).get(entry.marker, 0.0)).text} of records")
    values = possible_values(entry, None if spec is None else spec.attributes[name].step)
    if values is None:
        return Bar(name, None, f"{len(entry.blocks):,} intervals")
    return Bar(name, len(entry.blocks) / values, f"{len(entry.blocks):,} of {values:,}")
