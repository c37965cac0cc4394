"""What a verification finds, and how its sentences are put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction

from unveil.characters import visible

BEFORE, AFTER = 20, 40
"""How much of a sentence is shown around the place where it differs."""


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
        """One readable line, even if a name in the release holds a line break or an escape sequence."""
        return visible(f"{self.claim}: {self.message}")


@dataclass
class Verdict:
    """The result of a verification.

    Attributes:
        findings: The claims that do not hold.
        notes: What no verification can decide and a reader must judge; only if every claim holds.
    """

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class BrokenClaimError(Exception):
    """A claim is broken in a way that leaves nothing for later checks to work on.

    It never leaves the package: the start of a verification turns it into its findings.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__("a claim is broken")
        self.findings = list(findings)


def repeated(words: Iterable[str]) -> list[str]:
    """The words that appear more than once."""
    return [word for word, count in Counter(words).items() if count > 1]


def first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """The first place where two texts, or two byte strings, differ; at the latest, where one ends."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def first_line(error: BaseException) -> str:
    """What a reader says went wrong, as a clause of a sentence."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return str(reason).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def guarantee_findings(file: str, found: str, expected: str) -> Iterator[Finding]:
    """A finding if the guarantee of a manifest is not the expected one; it shows the first difference."""
    if found != expected:
        place = first_difference(found, expected)
        message = (
            f"the guarantee is not the sentence that its requirements make: from character {place + 1} on it reads "
            f"{_around(found, place)}, but it must read {_around(expected, place)}"
        )
        yield Finding("guarantee", f"{file}: {message}.")


def _around(text: str, place: int) -> str:
    start, end = max(place - BEFORE, 0), place + AFTER
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"


def number_text(number: float) -> str:
    """A number in a sentence."""
    return str(int(number)) if number == int(number) else repr(number)


def percent(share: float) -> str:
    """A share in a sentence, exactly: 1e-9 is not 0%."""
    return f"{(Decimal(str(share)) * 100).normalize():f}%"


def exact_text(number: Fraction | int) -> str:
    """A number as it reads in a finding; one too long to read is rounded."""
    top, bottom = number.numerator, number.denominator
    if max(abs(top), bottom) < 10**24:
        return f"{top:,}" if bottom == 1 else f"{top}/{bottom}"
    context = Context(prec=6, Emin=-(10**9), Emax=10**9)
    return f"about {context.divide(Decimal(top), Decimal(bottom))}"
