"""Drafts by prefix: codes of equal length, of which one character after the other is hidden."""

from __future__ import annotations

import re

from unveil.drafts.values import Paths, Proposal, UnfitError, Values

LONGEST = 40
"""Codes are not longer than this; texts are."""
CODE_NAMES = re.compile(r"(^|[_\W])(zip|zip-?code|postal|post-?code|plz|fips|icd\d*|naics|sic|code)($|[_\W])", re.I)
_CODE = re.compile(r"(?=.*\d)[0-9A-Z]+([-. /][0-9A-Z]+)*", re.ASCII)


def by_prefix(values: Values, *, asked: bool) -> Proposal:
    """All values are codes of one length; some begin alike."""
    codes = sorted(values.counts)
    length = len(codes[0])
    if odd := [code for code in codes if len(code) != length]:
        raise UnfitError(f"{codes[0]!r} and {odd[0]!r} are not of the same length")
    if length > LONGEST:
        raise UnfitError(f"{codes[0]!r} is longer than {LONGEST} characters")
    if not asked:
        _check_codes(values, codes)
    starts = [size for size in range(1, length) if len({code[:size] for code in codes}) < len(codes)]
    paths: Paths = {code: tuple(code[:size] + "*" * (length - size) for size in starts) for code in codes}
    if not starts:
        raise UnfitError("no two codes begin alike")
    return Proposal(paths, f"all {len(codes):,} values are codes of {length} characters, such as {codes[0]!r}")


def _check_codes(values: Values, codes: list[str]) -> None:
    """Digits alone are a number, unless they begin with a zero or the column is called a code."""
    if odd := [code for code in codes if not _CODE.fullmatch(code)]:
        raise UnfitError(f"the value {odd[0]!r} does not look like a code")
    digits = all(code.isdigit() for code in codes)
    zeros = len(codes[0]) > 1 and any(code.startswith("0") for code in codes)
    if digits and not zeros and not CODE_NAMES.search(values.attribute):
        raise UnfitError("the values are plain numbers")
