"""Reads a page as a stranger would, with nothing of the package: its words, its numbers, its links."""

import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
TOLD = ("title", "aria-label", "alt")
"""Attributes that are read to somebody who does not see the page."""


@dataclass
class Seen:
    """What a page shows."""

    words: list[str] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    styles: str = ""

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def ids(self) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get("id"))]

    def addresses(self) -> list[str]:
        names = ("href", "src", "srcset", "action", "data", "poster", "xlink:href")
        return [value for _, attributes in self.tags for name in names if (value := attributes.get(name))]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen = Seen()
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.tags.append((tag, dict(attrs)))
        self.seen.words += [value for name, value in attrs if name in TOLD and value]
        self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self._inside:
            self.seen.styles += data
        else:
            self.seen.words.append(data)


def read(page: str) -> Seen:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.seen


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def strange_numbers(page: str, manifest: dict[str, Any]) -> list[str]:
    """Numbers on a page of masked rows that are neither public in its manifest nor coarse.

    Taken out are shares in steps of 5%, a number of records in two digits, and the fingerprint of the data. What is
    left must be a number of a requirement, a bound or another part of a label, how many labels there are, or a bound
    of a class of group sizes.
    """
    text = read(page).text.replace(manifest["files"]["data.parquet"]["sha256"], "").replace("SHA-256", "")
    text = text.replace(f"unveil {manifest['unveil_version']}", "")
    text = re.sub(r"(?:about|under|over|of) (?:[1-9]?[05])%", "", text)
    text = re.sub(r"about ([1-9]\d?)(?:,?0+)+ records|fewer than 100 records", "", text)
    known = _known(manifest)
    return [number for number in NUMBER.findall(text) if number.rstrip(",") not in known]


def _known(manifest: dict[str, Any]) -> set[str]:
    known = set(NUMBER.findall(json.dumps([manifest["masking"], manifest["requirements"], manifest["class"]])))
    for item in manifest["requirements"]:
        known |= {f"{item[key] * 100:.6g}" for key in ("limit", "alpha") if key in item}
        known |= {f"{item['k']:,}"} if "k" in item else set()
        for size in (item.get("k", 5), 5):
            bounds = [size * step * 10**power for step in (1, 2, 5) for power in range(6)]
            known |= {f"{bound + shift:,}" for bound in bounds for shift in (-1, 0)}
    counts = [len(entry.get("blocks", entry.get("disclosed", []))) for entry in manifest["masking"].values()]
    known |= {f"{count:,}" for entry in manifest["masking"].values() for count in _values(entry)}
    return known | {str(count + shift) for count in counts for shift in (0, 1)} | {"1"}


def _values(entry: dict[str, Any]) -> list[int]:
    """How many values the blocks of a column represent, by its manifest alone."""
    blocks = entry.get("blocks", [])
    if entry["kind"] == "generalization":
        return [sum(len(block["values"]) for block in blocks)]
    if entry["kind"] == "discretization" and entry["unit"] == "number" and entry["whole"]:
        return [blocks[-1]["to"] - blocks[0]["from"]]
    return []


def noise_oracle(epsilon: Fraction) -> tuple[float, int, float]:
    """Standard deviation, the reach of 95% and the mean of what an empty cell shows, by summing up probabilities."""
    weights = {z: 2.718281828459045 ** (-float(epsilon) * abs(z)) for z in range(-4000, 4001)}
    total = sum(weights.values())
    deviation = (sum(z * z * weight for z, weight in weights.items()) / total) ** 0.5
    reach = next(m for m in range(4000) if sum(w for z, w in weights.items() if abs(z) > m) / total <= 0.05)
    return deviation, reach, sum(z * weight for z, weight in weights.items() if z > 0) / total
