"""The sentence that a reader gets: written again from the requirements, and compared as a whole.

The words are those of `docs/release.md`. The code that publishes has its own, and neither imports the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from pydantic import ValidationError

from unveil.verify.findings import Finding
from unveil.verify.parts import MANIFEST
from unveil.verify.refinement import RefinementManifest
from unveil.verify.statements import (
    STATEMENTS,
    AlphaKAnonymity,
    Confidence,
    KAnonymity,
    LDiversity,
    Stated,
    TCloseness,
)

WORD = re.compile(r"[\w.-]+")
"""A name that cannot be mistaken for words of the sentence; any other is quoted."""
BEFORE, AFTER = 20, 40
"""How much of a sentence is shown around the place where it differs."""


def check_guarantee(manifest: RefinementManifest) -> Iterator[Finding]:
    """The guarantee is the sentence that the requirements make, and not a word more.

    A requirement that cannot be read is a finding elsewhere, and nothing can be said of the guarantee then.
    """
    try:
        sentence = " ".join(sentence_of(stated) for stated in manifest.requirements)
    except (KeyError, ValidationError):
        return
    yield from differing(manifest.guarantee, sentence)


def differing(found: str, expected: str) -> Iterator[Finding]:
    """A finding where the guarantee of a manifest is not the expected one; it shows the first difference."""
    if found != expected:
        pairs = enumerate(zip(found, expected, strict=False))
        place = next((at for at, (one, other) in pairs if one != other), min(len(found), len(expected)))
        message = (
            f"the guarantee is not the sentence that its requirements make: from character {place + 1} on it reads "
            f"{_around(found, place)}, but it must read {_around(expected, place)}"
        )
        yield Finding("guarantee", f"{MANIFEST}: {message}.")


def sentence_of(stated: Stated) -> str:
    """A requirement as a sentence.

    Raises:
        KeyError: It is of an unknown kind.
        ValidationError: It does not have the shape of its kind.
    """
    statement = STATEMENTS[str(stated.get("kind"))].model_validate(stated)
    match statement:
        case KAnonymity(quasi_identifier=names, k=k):
            return _shared(names, k)
        case Confidence(channel=names, values=values, sensitive=sensitive, limit=limit):
            return f"Among {_records(names)}, {_held(values, sensitive, limit)}."
        case LDiversity(quasi_identifier=names, l=least, sensitive=sensitive, variant=variant):
            how = {"distinct": "different values", "entropy": "well represented values (entropy)"}[variant]
            records = _records(names).removeprefix("the")
            return f"The{records} hold at least {_number(least)} {how} of {_name(sensitive)}."
        case TCloseness(quasi_identifier=names, sensitive=sensitive, t=most, distance=distance):
            return (
                f"Among {_records(names)}, {_name(sensitive)} is distributed as in the whole release "
                f"up to a distance ({distance}) of {_number(most)}."
            )
        case AlphaKAnonymity(quasi_identifier=names, k=k, alpha=alpha, values=values, sensitive=sensitive):
            held = _held(values, sensitive, alpha)
            return f"{_shared(names, k)} {held[0].upper()}{held[1:]} of them."


def _shared(names: Sequence[str], k: int) -> str:
    return f"Every combination of released values of {_set(names)} is shared by at least {k:,} records."


def _records(names: Sequence[str]) -> str:
    return f"the records that share a combination of released values of {_set(names)}"


def _held(values: Sequence[str], sensitive: str, share: float) -> str:
    """Each value by itself has a bounded share."""
    which = "the value" if len(values) == 1 else "each of the values"
    return f"{which} {', '.join(map(repr, values))} of {_name(sensitive)} is held by at most {_percent(share)}"


def _set(names: Sequence[str]) -> str:
    return "{" + ", ".join(map(_name, names)) + "}"


def _name(name: str) -> str:
    return name if WORD.fullmatch(name) else repr(name)


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def _percent(share: float) -> str:
    """Exact: a share of 1e-9 is not 0%."""
    return f"{(Decimal(str(share)) * 100).normalize():f}%"


def _around(text: str, place: int) -> str:
    start, end = max(place - BEFORE, 0), place + AFTER
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"
