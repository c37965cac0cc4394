"""What a manifest states of a requirement: keys, types and ranges, and the columns that it is about."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from unveil.errors import rows_text
from unveil.limits import COLUMNS
from unveil.verifier.columns import Column, Groups, group, missing
from unveil.verifier.data import Data
from unveil.verifier.findings import BrokenClaimError, Finding
from unveil.verifier.holdings import Holdings, count_holdings
from unveil.verifier.parts import MANIFEST, PARQUET, Name, Part, Released
from unveil.verifier.refinement import RefinementManifest

Stated = dict[str, Any]
Names = Annotated[list[Name], Field(min_length=1, max_length=COLUMNS)]
Texts = Annotated[list[Name], Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]
WORD = re.compile(r"[\w.-]+")
"""A name that cannot be mistaken for words of the sentence; any other is quoted."""


class Statement(Part):
    """A requirement as a manifest states it. Each kind is a subclass."""

    kind: str
    role: ClassVar[Literal["quasi-identifier", "channel"]] = "quasi-identifier"
    """What the manifest calls the columns that it groups by."""
    at_least: ClassVar[frozenset[str]] = frozenset()
    at_most: ClassVar[frozenset[str]] = frozenset()
    """The keys that ask for more when they are higher, and when they are lower."""
    free: ClassVar[frozenset[str]] = frozenset()
    """The keys that two statements of the same strictness may differ in."""
    category: ClassVar[bool] = False
    """Whether it names values, which only a category has: a limit on 40 is not one on 40.0."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns that it groups by."""

    @abstractmethod
    def findings(self, table: Table) -> Iterator[Finding]:
        """The groups that break it, recounted."""

    @abstractmethod
    def sentence(self) -> str:
        """What a reader is promised, in the words of `docs/release.md`."""

    def as_strict_as(self, asked: Statement, held: Sequence[str]) -> bool:
        """Whether it is the other statement on the same columns, and at least as strict.

        Args:
            asked: What the spec says.
            held: The sensitive values that the release holds.
        """
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
            BrokenClaimError: They are not on a set of masked columns.
        """
        return group(self._masked(statement), self.data.weights)

    def holdings(self, statement: Any) -> Holdings:
        """What the groups hold of the sensitive attribute.

        Raises:
            BrokenClaimError: The columns are not masked, or the sensitive one is not released as it is, or has gaps.
        """
        sensitive = self._sensitive(statement, statement.sensitive)
        return count_holdings(self._masked(statement), sensitive, self.data.weights)

    def _masked(self, statement: Statement) -> list[Column]:
        problems = [f"{MANIFEST}: {self.place} names {problem}." for problem in self._unmasked(statement.names)]
        if problems:
            raise BrokenClaimError(Finding(statement.role, problem) for problem in problems)
        return [self.data.columns[name] for name in statement.names]

    def _unmasked(self, names: Sequence[str]) -> Iterator[str]:
        """The class is released as it is, whatever else it is called."""
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
        """The sensitive column. It is inside no other channel or quasi-identifier: those are masked, and it is not."""
        entry = self.manifest.masking.get(name)
        if statement.category and isinstance(entry, Released) and entry.type != "category":
            message = f"{MANIFEST}: {self.place} limits values of {name!r}, which is a {entry.type}."
            raise BrokenClaimError([Finding("sensitive", message)])
        problem = None
        if name == self.manifest.class_:
            problem = "is the class"
        elif name in statement.names:
            problem = f"is in its own {statement.role}"
        elif entry is None:
            problem = "is not an attribute of the release"
        elif not isinstance(entry, Released):
            problem = f"is masked by {entry.kind}, so that its shares cannot be counted"
        if problem is not None:
            message = f"{MANIFEST}: {self.place} protects {name!r}, which {problem}."
            raise BrokenClaimError([Finding("sensitive", message)])
        column = self.data.columns[name]
        count = self.data.rows_of(missing(column.values)[column.codes])
        if count:
            message = f"{PARQUET}: the sensitive column {name!r} of {self.place} has no value in {rows_text(count)}."
            raise BrokenClaimError([Finding("missing", message)])
        return column


def names_text(names: Sequence[str]) -> str:
    """A set of columns in a sentence."""
    return "{" + ", ".join(map(name_text, names)) + "}"


def name_text(name: str) -> str:
    """A column in a sentence."""
    return name if WORD.fullmatch(name) else repr(name)


def number_text(number: float) -> str:
    """A number in a sentence."""
    return str(int(number)) if number == int(number) else repr(number)


def percent(share: float) -> str:
    """Exact: a share of 1e-9 is not 0%."""
    return f"{(Decimal(str(share)) * 100).normalize():f}%"
