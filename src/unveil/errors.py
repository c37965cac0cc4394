"""Errors that a user can fix.

The tree of exceptions::

    UnveilError
    ├── SpecError          the spec file, or a spec given as an object
    ├── TaxonomyError      a taxonomy file
    ├── TableError         the table: its file, its columns, its values
    ├── RequirementError   a requirement that no release of this table can satisfy
    ├── BudgetError        a privacy budget that is used up
    ├── EngineError        an engine that cannot run here, or not on this table
    └── ReleaseError       a release folder, or another output that cannot be written
        └── UnverifiedError    a release with a claim that does not hold

There is also one warning, `UnchargedWarning`: a private release whose cost is not in a ledger.

Each message is one sentence that names the file, the attribute, the rule and the value. The command line prints it
and exits with 2, and nothing has been written. `BrokenPromiseError` is not in the tree: only a bug in `unveil` raises
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

WORD = re.compile(r"[\w.-]+")
"""A name that needs no quotes in a sentence."""


class UnveilError(Exception):
    """Base of all errors that a user can fix."""


class SpecError(UnveilError):
    """The spec is invalid."""


class TaxonomyError(UnveilError):
    """A taxonomy is not a tree of distinct labels."""


class TableError(UnveilError):
    """The table cannot be read or does not fit the spec."""


class RequirementError(UnveilError):
    """No release of this table can satisfy the requirement."""


class BudgetError(UnveilError):
    """A draw or a release would cost more than is left of its privacy budget."""


class EngineError(UnveilError):
    """An engine cannot run here, or cannot count this table."""


class UnchargedWarning(UserWarning):
    """A private release whose cost is not in a ledger, so its owner must keep count."""


class ReleaseError(UnveilError):
    """A release cannot be read, or an output cannot be written."""


class UnverifiedError(ReleaseError):
    """A claim of the release does not hold, so there is no report about it."""


class BrokenPromiseError(Exception):
    """A bug in `unveil`: the release would have broken its guarantee, so nothing is released."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause that suggests the nearest known word; empty if none is near.

    Near means that a typo explains the difference: at most one letter in three is wrong, missing, added or swapped
    with its neighbour. A short word may have one wrong letter, but not its only one.
    """
    # Imported here because only errors need it.
    from rapidfuzz.distance import OSA

    def slips(name: str) -> int:
        return OSA.distance(word.casefold(), name.casefold())

    def near(name: str) -> bool:
        longer = max(len(word), len(name))
        return slips(name) <= max(1, longer // 3) and slips(name) < longer

    nearest = min(filter(near, known), key=slips, default=None)
    return "" if nearest is None else f"; did you mean {nearest!r}?"


def listed(words: Iterable[str], most: int = 8) -> str:
    """The words in quotes; the tail of a long list is counted, not printed."""
    words = list(words)
    shown = ", ".join(repr(word) for word in words[:most])
    return f"{shown} and {len(words) - most:,} more" if len(words) > most else shown


def braced(names: Sequence[str], most: int | None = None) -> str:
    """Attributes as a set; with `most`, the tail of a long one is counted, not printed."""
    shown = [quoted(name) for name in names]
    if most is not None and len(names) > most:
        shown = [*shown[: most - 1], f"{len(names) - most + 1} more"]
    return f"{{{', '.join(shown)}}}"


def quoted(name: str) -> str:
    """A name in a sentence, in quotes unless it is one word, so that no name reads as part of the sentence."""
    return name if WORD.fullmatch(name) else repr(name)


def named(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(words: Sequence[str], room: int = 76) -> str:
    """As many of the words as fit on one line."""
    line = " · ".join(words)
    return line if len(line) <= room else line[: room - 1].rsplit(" · ", 1)[0] + " · …"


def count_text(count: int, noun: str) -> str:
    """A count as it reads in a sentence: `1 row`, `2,000 rows`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def rows_text(count: int) -> str:
    """A count of rows as it reads in a sentence."""
    return count_text(count, "row")


def records_text(count: int) -> str:
    """A count of records as it reads in a sentence."""
    return count_text(count, "record")
