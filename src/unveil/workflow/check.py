"""Check: whether a spec fits its table and whether its requirements can hold at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unveil.schema import KAnonymity, Spec, load_spec, without_redundant
from unveil.tables import Table, load_table
from unveil.workflow.publish import SpecLike


@dataclass(frozen=True)
class Fit:
    """What a check found. That there is one says that the spec fits and that a release exists."""

    spec: Spec
    table: Table

    @property
    def redundant(self) -> tuple[KAnonymity, ...]:
        """Requirements that others imply."""
        kept = without_redundant(self.spec.requirements)
        return tuple(requirement for requirement in self.spec.requirements if requirement not in kept)

    @property
    def as_is(self) -> tuple[str, ...]:
        """Attributes that no requirement holds and that would be released as they are."""
        described = [item.name for item in self.spec.released if item.name not in self.spec.masked]
        return (*described, *self.table.others.column_names)

    @property
    def observed(self) -> tuple[str, ...]:
        """Attributes whose domain nobody declared."""
        return tuple(item.name for item in self.spec.released if not item.declared)


def check(table: Any, spec: SpecLike | None = None) -> Fit:
    """Reads spec and table; raises the error that `publish` would raise."""
    checked = load_spec(table if spec is None else spec)
    return Fit(checked, load_table(checked, None if spec is None else table))
