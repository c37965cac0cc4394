"""What a release must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class KAnonymity:
    """TDR, Definition 1: every group on the quasi-identifier has at least k records."""

    kind: ClassVar[str] = "k-anonymity"
    quasi_identifier: tuple[str, ...]
    k: int

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this requirement."""
        return self.quasi_identifier

    def implies(self, other: KAnonymity) -> bool:
        """Whether a table that satisfies this requirement satisfies the other.

        A group on a subset of the attributes is a union of groups on all of them, so it is at least as large.
        """
        return set(other.quasi_identifier) <= set(self.quasi_identifier) and other.k <= self.k

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Every combination of released values of {{{', '.join(self.quasi_identifier)}}} "
            f"is shared by at least {self.k:,} records."
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest, in the words of the spec."""
        return {"kind": self.kind, "quasi-identifier": list(self.quasi_identifier), "k": self.k}


def without_redundant(requirements: Sequence[KAnonymity]) -> tuple[KAnonymity, ...]:
    """The requirements that no other one implies; of two equal ones the first."""
    kept: list[KAnonymity] = []
    for place, requirement in enumerate(requirements):
        stronger = [
            other
            for index, other in enumerate(requirements)
            if index != place and other.implies(requirement) and (index < place or not requirement.implies(other))
        ]
        if not stronger:
            kept.append(requirement)
    return tuple(kept)
