"""Drafts by what labels say: bands of numbers, places, and codes of diagnoses.

Bands written as text, such as `[0-10)`, `5 to 9`, `under 5` and `65+`, are ordered and joined into broader bands.
Countries are drafted by region of the world, US states by division, subdivisions by country. Names and codes come from
`pycountry` (ISO 3166), which knows no regions; these are in `data/places.toml`.

Codes of ICD-9-CM or ICD-10 are drafted under their category, ten of categories, and chapter. They have different
lengths, and zeros at their beginning may be lost: 10 is the category 010, not part of 110.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

from unveil.drafts.values import ENOUGH, UNKNOWN, Paths, Proposal, UnfitError, Values
from unveil.schema import number_text

NAMES = re.compile(r"(^|[_\W])(icd\w*|diag\w*|dx\d*)($|[_\W])", re.I)
"""Names of columns that hold diagnoses."""
CODES = {
    "icd-9": re.compile(r"(?P<category>\d{1,3}|V\d{2}|E\d{3})(?P<rest>\.\d{1,2})?|(?P<bare>\d{4,5}|V\d{3,4}|E\d{4})"),
    "icd-10": re.compile(r"(?P<category>[A-Z]\d[0-9A-Z])(?P<rest>\.[0-9A-Z]{1,4})?|(?P<bare>[A-Z]\d[0-9A-Z]{2,5})"),
}
"""Codes with a dot, or all digits in one."""

NUMBER = r"(\d+(?:\.\d+)?)"
CHILDREN = 3
"""How many bands are joined into one."""
LISTS_MISSING = "names of countries were not looked up, since the extra 'countries' (pycountry) is not installed"


BETWEEN = re.compile(rf"[\[(]?\s*{NUMBER}\s*(?:-|–|to|,)\s*{NUMBER}\s*[\])]?(?: years)?", re.I)
BELOW = re.compile(rf"(?:under|below|less than|<)\s*{NUMBER}(?: years)?", re.I)
ABOVE = re.compile(rf"(?:over|above|>=?|≥)\s*{NUMBER}(?: years)?|{NUMBER}\s*(?:\+|and (?:above|over)|or more)", re.I)


class Band(NamedTuple):
    """A band: where it starts and ends, as far as its text says so."""

    start: float
    end: float | None
    text: str


def by_bands(values: Values, *, asked: bool) -> Proposal:
    """All values are bands of numbers, at least three; no two start at the same number."""
    bands = sorted((_band(text) for text in values.counts), key=lambda band: band.start)
    if len(bands) < CHILDREN:
        raise UnfitError("there are fewer than three bands")
    for one, other in pairwise(bands):
        if one.start == other.start:
            raise UnfitError(f"the bands {one.text!r} and {other.text!r} start at the same number")
    paths: Paths = {}
    _place(bands, (), paths)
    return Proposal(
        paths, f"all {len(paths):,} values are bands of numbers, from {bands[0].text!r} to {bands[-1].text!r}"
    )


def _band(text: str) -> Band:
    if (found := BETWEEN.fullmatch(text)) and float(found[1]) < float(found[2]):
        return Band(float(found[1]), float(found[2]), text)
    if found := BELOW.fullmatch(text):
        return Band(float("-inf"), float(found[1]), text)
    if found := ABOVE.fullmatch(text):
        return Band(float(found[1] or found[2]), None, text)
    raise UnfitError(f"the value {text!r} is not a band of numbers")


def _place(bands: Sequence[Band], above: tuple[str, ...], paths: Paths) -> None:
    """Neighbours are joined, three at a time from the top down."""
    if len(bands) <= CHILDREN:
        paths.update({band.text: above for band in bands})
        return
    size = -(-len(bands) // CHILDREN)
    for start in range(0, len(bands), size):
        part = bands[start : start + size]
        _place(part, above if len(part) == 1 else (*above, _label(part)), paths)


def _label(bands: Sequence[Band]) -> str:
    lo, hi = bands[0].start, bands[-1].end
    if hi is None:
        return "every band" if lo == float("-inf") else f"{number_text(lo)} and above"
    return f"up to {number_text(hi)}" if lo == float("-inf") else f"{number_text(lo)} to {number_text(hi)}"


def _with_others(values: Values, paths: Paths, kind: str) -> Proposal:
    """The values that are of a kind, with the paths above them, and all others under their own label."""
    others = sorted(set(values.counts) - set(paths))
    gone = f"; the others are under {UNKNOWN!r}" if others else ""
    if len(others) == 1:
        gone = f"; {others[0]!r} is not recognised"
    reason = f"{len(paths):,} of {len(paths) + len(others):,} values are {kind}{gone}"
    return Proposal(paths | dict.fromkeys(others, (UNKNOWN,)), reason)


Places = dict[str, tuple[str, ...]]
"""The labels above a place, by what it is called."""


def has_lists() -> bool:
    """Whether the package with the code lists is there."""
    return importlib.util.find_spec("pycountry") is not None


def by_places(values: Values, *, asked: bool) -> Proposal:
    """Most values are countries, US states or subdivisions; others go under their own label."""
    if not has_lists():
        raise UnfitError(LISTS_MISSING)
    if not asked and not any(character.isalpha() for text in values.counts for character in text):
        raise UnfitError("no value has a letter")
    lists = {"countries": _countries(asked), "US states": _states(), "subdivisions of countries": _subdivisions()}
    found = {
        kind: {text: known[name] for text in values.counts if (name := _called(text, known)) is not None}
        for kind, known in lists.items()
    }
    kind = max(found, key=lambda kind: len(found[kind]))
    recognised = found[kind]
    if not recognised or (not asked and len(recognised) < max(2, ENOUGH * len(values.counts))):
        raise UnfitError("no value is the name or the code of a country, a US state or a subdivision")
    paths: Paths = dict(sorted(recognised.items(), key=lambda item: (item[1], item[0])))
    return _with_others(values, paths, kind)


def _called(text: str, known: Places) -> str | None:
    """How a list calls a value: by its code as it is, or by its name however it is spelled."""
    if text in known:
        return text
    plain = spelled(text)
    return plain if plain in known else None


def spelled(name: str) -> str:
    """A name without case, accents and punctuation, so that `United-States` is `united states`."""
    letters = unicodedata.normalize("NFKD", name.casefold().replace("&", " and "))
    words = re.sub(r"[^\w\s]|_", " ", "".join(c for c in letters if not unicodedata.combining(c))).split()
    if words[:1] == ["the"]:
        words = words[1:]
    return " ".join("saint" if word == "st" and place == 0 else word for place, word in enumerate(words))


@cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((files("unveil") / "data" / name).read_text(encoding="utf-8"))


def _grouped(table: dict[str, dict[str, str]]) -> Places:
    """Codes to region and part of the region."""
    return {
        code: (region, part)
        for region, parts in table.items()
        for part, codes in parts.items()
        for code in codes.split()
    }


@cache
def regions() -> Places:
    """Region and sub-region of each country, by alpha-2 code."""
    places = _data("places.toml")
    return {**_grouped(places["world"]), **dict.fromkeys(places["without-region"].split(), ())}


@cache
def _countries(numeric: bool) -> Places:
    """Countries by name, by alpha-2 and alpha-3 code, and by number if digits may be codes."""
    import pycountry

    known: Places = {spelled(name): regions()[code] for name, code in _data("places.toml")["aliases"].items()}
    for country in pycountry.countries:
        above = regions().get(country.alpha_2, ())
        names = (getattr(country, field, None) for field in ("name", "official_name", "common_name"))
        known |= dict.fromkeys([*map(spelled, filter(None, names)), country.alpha_2, country.alpha_3], above)
        if numeric:
            known[country.numeric] = above
    for name, code in _short_names().items():
        known.setdefault(name, regions().get(code, ()))
    return known


def _short_names() -> dict[str, str]:
    """Names up to a comma or a bracket, as in `Iran, Islamic Republic of`, where these mean one country only."""
    import pycountry

    codes: dict[str, list[str]] = {}
    for country in pycountry.countries:
        codes.setdefault(spelled(re.split(r"[,(]", country.name)[0]), []).append(country.alpha_2)
    return {name: found[0] for name, found in codes.items() if len(found) == 1}


@cache
def _states() -> Places:
    """US states by name, by postal code and by ISO code."""
    import pycountry

    divisions = _grouped(_data("places.toml")["united-states"])
    known: Places = {}
    for state in pycountry.subdivisions:
        code = state.code.removeprefix("US-")
        if state.country_code == "US" and code in divisions:
            known |= dict.fromkeys([spelled(state.name), code, state.code], divisions[code])
    return known


@cache
def _subdivisions() -> Places:
    """Subdivisions of all countries by ISO code, under their country."""
    import pycountry

    countries = {country.alpha_2: country.name for country in pycountry.countries}
    return {
        item.code: (*regions().get(item.country_code, ()), countries[item.country_code])
        for item in pycountry.subdivisions
        if item.country_code in countries
    }


def by_diagnoses(values: Values, *, asked: bool) -> Proposal:
    """Most values are codes of one revision; others go under their own label."""
    revision, known = recognised(values.counts)
    if not known or (not asked and len(known) < ENOUGH * len(values.counts)):
        raise UnfitError("no value is a code of ICD-9 or ICD-10")
    if not asked and not (NAMES.search(values.attribute) or any("." in code and code[0].isalpha() for code in known)):
        raise UnfitError("the column is not called a diagnosis")
    return _with_others(values, _paths(known, revision), f"codes of {revision.upper()}")


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
    for span, title in _data("icd.toml")[revision].items():
        first, last = span.split("–")
        if len(category) == len(first) and first <= category <= last:
            return f"{span} {title}"
    return None


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
