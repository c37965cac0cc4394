"""What a manifest states of a requirement: keys, types and ranges, one model per kind."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from unveil.verify.parts import Part

Stated = dict[str, Any]
Texts = Annotated[list[str], Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]


class KAnonymity(Part):
    """Every group on the quasi-identifier has at least k records."""

    kind: Literal["k-anonymity"]
    quasi_identifier: Texts = Field(alias="quasi-identifier")
    k: Count


class Confidence(Part):
    """In every group on the channel, the share of each of the values is at most the limit."""

    kind: Literal["confidence"]
    channel: Texts
    sensitive: str
    values: Texts
    limit: Share


class LDiversity(Part):
    """Every group holds l different sensitive values, or as much entropy as l equally frequent ones."""

    kind: Literal["l-diversity"]
    quasi_identifier: Texts = Field(alias="quasi-identifier")
    sensitive: str
    l: float = Field(ge=1, allow_inf_nan=False)  # noqa: E741 - the name of the model
    variant: Literal["distinct", "entropy"]


class TCloseness(Part):
    """The sensitive values of every group are distributed as in the whole release, up to a distance of t."""

    kind: Literal["t-closeness"]
    quasi_identifier: Texts = Field(alias="quasi-identifier")
    sensitive: str
    t: float = Field(ge=0, le=1)
    distance: Literal["equal", "ordered"]
    order: list[str] | None


class AlphaKAnonymity(Part):
    """Every group has at least k records, and the share of each of the values is at most alpha."""

    kind: Literal["alpha-k-anonymity"]
    quasi_identifier: Texts = Field(alias="quasi-identifier")
    k: Count
    sensitive: str
    values: Texts
    alpha: Share


Statement = KAnonymity | Confidence | LDiversity | TCloseness | AlphaKAnonymity

STATEMENTS: dict[str, type[Statement]] = {
    "k-anonymity": KAnonymity,
    "confidence": Confidence,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "alpha-k-anonymity": AlphaKAnonymity,
}
"""How each kind of requirement is stated."""
