"""What the columns of a release hold: how many records have each label, and how much a label still tells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.evaluate.information import block_penalties
from unveil.masking import AsIs, ColumnMasking, Suppression, dictionary_of
from unveil.release import DiffGenManifest, Release
from unveil.report.drawings import Bar, Bars
from unveil.report.figures import Figure
from unveil.schema import COUNT


def label_shares(release: Release, name: str) -> dict[str, float]:
    """The share of the records that hold each label of a masked column; noisy counts count as they stand."""
    manifest = release.manifest
    weight = COUNT if isinstance(manifest, DiffGenManifest) else manifest.weight
    distinct, counts = release.counted
    labels = dictionary_of(distinct[name])
    if weight is not None:
        counts = counts * distinct[weight].to_numpy()
    sums = np.bincount(labels.indices.to_numpy(), weights=counts, minlength=len(labels.dictionary))
    total = sums.sum() or 1
    return {str(label): float(held / total) for label, held in zip(labels.dictionary.to_pylist(), sums, strict=True)}


def label_count(entry: ColumnMasking) -> int | None:
    """How many labels a masked column can hold, by its manifest alone; None for one that is released as it is."""
    if isinstance(entry, AsIs):
        return None
    return len(entry.disclosed) + 1 if isinstance(entry, Suppression) else len(entry.blocks)


def kept(release: Release, name: str) -> float:
    """How much of an attribute is kept: 0 fully masked, 1 as it was.

    Taxonomy labels and intervals: 1 − NCP. Suppression: the share of the records whose value is disclosed, since how
    many values are hidden is not told.
    """
    entry = release.masking[name]
    if isinstance(entry, AsIs):
        return 1.0
    shares = label_shares(release, name)
    if isinstance(entry, Suppression):
        return sum(share for label, share in shares.items() if label != entry.marker)
    costs = block_penalties(entry)
    return 1 - sum(share * costs[label] for label, share in shares.items())


def kept_chart(release: Release, figure: Figure) -> Bars:
    """The information kept of every attribute."""
    return Bars.of("Information kept per attribute", list(_kept_bars(release, figure)))


def _kept_bars(release: Release, figure: Figure) -> Iterator[Bar]:
    for name in release.masking:
        labels = label_count(release.masking[name])
        if labels is None:
            yield Bar(name, 1.0, "as it is")
        elif labels == 1:
            yield Bar(name, 0.0, "nothing")
        else:
            yield Bar(name, *figure(max(0.0, min(1.0, kept(release, name)))))
