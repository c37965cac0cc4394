"""What is measured: three settings of the papers, and what is asked of them at a million rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from domains import Categories, Domain, Domains, Numbers, paths_of
from places import BUNDLED, CACHE, streamed_file, table_file

K = 50
CLASS = "income"
QID = tuple[str, ...]

# The demo's spec hides two of the 14 attributes, so the benchmark describes them itself.
RANGES = {
    "age": (17, 91),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 17),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 100),
}
ATTRIBUTES: QID = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
GA: QID = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")

ASKED_ROWS = 1_000_000
ASKED_COMMAND = 5.0
ASKED_PEAK = 1.5

PAPER = ('search = "paper"',)
"""The search of the papers."""
LOCAL = ('search = "joint"', 'recoding = "local"')


@dataclass(frozen=True)
class Setting:
    """A name, its anonymity requirements, the search time and memory asked for, and how it is published."""

    name: str
    requirements: tuple[tuple[QID, ...], ...]
    asked: float
    asked_peak: float = ASKED_PEAK
    publish: tuple[str, ...] = PAPER


def random_requirements(number: int, seed: int = 2007) -> tuple[tuple[QID, ...], ...]:
    """Section V-A: U[3, 7] QIDs, all of one length U[2, 9], of random attributes; a repeated QID is discarded."""
    random = Random(seed)
    requirements = []
    for _ in range(number):
        qids, length = random.randint(3, 7), random.randint(2, 9)
        drawn = (tuple(sorted(random.sample(ATTRIBUTES, length), key=ATTRIBUTES.index)) for _ in range(qids))
        requirements.append(tuple(dict.fromkeys(drawn)))
    return tuple(requirements)


GA_LOCAL = "GA, local"
SETTINGS = (
    Setting("GA", ((GA,),), asked=0.5),
    Setting(GA_LOCAL, ((GA,),), asked=2.5, asked_peak=1.0, publish=LOCAL),
    Setting("AllAttQID", ((ATTRIBUTES,),), asked=2.0),
    Setting("MultiQID", random_requirements(10), asked=4.0),
)


def write_spec(setting: Setting, number: int, rows: int) -> Path:
    """Writes the spec that publishes the blown-up table under one requirement of a setting."""
    path = CACHE / f"{setting.name.lower().replace(', ', '-')}-{number}-{rows}.toml"
    source = table_file(rows, "csv").name
    return write(path, spec_text(source, ATTRIBUTES, setting.requirements[number], setting.publish))


def write_scale_spec(setting: str, rows: int) -> Path:
    """Writes the spec of a scale case: 8 attributes in the quasi-identifier, and 0 or 6 others; perhaps local."""
    path = CACHE / f"scale-{setting.replace(' ', '-')}-{rows}.toml"
    names = GA if setting.startswith("8") else ATTRIBUTES
    publish = LOCAL if setting.endswith("local") else PAPER
    return write(path, spec_text(streamed_file(rows).name, names, (GA,), publish, drop=True))


def write_side_spec(table: Path, publish: tuple[str, ...]) -> Path:
    """Writes the spec that publishes a csv file of the attributes of GA and the class."""
    return write(table.with_suffix(".toml"), spec_text(table.name, GA, (GA,), publish))


def write(path: Path, text: str) -> Path:
    """Writes a text, and gives where it is."""
    path.write_text(text, encoding="utf-8")
    return path


def spec_text(source: str, names: QID, qids: tuple[QID, ...], publish: tuple[str, ...], *, drop: bool = False) -> str:
    """A spec that releases some attributes of a table; the others are dropped if that is asked for."""
    lines = ["[table]", f'source = "{source}"', f'class = "{CLASS}"', *(['others = "drop"'] if drop else [])]
    for name in names:
        lines += ["", f"[attributes.{name}]", *_entries(_attribute(name))]
    for qid in qids:
        lines += ["", "[[require]]", *_entries({"kind": "k-anonymity", "quasi-identifier": qid, "k": K})]
    return "\n".join([*lines, *(["", "[publish]", *publish] if publish else []), ""])


def _attribute(name: str) -> dict[str, Any]:
    if name in RANGES:
        return {"kind": "number", "range": RANGES[name], "whole": True}
    return {"kind": "category", "taxonomy": str(taxonomy_file(name))}


def ga_domains() -> Domains:
    """What the labels of GA's attributes cover."""
    return {name: _domain(name) for name in GA}


def _domain(name: str) -> Domain:
    if name in RANGES:
        return Numbers(*RANGES[name], np.arange(*RANGES[name]))
    return Categories(tuple(paths_of(taxonomy_file(name))))


def taxonomy_file(name: str) -> Path:
    """The bundled taxonomy of a category."""
    return BUNDLED / "taxonomies" / f"{name}.tree"


def _entries(section: dict[str, Any]) -> list[str]:
    # Texts, numbers, truth values and lists of them are written alike in JSON and TOML.
    return [f"{key} = {json.dumps(value)}" for key, value in section.items()]
