"""The claims of a differentially private release."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt

from unveil.limits import COLUMNS
from unveil.verifier.parts import Claims, Discretization, Holds, Masked, MaskedEntry, Name, Part, Suppression

COUNT = "count"
LARGEST_COUNT = 2**63 - 1
LONGEST = 2000
"""How many characters a fraction may have: more than a float needs, and less than Python refuses to read."""


def _lowest_terms(text: str) -> str:
    """One amount, one text: two texts that differ are two amounts."""
    if str(Fraction(text)) != text:
        raise ValueError(f"it is {Fraction(text)} in lowest terms")
    return text


Amount = Annotated[
    str,
    Field(pattern=r"\A[1-9][0-9]*(/[1-9][0-9]*)?\z", max_length=LONGEST),
    AfterValidator(_lowest_terms),
]
"""A fraction above 0, such as `1/10`."""


class DifferentialPrivacy(Part):
    """What one record may change."""

    kind: Literal["differential-privacy"]
    epsilon: Amount


class Charge(Part):
    """A charge to the privacy budget."""

    purpose: str
    epsilon: Amount
    composition: Literal["sequential", "parallel"]

    @property
    def amount(self) -> Fraction:
        """What was charged."""
        return Fraction(self.epsilon)


class DiffGenManifest(Claims):
    """All claims of a release of noisy counts. How many rows or records there were is private, so no key says it."""

    private: bool
    requirements: list[DifferentialPrivacy] = Field(min_length=1, max_length=1)
    classes: list[Name]
    masking: Mapping[Name, MaskedEntry] = Field(max_length=COLUMNS)
    specializations: NonNegativeInt
    utility: Literal["max", "infogain"]
    choice: Literal["exponential", "permute-and-flip"]
    budget: Literal["full", "paper"]
    ledger: list[Charge] = Field(min_length=1)
    cells: PositiveInt
    threshold: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class and the counts."""
        attributes: list[tuple[str, Holds]] = [(name, "labels") for name in self.masking]
        return [*attributes, (self.class_, self.class_holds), (COUNT, "counts")]

    @property
    def epsilon(self) -> Fraction:
        """The whole budget."""
        return Fraction(self.requirements[0].epsilon)

    @property
    def numbers(self) -> dict[str, Discretization]:
        """The attributes that are split at drawn places."""
        return {name: entry for name, entry in self.masking.items() if isinstance(entry, Discretization)}

    @property
    def labels(self) -> dict[str, list[str]]:
        """What each column of a cell may hold: the blocks of the attributes, and the classes."""
        return {**{name: block_labels(entry) for name, entry in self.masking.items()}, self.class_: self.classes}


def block_labels(entry: Masked) -> list[str]:
    """The blocks of a cut. Without a taxonomy, either all values are hidden in one block or each is one."""
    if isinstance(entry, Suppression):
        return entry.disclosed or [entry.marker]
    return [block.label for block in entry.blocks]


def exact_text(number: Fraction | int) -> str:
    """A number as it reads in a finding; one that nobody would read to its end is rounded."""
    top, bottom = number.numerator, number.denominator
    if max(abs(top), bottom) < 10**24:
        return f"{top:,}" if bottom == 1 else f"{top}/{bottom}"
    context = Context(prec=6, Emin=-(10**9), Emax=10**9)
    return f"about {context.divide(Decimal(top), Decimal(bottom))}"
