"""What a verification finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from unveil.characters import visible
from unveil.errors import count_text


@dataclass(frozen=True)
class Finding:
    """One claim of a release that does not hold.

    Attributes:
        claim: A short, stable name of the claim, such as `group-size`.
        message: One sentence that names the file, the column, the value and the numbers.
    """

    claim: str
    message: str

    def __str__(self) -> str:
        """One readable line, also where a name in the release holds a line break or an escape sequence."""
        return visible(f"{self.claim}: {self.message}")


@dataclass
class Verdict:
    """What a verification says.

    Attributes:
        findings: The claims that do not hold.
        notes: What no verification can decide, and a reader must judge; told where every claim holds.
    """

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def records_text(count: int) -> str:
    """A count of records as it reads in a sentence."""
    return count_text(count, "record")


def first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """The first place where two texts, or two byte strings, differ; where one ends, at the latest."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def first_line(error: BaseException) -> str:
    """What a reader says went wrong, as a clause of a sentence."""
    told = error.strerror if isinstance(error, OSError) and error.strerror else error
    return str(told).strip().partition("\n")[0].rstrip(".") or type(error).__name__


class BrokenClaimError(Exception):
    """A claim is broken in a way that leaves nothing for later checks to work on.

    It never leaves the package: whoever starts a verification turns it into its findings.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__("a claim is broken")
        self.findings = list(findings)
