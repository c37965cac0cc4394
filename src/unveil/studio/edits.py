"""Edits of a spec: what the page does, done to the TOML document so that comments and order stay as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import tomlkit
from tomlkit.items import AoT, Item, Table

from unveil.errors import SpecError

Content = MutableMapping[str, Any]
Path = Sequence[str | int]
GUESS = re.compile(r"\bguess\b")
KEYS_OF = {
    "number": {"kind", "range", "whole", "step", "missing", "weight", "keep", "finest"},
    "date": {"kind", "range", "missing", "weight", "keep", "finest"},
    "category": {"kind", "values", "taxonomy", "labels", "missing", "weight", "keep", "finest", "derive"},
}
"""The keys that stay when an attribute becomes of another kind, as far as it has them."""
PRIVATE = "differential-privacy"
STEERING = ("weight", "keep", "finest")
"""Keys that only refinement knows."""


def put(document: Content, path: Path, value: Any) -> None:
    """Sets a key, and takes the mark of a guess from its line: the owner has decided."""
    *way, last = path
    place = _inner(document, way, make=True)
    if isinstance(place, MutableSequence):
        place[_index(place, last)] = value
        return
    place[str(last)] = value
    _decided(place, str(last))


def remove(document: Content, path: Path) -> None:
    """Removes a key or an entry of a list; what is not there is not missed."""
    *way, last = path
    place = _inner(document, way, make=False)
    if isinstance(place, MutableSequence):
        del place[_index(place, last)]
    elif place is not None and str(last) in place:
        del place[str(last)]


def require(document: Content, requirement: Mapping[str, Any]) -> None:
    """Adds a requirement."""
    held = document.get("require")
    if held is None or not len(held):
        held = tomlkit.aot()
        document["require"] = held
    if isinstance(held, AoT) and len(held):
        held[-1].add(tomlkit.nl())
    held.append(_table(requirement) if isinstance(held, AoT) else dict(requirement))


def known(document: Content, column: str, requirement: int, *, on: bool) -> None:
    """Puts a column into the attributes of a requirement, or takes it out."""
    held = _requirements(document)
    section = held[_index(held, requirement)]
    key = "channel" if "channel" in section else "quasi-identifier"
    names = section.get(key)
    if names is None:
        raise SpecError(f"requirement {requirement + 1} is about no quasi-identifier.")
    if on and column not in names:
        names.append(column)
    elif not on:
        _drop(names, column)


def role(document: Content, column: str, word: str, kind: str) -> None:
    """Makes a column the class, a person's number, a weight of rows or of a survey, an identifier or an attribute."""
    table, sections = document["table"], _attributes(document)
    before = table.get("class")
    _leave(table, column)
    if word in ("class", "person", "weight", "identifier", "survey-weight"):
        for requirement in _requirements(document):
            for key in ("quasi-identifier", "channel"):
                _drop(requirement.get(key, []), column)
    if word == "class":
        if column in sections:
            del sections[column]
        table["class"] = column
        if isinstance(before, str) and before != column:
            _become(sections, before, {"kind": "category"})
    elif word == "person":
        table["person"] = [*_names(table.get("person")), column]
        _become(sections, column, {"role": "identifier"})
    elif word == "weight":
        table["weight"] = column
        if column in sections:
            del sections[column]
    else:
        _become(sections, column, {"kind": kind} if word == "attribute" else {"role": word})
    _decided(table, "class")


def kind(document: Content, column: str, word: str) -> None:
    """Makes an attribute of another kind; keys without a meaning for it go."""
    sections = _attributes(document)
    section = sections.get(column)
    if section is None:
        _become(sections, column, {"kind": word})
        return
    _keep_only(section, KEYS_OF[word])
    for key in ("keep", "finest"):
        if key in section and section.get("kind") != word:
            del section[key]
    section["kind"] = word
    _decided(section, "kind")
    _decided(sections, column)


def labels(document: Content, column: str, names: Mapping[str, str]) -> None:
    """Names the codes of a column; without names it has its codes again."""
    sections = _attributes(document)
    section = sections.get(column)
    if section is None:
        _become(sections, column, {"kind": "category"})
        section = sections[column]
    section.pop("labels", None)
    section.pop("values", None)
    if names:
        section["kind"] = "category"
        _keep_only(section, KEYS_OF["category"])
        inline = tomlkit.inline_table()
        inline.update(names)
        section["labels"] = inline
    _decided(sections, column)


def method(document: Content, word: str, settings: Mapping[str, Any], epsilon: float) -> None:
    """Changes how a release is made. Differential privacy is the only requirement where it is one."""
    private = word != "refinement"
    for attribute in _attributes(document).values() if private else ():
        for key in STEERING:
            attribute.pop(key, None)
    held = [item for item in _requirements(document) if (item.get("kind") == PRIVATE) == private]
    if private and not held:
        held = [{"kind": PRIVATE, "epsilon": epsilon}]
    section: Any = tomlkit.aot()
    for item in held:
        section.append(item if isinstance(item, Table) else _table(item))
    if len(held):
        document["require"] = section
    else:
        document.pop("require", None)
    document["publish"] = _table({"method": word, **settings})


def declare(document: Content, column: str, domain: Mapping[str, Any]) -> None:
    """Declares the domain of a column: the owner says that it is public."""
    sections = _attributes(document)
    if column not in sections:
        _become(sections, column, {})
    for key, value in domain.items():
        sections[column][key] = value
    _decided(sections, column)


def read(document: Content) -> None:
    """Removes the mark of a draft: the owner has read the guesses."""
    document.pop("draft", None)


def _inner(document: Content, way: Path, *, make: bool) -> Any:
    place: Any = document
    for part in way:
        if isinstance(place, MutableSequence):
            place = place[_index(place, part)]
        elif str(part) in place:
            place = place[str(part)]
        elif make:
            place[str(part)] = tomlkit.table()
            place = place[str(part)]
        else:
            return None
        if not isinstance(place, MutableMapping | MutableSequence):
            raise SpecError(f"the spec has a value at {part!r}, not a section.")
    return place


def _index(place: Sequence[Any], part: str | int) -> int:
    if not isinstance(part, int) or isinstance(part, bool) or not 0 <= part < len(place):
        raise SpecError(f"the spec has no entry {part!r} here; it has {len(place)}.")
    return part


def _attributes(document: Content) -> Content:
    if "attributes" not in document:
        document["attributes"] = tomlkit.table(is_super_table=True)
    found: Content = document["attributes"]
    return found


def _requirements(document: Content) -> Sequence[Any]:
    found: Sequence[Any] = document.get("require", [])
    return found


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _leave(table: Content, column: str) -> None:
    """Takes a column out of the keys of `[table]` that name columns; the class must be named again."""
    if column in (people := _names(table.get("person"))):
        left = [name for name in people if name != column]
        table.pop("person", None)
        if left:
            table["person"] = left
    if table.get("weight") == column:
        table.pop("weight")


def _become(sections: Content, column: str, content: Mapping[str, Any]) -> None:
    """Gives a column a section with this content alone."""
    section = sections.get(column)
    if section is None:
        sections[column] = _table(content)
        return
    _keep_only(section, ())
    for key, value in content.items():
        section[key] = value
    _decided(sections, column)


def _keep_only(section: Content, keys: Collection[str]) -> None:
    for key in [key for key in section if key not in keys]:
        del section[key]


def _drop(names: Any, column: str) -> None:
    while column in names:
        del names[list(names).index(column)]


def _table(content: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in content.items():
        table.add(key, value)
    return table


def _decided(section: Any, key: str) -> None:
    """Removes a comment that calls the value of a key, or the section of that name, a guess."""
    if is_guess(section, key):
        trivia = section.item(key).trivia
        trivia.comment, trivia.comment_ws = "", ""


def is_guess(section: Any, key: str) -> bool:
    """Whether a comment on the line of a key, or on the head of a section, says that it is a guess."""
    item = section.item(key) if hasattr(section, "item") and key in section else None
    return isinstance(item, Item) and bool(GUESS.search(item.trivia.comment))


OPERATIONS: dict[str, Callable[..., None]] = {
    "set": put,
    "unset": remove,
    "require": require,
    "known": known,
    "role": role,
    "kind": kind,
    "labels": labels,
    "method": method,
    "declare": declare,
    "read": read,
}
"""What a page may do to a spec, by name."""
