"""Errors in a spec file, each as one sentence: where, which value, and what it should be."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from unveil.errors import SpecError, did_you_mean, listed
from unveil.schema.derivations import SHAPE, Derivation
from unveil.schema.keys import Section
from unveil.schema.sections import KINDS, AttributeSection, MissingSection, PublishSection, SpecSections, TableSection

Place = Sequence[str | int]

RULES = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be finite",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "model_type": "must be a section with keys",
    "dict_type": "must be a section with keys",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "line": "must be one line of 1 to 200 visible characters",
    "fineness": "must be a number or a list of texts",
    "goal": "must be 'class', 'statistics' or a list of columns",
    "day": "must be a day such as 2024-01-31",
    "derivation": SHAPE,
    "threshold": "must be a number or a date",
    "labels": "must be the path of a csv file, or a table that has a text for each code",
    "wanted": "must be text or a number",
}


def read_sections(content: Mapping[str, Any], origin: str) -> SpecSections:
    """Checks the content of a spec file, and reports the first error in one sentence."""
    try:
        return SpecSections.model_validate(content, by_alias=True, by_name=False)
    except ValidationError as error:
        # An unknown key is often a misspelt one that is missing, so it is reported first.
        problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        raise SpecError(f"{origin}: {_sentence(problems[0])}") from None


def _sentence(problem: Mapping[str, Any]) -> str:
    loc: Place = problem["loc"]
    match problem["type"]:
        case "extra_forbidden":
            key = str(loc[-1])
            return f"{_place(loc[:-1])} has the unknown key {key!r}{did_you_mean(key, _known(loc[:-1])) or '.'}"
        case "missing":
            return f"{_place(loc[:-1])} lacks the key {str(loc[-1])!r}."
        case "union_tag_invalid":
            kind = str(problem["ctx"]["tag"])
            hint = did_you_mean(kind, KINDS) or f"; there are {listed(KINDS)}."
            return f"{_place(loc)} has the unknown kind {kind!r}{hint}"
        case "union_tag_not_found":
            return f"{_place(loc)} lacks the key 'kind'."
        case "too_short" | "too_long" if loc[-1] == "range":
            return f"{_place(loc)} is {toml_text(problem['input'])}, but it must be two numbers or dates, [from, to]."
        case "string_too_short":
            return f"{_place(loc)} is '', but it must not be empty."
        case "too_short":
            return f"{_place(loc)} is [], but it must not be empty."
        case "list_type" if list(loc) == ["require"]:
            return "[require] is in single brackets, but there can be several: write [[require]]."
        case "model_type" if loc[-1] == "missing":
            shape = '{ values = ["?"], rows = "drop" }'
            word = ", or as 'keep', 'drop' or 'refuse'" if loc[0] == "attributes" else ""
            return f"{_place(loc)} is {toml_text(problem['input'])}, but it must be written {shape}{word}."
    return f"{_value(loc, problem['input'])}, but it {_rule(problem)}."


def _rule(problem: Mapping[str, Any]) -> str:
    given = {key: f"{value:g}" if isinstance(value, float) else value for key, value in problem.get("ctx", {}).items()}
    rule = RULES.get(problem["type"], "cannot be read").format(**given)
    numeric = problem["type"] in ("int_type", "int_from_float", "float_type")
    return f"{rule}, without quotes" if numeric and isinstance(problem["input"], str) else rule


def _value(loc: Place, value: Any) -> str:
    """The place and its value; for an item of a list, the list and the item."""
    if loc and isinstance(loc[-1], int):
        return f"{_place(loc[:-1])} holds {toml_text(value)}"
    return f"{_place(loc)} is {toml_text(value)}"


def _place(loc: Place) -> str:
    """The place as a person would look for it: `[attributes.age] range`, `[[require]] number 2`."""
    match list(loc):
        case []:
            return "the file"
        case ["attributes", name, *rest]:
            head = f"[attributes.{toml_key(str(name))}]"
        case ["require", int() as number, *rest]:
            head = f"[[require]] number {number + 1}"
            rest = rest[1:] if rest and rest[0] in KINDS else rest
        case [section, *rest]:
            head = f"[{section}]"
    return " ".join([head, *(str(part) for part in rest)])


def toml_key(name: str) -> str:
    """A key as TOML writes it."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)


def toml_text(value: Any, most: int = 100) -> str:
    """A value as written in the file; only the beginning of a long one."""
    try:
        text = _written(value)
    except RecursionError:
        return "a value that is nested too deeply"
    return text if len(text) <= most else f"{text[:most]}…"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_written(item) for item in value)}]"
    return repr(value)


def _known(loc: Place) -> list[str]:
    """The keys known at a place, for a hint."""
    match list(loc):
        case ["table", "missing"] | ["attributes", _, "missing"]:
            section: type[Section] = MissingSection
        case ["table"]:
            section = TableSection
        case ["attributes", _]:
            section = AttributeSection
        case ["attributes", _, "derive"]:
            section = Derivation
        case ["require", _, str() as kind]:
            section = KINDS[kind]
        case ["publish"]:
            section = PublishSection
        case _:
            section = SpecSections
    return [field.alias or name for name, field in section.model_fields.items()]
