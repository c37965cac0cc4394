"""A requirement as a manifest states it, and the released rows, in which it is recounted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from unveil.errors import braced, rows_text
from unveil.strangers import COLUMNS
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Name,
    Part,
    Released,
)
from unveil.verifier.columns import Column, Groups, group
from unveil.verifier.data import Data
from unveil.verifier.findings import BrokenClaimError, Finding
from unveil.verifier.holdings import Holdings, count_holdings
from unveil.verifier.manifests import RefinementManifest

Stated = dict[str, Any]
Names = Annotated[list[Name], Field(min_length=1, max_length=COLUMNS)]
Texts = Annotated[list[Name], Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Statement(Part):
    """A requirement as a manifest states it. Each kind is a subclass."""

    kind: str
    role: ClassVar[Literal["quasi-identifier", "channel"]] = "quasi-identifier"
    """The key of the columns that it groups by."""
    at_least: ClassVar[frozenset[str]] = frozenset()
    at_most: ClassVar[frozenset[str]] = frozenset()
    """The keys that ask for more when they are higher, and when they are lower."""
    free: ClassVar[frozenset[str]] = frozenset()
    """The keys that two statements of the same strictness may differ in."""
    takes: ClassVar[Literal["category", "number"] | None] = None
    """The only type that its sensitive column may have: one that names values takes a category, since a limit on 40
    does not limit 40.0."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns that it groups by."""

    @property
    def records(self) -> str:
        """The records of a group in words."""
        return f"the records that share a combination of released values of {braced(self.names)}"

    @abstractmethod
    def findings(self, table: Table) -> Iterator[Finding]:
        """The groups that break it, recounted."""

    @abstractmethod
    def sentence(self) -> str:
        """What the release promises, in the words of `docs/release.md`."""

    def as_strict_as(self, asked: Statement, held: Sequence[str]) -> bool:
        """Whether it is of the kind that is asked, on the same columns, and at least as strict on the values held."""
        if type(self) is not type(asked):
            return False
        keys = [key for key in type(self).model_fields if key not in self.free]
        return all(self._key_as_strict(key, getattr(self, key), getattr(asked, key)) for key in keys)

    def _key_as_strict(self, key: str, stated: Any, asked: Any) -> bool:
        if key in self.at_least:
            return bool(stated >= asked)
        if key in self.at_most:
            return bool(stated <= asked)
        if key == "values":
            return set(stated) >= set(asked)
        return set(stated) == set(asked) if isinstance(stated, list) else bool(stated == asked)


@dataclass(frozen=True)
class Table:
    """The released rows, for a requirement to count its groups in."""

    manifest: RefinementManifest
    data: Data
    place: str
    """How a finding names the requirement."""

    def groups(self, statement: Statement) -> Groups:
        """The groups that a requirement is about.

        Raises:
            BrokenClaimError: Its columns are not a set of masked columns.
        """
        return group(self._masked(statement), self.data.weights)

    def holdings(self, statement: Any) -> Holdings:
        """What the groups hold of the sensitive attribute.

        Raises:
            BrokenClaimError: The columns are not masked, or the sensitive one is masked or lacks values.
        """
        sensitive = self._sensitive(statement, statement.sensitive)
        return count_holdings(self._masked(statement), sensitive, self.data.weights)

    def _masked(self, statement: Statement) -> list[Column]:
        problems = [f"{MANIFEST}: {self.place} names {problem}." for problem in self._unmasked(statement.names)]
        if problems:
            raise BrokenClaimError(Finding(statement.role, problem) for problem in problems)
        return [self.data.columns[name] for name in statement.names]

    def _unmasked(self, names: Sequence[str]) -> Iterator[str]:
        """What is wrong with the columns. The class is released as it is, whatever else the manifest says."""
        masked, seen = self.manifest.masked, set[str]()
        for name in names:
            if name in seen:
                yield f"{name!r} twice"
            elif name == self.manifest.class_:
                yield f"{name!r}, which is the class"
            elif name not in self.manifest.masking:
                yield f"{name!r}, which is not an attribute of the release"
            elif name not in masked:
                yield f"{name!r}, which is released as it is"
            seen.add(name)

    def _sensitive(self, statement: Statement, name: str) -> Column:
        """The sensitive column. It is in no channel or quasi-identifier: those are masked, and it is not."""
        entry = self.manifest.masking.get(name)
        problem = ""
        if name == self.manifest.class_:
            problem = f"protects {name!r}, which is the class"
        elif name in statement.names:
            problem = f"protects {name!r}, which is in its own {statement.role}"
        elif entry is None:
            problem = f"protects {name!r}, which is not an attribute of the release"
        elif not isinstance(entry, Released):
            problem = f"protects {name!r}, which is masked by {entry.kind}, so that its shares cannot be counted"
        elif statement.takes == "category" != entry.type:
            problem = f"limits values of {name!r}, which is a {entry.type}"
        elif statement.takes == "number" != entry.type:
            problem = f"measures {name!r}, which is not a number"
        if problem:
            raise BrokenClaimError([Finding("sensitive", f"{MANIFEST}: {self.place} {problem}.")])
        if count := self.data.gaps(name):
            message = f"{PARQUET}: the sensitive column {name!r} of {self.place} has no value in {rows_text(count)}."
            raise BrokenClaimError([Finding("missing", message)])
        return self.data.columns[name]
