"""The sentence that a reader gets: it promises what the requirements state, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from unveil.errors import braced
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

FIGURE = re.compile(r"[^\s{}]*[0-9{}][^\s]*")
"""A number, or the beginning of a set of attributes."""


def check_guarantee(manifest: RefinementManifest) -> Iterator[Finding]:
    """The guarantee names the attributes, values and numbers of every requirement, in order, and no other numbers.

    Wording is free, so that the words may change from version to version. A requirement that cannot be read is told
    elsewhere, and nothing can be said of the guarantee then.
    """
    try:
        parts = [(number, part) for number, stated in enumerate(manifest.requirements, 1) for part in _parts(stated)]
    except (KeyError, ValidationError):
        return
    sentence, rest, at = manifest.guarantee, [], 0
    for number, part in parts:
        place = sentence.find(part, at)
        if place < 0:
            message = f"the guarantee does not say {part} of requirement {number}: {sentence!r}"
            yield Finding("guarantee", f"{MANIFEST}: {message}.")
            return
        rest.append(sentence[at:place])
        at = place + len(part)
    more = FIGURE.search(" ".join([*rest, sentence[at:]]))
    if more:
        message = f"the guarantee speaks of {more[0]!r}, which no requirement states: {sentence!r}"
        yield Finding("guarantee", f"{MANIFEST}: {message}.")


def _parts(stated: Stated) -> Sequence[str]:
    """The attributes, numbers and values of a requirement, in the order in which its sentence has them."""
    statement = STATEMENTS[str(stated.get("kind"))].model_validate(stated)
    match statement:
        case KAnonymity(quasi_identifier=names, k=k):
            return [braced(names), f"{k:,}"]
        case Confidence(channel=names, values=values, sensitive=sensitive, limit=limit):
            return [braced(names), *map(repr, values), sensitive, _percent(limit)]
        case LDiversity(quasi_identifier=names, l=least, sensitive=sensitive):
            return [braced(names), _text(least), sensitive]
        case TCloseness(quasi_identifier=names, sensitive=sensitive, t=most):
            return [braced(names), sensitive, _text(most)]
        case AlphaKAnonymity(quasi_identifier=names, k=k, alpha=alpha, values=values, sensitive=sensitive):
            return [braced(names), f"{k:,}", _percent(alpha), *map(repr, values), sensitive]


def _text(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def _percent(share: float) -> str:
    return f"{_text(round(100 * share, 6))}%"
