"""What all sections of a spec file share: the spelling of keys and the types of values."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator
from pydantic_core import PydanticCustomError, PydanticKnownError

from unveil.characters import hidden_character
from unveil.schema.taxonomy import Taxonomy


def _bound(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str | datetime.date):
        raise PydanticCustomError("float_type", "neither a number nor a date")
    return value


def _tree(value: object) -> str | Taxonomy:
    if isinstance(value, str | Taxonomy):
        return value
    raise PydanticKnownError("string_type")


def _line(value: str) -> str:
    if 0 < len(value.strip()) <= len(value) <= LONGEST and hidden_character(value) is None:
        return value
    raise PydanticCustomError("line", "not a line of text")


def _day(value: object) -> str:
    """A TOML date, or the text of one, as text. A time stamp, which Python also calls a date, is refused."""
    try:
        day = datetime.date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        day = None
    if type(day) is not datetime.date:
        raise PydanticCustomError("day", "not a day")
    return day.isoformat()


def _fineness(value: Any) -> Any:
    """A number, a word, or a list of texts as a tuple. Which of them fits depends on the attribute."""
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return tuple(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PydanticCustomError("fineness", "not a fineness")
    return value


def _goal(value: Any) -> Any:
    if value in ("class", "statistics"):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise PydanticCustomError("goal", "not a goal")


def _one_or_several(value: Any) -> Any:
    """One name as a list of one."""
    return (value,) if isinstance(value, str) else _frozen(value)


def _labels(value: Any) -> Any:
    """The path of a file, or the label of each code."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and all(isinstance(part, str) for item in value.items() for part in item):
        return dict(value)
    raise PydanticCustomError("labels", "not labels")


def _frozen(value: Any) -> Any:
    """A list as a tuple, so that the section that holds it is hashable."""
    return tuple(value) if isinstance(value, list) else value


LONGEST = 200
"""How many characters a title or the name of an owner may have."""
Bound = Annotated[Any, BeforeValidator(_bound)]
"""An end of a range. Its type depends on the kind of the attribute, so it is checked with the attribute."""
Names = Annotated[tuple[str, ...], BeforeValidator(_frozen), Field(min_length=1)]
NameOrNames = Annotated[tuple[str, ...], BeforeValidator(_one_or_several), Field(min_length=1)]
"""A column, or several of them together."""
Share = Annotated[float, Field(gt=0, le=1)]
Size = Annotated[int, Field(ge=1, le=10**15)]
"""A number of records, which an array can hold."""
Line = Annotated[str, AfterValidator(_line)]
"""One line of text for a reader, without invisible characters."""
Day = Annotated[str, BeforeValidator(_day)]
AsFine = Annotated[Any, BeforeValidator(_fineness)]
"""How fine an attribute is. The rest is checked with the attribute."""
Purpose = Annotated[Any, BeforeValidator(_goal)]
Labels = Annotated[str | dict[str, str], PlainValidator(_labels)]
Tree = Annotated[str | Taxonomy, PlainValidator(_tree)]
"""The path of a taxonomy file; in a mapping also the taxonomy itself."""


class Section(BaseModel):
    """A section of the file. Unknown keys are errors, `"5"` is not a number, and dashes join words."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=lambda name: name.rstrip("_").replace("_", "-"),
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
    )
