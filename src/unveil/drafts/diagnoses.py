"""Drafts of diagnoses: codes of ICD-9-CM or ICD-10 under their category, ten of categories, and chapter.

Codes have different lengths, and zeros at their beginning may be lost: 10 is the category 010, not part of 110.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files

from unveil.drafts.values import ENOUGH, UNKNOWN, Paths, Proposal, UnfitError, Values, unrecognised

NAMES = re.compile(r"(^|[_\W])(icd\w*|diag\w*|dx\d*)($|[_\W])", re.I)
"""Names of columns that hold diagnoses."""
CODES = {
    "icd-9": re.compile(r"(?P<category>\d{1,3}|V\d{2}|E\d{3})(?P<rest>\.\d{1,2})?|(?P<bare>\d{4,5}|V\d{3,4}|E\d{4})"),
    "icd-10": re.compile(r"(?P<category>[A-Z]\d[0-9A-Z])(?P<rest>\.[0-9A-Z]{1,4})?|(?P<bare>[A-Z]\d[0-9A-Z]{2,5})"),
}
"""Codes with a dot, or all digits in one."""


def by_diagnoses(values: Values, *, asked: bool) -> Proposal:
    """Most values are codes of one revision; others go under their own label."""
    revision, known = recognised(values.counts)
    if not known or (not asked and len(known) < ENOUGH * len(values.counts)):
        raise UnfitError("no value is a code of ICD-9 or ICD-10")
    if not asked and not (NAMES.search(values.attribute) or any("." in code and code[0].isalpha() for code in known)):
        raise UnfitError("the column is not called a diagnosis")
    paths = _paths(known, revision)
    others = sorted(set(values.counts) - set(paths))
    paths |= dict.fromkeys(others, (UNKNOWN,))
    found = f"{len(known):,} of {len(paths):,} values are codes of {revision.upper()}"
    return Proposal(paths, f"{found}{unrecognised(others)}")


def recognised(codes: Collection[str]) -> tuple[str, dict[str, str]]:
    """The revision that most codes are of, and the category of each of these."""
    found = {revision: _categories(codes, revision) for revision in CODES}
    revision = max(found, key=lambda name: len(found[name]))
    return revision, found[revision]


def _categories(codes: Collection[str], revision: str) -> dict[str, str]:
    """A code without a dot is a category if all are short; otherwise its first characters are one."""
    found = {}
    for code in codes:
        match = CODES[revision].fullmatch(code.strip().upper())
        if match is None:
            continue
        bare = match["bare"]
        category = match["category"] or bare[: 4 if revision == "icd-9" and bare[0] == "E" else 3]
        category = category.zfill(3) if category.isdigit() else category
        if _chapter(category, revision) is not None:
            found[code] = category
    return found


def _chapter(category: str, revision: str) -> str | None:
    for span, title in _chapters()[revision].items():
        first, last = span.split("–")
        if len(category) == len(first) and first <= category <= last:
            return f"{span} {title}"
    return None


@cache
def _chapters() -> Mapping[str, Mapping[str, str]]:
    content: Mapping[str, Mapping[str, str]] = tomllib.loads(
        files("unveil.data").joinpath("icd.toml").read_text(encoding="utf-8")
    )
    return content


def _paths(known: Mapping[str, str], revision: str) -> Paths:
    """The labels above each code: its chapter, its ten of categories if the chapter has several, and its category."""
    chapter_of = {category: _chapter(category, revision) or UNKNOWN for category in known.values()}
    tens = {(chapter, category[:-1]) for category, chapter in chapter_of.items()}
    several = {chapter for chapter, _ in tens if sum(chapter == other for other, _ in tens) > 1}
    paths: Paths = {}
    for code, category in sorted(known.items(), key=lambda item: (chapter_of[item[1]], item[1], item[0])):
        chapter, start = chapter_of[category], category[:-1]
        paths[code] = (chapter, *([f"{start}0–{start}9"] if chapter in several else []), category)
    return paths
