"""Characters that deceive a reader: invisible ones, ones that reorder text, and ones that look like others.

The name `age` with a zero-width space is a different name that looks the same, and an escape sequence can overwrite
what a terminal printed before. Such hidden characters are refused in a release, and printed as their code points
everywhere. Look-alikes are too common to refuse; they cause a warning.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib.resources import files

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters (including bidirectional ones), lone surrogates, and line separators."""
IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Other invisible characters: Unicode's Default_Ignorable_Code_Point, and the empty braille pattern."""

BREAKS = dict.fromkeys(map(ord, "\t\n\r"), " ")
"""White space other than a space. Values that differ in nothing else are look-alikes."""


def is_hidden(character: str) -> bool:
    """Whether a character is invisible or changes how others are shown."""
    return unicodedata.category(character) in HIDDEN_CATEGORIES or IGNORABLE.match(character) is not None


def hidden_character(text: str) -> str | None:
    """The first hidden character of a text, as a message names it; None if there is none."""
    if text.isprintable() and not IGNORABLE.search(text):
        return None
    return next((_named(character) for character in text if is_hidden(character)), None)


def hidden_in_value(text: str) -> str | None:
    """The same for a raw value, where tabs and line breaks are data: they are seen as space."""
    return hidden_character(text.translate(BREAKS))


def visible(text: str) -> str:
    r"""The text with every hidden character as its code point, such as `\u202e`, safe to print anywhere."""
    if hidden_character(text) is None:
        return text
    return "".join(_escaped(character) if is_hidden(character) else character for character in text)


def look(text: str) -> str:
    """A key that is equal for texts that look alike (the skeleton of UTS 39), ignoring spaces."""
    return " ".join(unicodedata.normalize("NFKD", text).translate(_prototypes()).split())


def spelling(text: str) -> str:
    """A key that is equal for texts that differ only in case, spaces or the width of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def look_alikes(texts: Collection[str]) -> list[tuple[str, ...]]:
    """The groups of different texts that a reader may confuse, each sorted."""
    looks, spellings = _grouped(texts, look), _grouped(texts, spelling)
    unlike = [group for group in looks if len({spelling(text) for text in group}) > 1]
    return sorted({*spellings, *unlike})


def _grouped(texts: Iterable[str], key: Callable[[str], str]) -> list[tuple[str, ...]]:
    groups: dict[str, set[str]] = {}
    for text in texts:
        groups.setdefault(key(text), set()).add(text)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]


def _named(character: str) -> str:
    name = unicodedata.name(character, "a control character")
    return f"U+{ord(character):04X} ({name.lower()})"


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class _Prototypes(dict[int, str]):
    """For each character, the text it looks like, by Unicode's table of confusables.

    The table lists pairs in both directions. In each set of look-alikes, every member is paired with the prototype,
    which therefore has the most partners. The table is long, so only characters that occur are looked up.
    """

    def __init__(self) -> None:
        table = files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8")
        self._pairs: dict[str, list[dict[str, str]]] = json.loads(table)

    def __missing__(self, number: int) -> str:
        character = chr(number)
        prototype = character
        if not is_hidden(character):
            partners = [character, *(pair["c"] for pair in self._pairs.get(character, ()))]
            prototype = max(partners, key=lambda partner: len(self._pairs.get(partner, ())))
            prototype = "".join(shown for shown in prototype if not is_hidden(shown))
        self[number] = prototype
        return prototype


_prototypes = cache(_Prototypes)
