"""Inputs spoiled at random, the same ones for the same seed."""

import random
import re
from collections.abc import Callable

HOSTILE = [
    "",
    "0",
    "-1",
    "1e400",
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "nan",
    "inf",
    "-0.0",
    "0.1",
    "9999-12-31",
    "0001-01-01",
    "true",
    "[]",
    "{}",
    "[" * 2000,
    ".".join("a" * 500),
    '"',
    "'",
    '""""',
    "\\u0000",
    "\x00",
    "\x1b[2K",
    "\ufeff",
    "\u202e",
    "\u200b",
    "⊥",
    "😀",
    "=HYPERLINK(1)",
    ",",
    ";;;",
    "\r",
    "\n\n",
    "\t",
    "#",
    "../..",
    "/dev/null",
    "x" * 300,
    "null",
    "1/0",
    "2" * 60 + ".5",
]
"""Texts that readers of files stumble over."""
WORDS = re.compile(r'"[^"\n]*"|[\w.-]+')

Mutation = Callable[[random.Random, str], str]


def spoiled(dice: random.Random, text: str) -> str:
    """The text after one to four mutations."""
    for _ in range(dice.randint(1, 4)):
        text = dice.choice(MUTATIONS)(dice, text)
    return text


def _span(dice: random.Random, text: str, most: int = 60) -> tuple[int, int]:
    start = dice.randint(0, len(text))
    return start, min(len(text), start + dice.randint(0, most))


def _cut(dice: random.Random, text: str) -> str:
    start, end = _span(dice, text)
    return text[:start] + text[end:]


def _repeat(dice: random.Random, text: str) -> str:
    start, end = _span(dice, text)
    return text[:end] + text[start:end] * dice.choice([1, 2, 50]) + text[end:]


def _insert(dice: random.Random, text: str) -> str:
    start = dice.randint(0, len(text))
    return text[:start] + dice.choice(HOSTILE) + text[start:]


def _word(dice: random.Random, text: str) -> str:
    """Another word, or a hostile text, in the place of a word, with its quotes or without."""
    words = list(WORDS.finditer(text))
    if not words:
        return text
    place, other = dice.choice(words), dice.choice([*HOSTILE, dice.choice(words)[0]])
    new = f'"{other}"' if place[0].startswith('"') and dice.random() < 0.7 else other
    return text[: place.start()] + new + text[place.end() :]


def _line(dice: random.Random, text: str) -> str:
    """A line moved to another place, or doubled."""
    lines = text.split("\n")
    line = dice.choice(lines)
    if dice.random() < 0.5:
        lines.remove(line)
    lines.insert(dice.randint(0, len(lines)), line)
    return "\n".join(lines)


def _truncated(dice: random.Random, text: str) -> str:
    return text[: dice.randint(0, len(text))]


def _character(dice: random.Random, text: str) -> str:
    start = dice.randint(0, len(text))
    return text[:start] + chr(dice.choice([dice.randint(0, 127), dice.randint(0xA0, 0xD7FF)])) + text[start + 1 :]


MUTATIONS: list[Mutation] = [_cut, _repeat, _insert, _insert, _word, _word, _word, _line, _truncated, _character]
