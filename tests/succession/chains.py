"""Small tables that change, and releases of each, one after the other."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import unveil
from oracles.succession import People, broken_together

Person = dict[str, Any]
SEARCHES: list[dict[str, str]] = [
    {"search": "paper"},
    {"search": "joint", "recoding": "global"},
    {"search": "joint", "recoding": "local"},
]
KINDS: dict[str, list[dict[str, Any]]] = {
    "k": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
    "template": [
        {"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 2},
        {"kind": "confidence", "channel": ["age", "sex"], "sensitive": "ill", "values": ["hiv"], "limit": 0.6},
    ],
    "alpha": [
        {
            "kind": "alpha-k-anonymity",
            "quasi-identifier": ["age", "sex"],
            "k": 2,
            "sensitive": "ill",
            "values": ["hiv"],
            "alpha": 0.7,
        }
    ],
    "diversity": [{"kind": "l-diversity", "quasi-identifier": ["age", "town"], "sensitive": "ill", "l": 2}],
    "closeness": [{"kind": "t-closeness", "quasi-identifier": ["age", "town"], "sensitive": "ill", "t": 0.4}],
    "numbers": [{"kind": "k-e-anonymity", "quasi-identifier": ["age", "sex"], "sensitive": "pay", "k": 2, "e": 3}],
}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "age": {"kind": "number", "range": [0, 10], "whole": True},
    "town": {"kind": "category"},
    "sex": {"kind": "category"},
    "ill": {"kind": "category", "values": ["flu", "hiv", "none"]},
    "pay": {"kind": "number"},
    "tag": {"kind": "category"},
}
"""The tag tells every released row, so that a test knows whose it is."""


def person(number: int, draw: random.Random) -> Person:
    """Somebody with values drawn at random."""
    return {
        "who": f"person {number}",
        "age": draw.randrange(10),
        "town": draw.choice("abcd"),
        "sex": draw.choice("mf"),
        "ill": draw.choice(["flu", "flu", "hiv", "none"]),
        "pay": draw.randrange(8),
        "tag": f"t{number}",
        "class": draw.choice("NY"),
    }


def crowd(size: int, seed: int = 0, first: int = 0) -> list[Person]:
    """So many people, the same ones for a seed."""
    draw = random.Random(seed)  # noqa: S311 - people of a test
    return [person(first + number, draw) for number in range(size)]


def changed(people: Sequence[Person], churn: float, draw: random.Random, fresh: int) -> list[Person]:
    """A later table: some left, some joined, and some have another illness."""
    stayed = [dict(one) for one in people if draw.random() >= churn * draw.random()]
    for one in stayed:
        if draw.random() < 0.1:
            one["ill"] = draw.choice(["flu", "hiv", "none"])
    return stayed + [person(fresh + number, draw) for number in range(draw.randint(0, int(len(people) * churn)))]


def table_of(people: Sequence[Person]) -> pa.Table:
    return pa.table({name: [one[name] for one in people] for name in people[0]})


def spec_of(history: Path | None, require: Sequence[Mapping[str, Any]], **publish: Any) -> dict[str, Any]:
    """A spec; with a history, of releases that hold together."""
    kept = {} if history is None else {"history": str(history)}
    return {
        "table": {"class": "class", "person": "who"},
        "attributes": ATTRIBUTES,
        "require": list(require),
        "publish": {**publish, **kept},
    }


def shown(release: unveil.Release) -> People:
    """The rows of a release, by the tag that tells them."""
    return {row["tag"]: row for row in release.table.to_pylist()}


class Chain:
    """Releases of tables that change, in a folder."""

    def __init__(self, place: Path, require: Sequence[Mapping[str, Any]], **publish: Any) -> None:
        self.place, self.require = place, require
        self.spec = spec_of(place / "history", require, **publish)
        self.releases: list[People] = []
        self.tables: list[pa.Table] = []

    @property
    def folders(self) -> list[Path]:
        return [self.place / f"release-{number}" for number in range(len(self.releases))]

    def publish(self, people: Sequence[Person], **options: Any) -> unveil.Release:
        """Publishes, writes and remembers a release."""
        return self.add(unveil.publish(table_of(people), self.spec, **options), people)

    def add(self, release: unveil.Release, people: Sequence[Person]) -> unveil.Release:
        release.write(self.place / f"release-{len(self.releases)}")
        self.releases.append(shown(release))
        self.tables.append(table_of(people))
        return release

    def broken(self) -> list[str]:
        """What the oracle finds broken among all releases."""
        return broken_together(self.releases, self.require)

    def findings(self) -> list[str]:
        """What `verify` finds wrong with the last release, by the files of all and by the raw table."""
        *earlier, last = self.folders
        return [str(found) for found in unveil.verify(last, self.spec, table=self.tables[-1], after=earlier)]
