"""Drafts by place: countries by region of the world, US states by division, subdivisions by country.

Names and codes come from `pycountry` (ISO 3166), which knows no regions; these are in `data/places.toml`.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from unveil.drafts.values import Paths, Proposal, UnfitError, Values

LISTS_MISSING = "names of countries were not looked up, since the extra 'countries' (pycountry) is not installed"
UNKNOWN = "Not recognised"
ENOUGH = 0.75
"""The share of values that must be recognised for a guess."""

Places = dict[str, tuple[str, ...]]
"""The labels above a place, by what it is called."""


def has_lists() -> bool:
    """Whether the package with the code lists is there."""
    return importlib.util.find_spec("pycountry") is not None


def by_places(values: Values, *, asked: bool) -> Proposal:
    """Most values are countries, US states or subdivisions; others go under a label of their own."""
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
    others = sorted(set(values.counts) - set(paths))
    paths |= dict.fromkeys(others, (UNKNOWN,))
    return Proposal(paths, f"{len(recognised):,} of {len(paths):,} values are {kind}{_missed(others)}")


def _missed(others: list[str]) -> str:
    if len(others) == 1:
        return f"; {others[0]!r} is not recognised"
    return f"; the others are under {UNKNOWN!r}" if others else ""


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
def _data() -> dict[str, Any]:
    return tomllib.loads((files("unveil") / "data" / "places.toml").read_text(encoding="utf-8"))


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
    return {**_grouped(_data()["world"]), **dict.fromkeys(_data()["without-region"].split(), ())}


@cache
def _countries(numeric: bool) -> Places:
    """Countries by name, by alpha-2 and alpha-3 code, and by number if digits may be codes."""
    import pycountry

    known: Places = {spelled(name): regions()[code] for name, code in _data()["aliases"].items()}
    for country in pycountry.countries:
        above = regions().get(country.alpha_2, ())
        known |= dict.fromkeys([*map(spelled, _names(country)), country.alpha_2, country.alpha_3], above)
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


def _names(country: Any) -> Iterator[str]:
    for field in ("name", "official_name", "common_name"):
        if name := getattr(country, field, None):
            yield name


@cache
def _states() -> Places:
    """US states by name, by postal code and by ISO code."""
    import pycountry

    divisions = _grouped(_data()["united-states"])
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
