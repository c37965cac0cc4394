"""What the records that a search leaves out buy: the same search with and without leaving out any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil.errors import count_text, records_text
from unveil.refine import JointSearch


@dataclass(frozen=True)
class Ended:
    """A joint search at its end."""

    steps: int
    bits: float
    """What its refinements gain together, over all records."""
    labels: dict[str, int]
    """How many labels of each attribute groups hold."""
    left_out: int


def ended(search: JointSearch, steps: int, bits: float) -> Ended:
    """What a search has come to, by so many steps that gain so many bits."""
    labels: dict[str, set[int]] = {}
    for partition in search.partitions:
        live = np.flatnonzero(partition.live.rows)
        for column, attribute in enumerate(partition.attributes.tolist()):
            held = labels.setdefault(search.blocks.hierarchies[attribute].attribute.name, set())
            held.update(np.unique(partition.blocks.rows[live, column]).tolist())
    counts = {name: len(held) for name, held in labels.items()}
    return Ended(steps, bits, counts, int(search.left_out(0)[0]))


@dataclass(frozen=True)
class Bought:
    """What the records left out buy."""

    share: str
    """How many may be left out."""
    records: int
    """How many records there are."""
    without: Ended
    """The search that leaves out nothing."""
    found: Ended

    @property
    def labels(self) -> dict[str, int]:
        """How many more labels the attributes get, where that changes. The search is greedy: some may get fewer."""
        more = {name: count - self.without.labels[name] for name, count in self.found.labels.items()}
        return {name: count for name, count in more.items() if count}

    def sentence(self) -> str:
        """How many records are left out, and what that buys."""
        out = self.found.left_out
        if not out:
            return f"No record is left out, though {self.share} may be."
        verb = "is" if out == 1 else "are"
        told = f"{out:,} of {records_text(self.records)} {verb} left out ({self.share} may be)"
        change = [f"{self.without.steps:,} → {count_text(self.found.steps, 'refinement')}"]
        change += [
            f"{count:+,} {'label' if abs(count) == 1 else 'labels'} of {name}" for name, count in self.labels.items()
        ]
        bits = f"{self.without.bits / self.records:.4f} → {self.found.bits / self.records:.4f}"
        return f"{told}, which buys {', '.join(change)}, and {bits} bits of information per record."

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "records": self.found.left_out,
            "share": self.share,
            "steps": {"before": self.without.steps, "after": self.found.steps},
            "bits": {"before": self.without.bits, "after": self.found.bits},
            "labels": self.labels,
            "sentence": self.sentence(),
        }
