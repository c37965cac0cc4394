"""Characters that deceive a reader: those that are not seen, that move others about, or that look like others.

A name such as `age` with a zero-width space in it is another name that reads the same, and on a terminal an escape
sequence can repaint what was printed before. The first kind is hidden, and refused in what a release says; everything
that is printed shows hidden characters by their number. The last kind is too common to refuse, and is warned of.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib.resources import files

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters (the bidirectional ones among them), halves of pairs, separators of lines."""
IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Other characters that show nothing: Unicode's Default_Ignorable_Code_Point, and the empty braille pattern."""

BREAKS = dict.fromkeys(map(ord, "\t\n\r"), " ")
"""White space other than a space. Values that differ in nothing else are look-alikes."""


def is_hidden(character: str) -> bool:
    """Whether a character is invisible, or changes how others are shown."""
    return unicodedata.category(character) in HIDDEN_CATEGORIES or IGNORABLE.match(character) is not None


def hidden_character(text: str) -> str | None:
    """The first hidden character of a text, as a sentence names it; None where there is none."""
    if text.isprintable() and not IGNORABLE.search(text):
        return None
    return next((_named(character) for character in text if is_hidden(character)), None)


def hidden_in_value(text: str) -> str | None:
    """The same for a raw value, where tabs and line breaks are data: they are seen as space."""
    return hidden_character(text.translate(BREAKS))


def visible(text: str) -> str:
    r"""The text with every hidden character as its number, such as `\u202e`, so that it can be printed anywhere."""
    if hidden_character(text) is None:
        return text
    return "".join(_escaped(character) if is_hidden(character) else character for character in text)


def look(text: str) -> str:
    """The same for texts of letters that look alike (UTS 39, skeleton), whatever the spaces around and between them."""
    return " ".join(unicodedata.normalize("NFKD", text).translate(_prototypes()).split())


def spelling(text: str) -> str:
    """The same for texts that differ in case, in spaces or in the width of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def look_alikes(texts: Collection[str]) -> list[tuple[str, ...]]:
    """The groups of different texts that a reader may take for one another, each in order."""
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


@cache
def _prototypes() -> dict[int, str]:
    """Unicode's table of confusables: for each character the text that it looks like.

    The table lists pairs in both directions. In each set of look-alikes, all are paired with the prototype, which so
    has the most partners.
    """
    confusables = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8"))
    prototypes = {}
    for text, pairs in confusables.items():
        partners = [text, *(pair["c"] for pair in pairs)]
        prototype = max(partners, key=lambda partner: len(confusables.get(partner, ())))
        if len(text) == 1 and not is_hidden(text):
            prototypes[ord(text)] = "".join(character for character in prototype if not is_hidden(character))
    return prototypes
