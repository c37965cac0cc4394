"""Attack the bundled releases, and write docs/attacks.md from what was found.

python scripts/attacks.py            prints the page
python scripts/attacks.py --write    writes it
"""

from __future__ import annotations

import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import unveil
from unveil.attacks import Exposure
from unveil.attacks.exposure import Rate

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(str(files("unveil") / "data"))
SPECS = ("adult.toml", "adult-templates.toml", "adult-private.toml")
QUASI = ("age", "town")
TABLES, PEOPLE, PROBES = 15, 60, 16
"""How many small tables are attacked, of how many people, and how many doubts are tried in each."""
PAGE = ROOT / "docs" / "attacks.md"
FIRST, LAST = "<!-- attacks: scripts/attacks.py writes what follows -->\n", "<!-- attacks: end -->\n"


def main() -> None:
    """Prints the figures, or writes them into the page between its two marks."""
    parts = [_section(f"The bundled `{name}`", unveil.attack(DATA / name)) for name in SPECS]
    parts.append(_section("A planted leak: a unique number released as it is", _unique_number()))
    parts.append(_section("A planted leak: one person joins between two releases", _joined()))
    parts.append(_hardening())
    figures = "".join(parts)
    if "--write" not in sys.argv[1:]:
        print(figures)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(FIRST)
    PAGE.write_text(f"{before}{FIRST}{figures}\n{LAST}{rest.partition(LAST)[2]}", encoding="utf-8")


def _section(title: str, exposure: Exposure) -> str:
    """The worst attack of each kind, which comes first, in a table; what a leak shows in words."""
    lines = [f"\n## {title}\n", "| attack | success | control | in words |", "|---|---|---|---|"]
    seen: set[str] = set()
    for outcome in exposure.outcomes:
        if outcome.attack in seen:
            continue
        seen.add(outcome.attack)
        attack, success, control = outcome.cells
        shown = f"**{attack}**" if outcome.leak else attack
        found = outcome.sentence.partition(". ")[0].rstrip(".") + "."  # the rates that may follow have columns
        lines.append(f"| {shown} | {success} | {control} | {found if outcome.leak or not success else ''} |")
    leaks = f"\n{len(exposure.leaks)} of {len(exposure.outcomes)} attacks found a leak (bold)."
    return "\n".join([*lines, leaks, ""])


def _hardening() -> str:
    """Downcoding of small tables by a reader who knows the search, without and with a margin, and what it costs."""
    lines = ["\n## What a margin buys and costs\n", "| `margin` | values excluded | groups |", "|---|---|---|"]
    for margin in (None, 2, 5):
        hits = tries = groups = 0
        for seed in range(TABLES):
            table, spec = _small(seed, margin)
            release = unveil.publish(table, spec, unsafe_seed=seed)
            exposure = unveil.attack(release, spec, table=table, tries=PROBES)
            for outcome in exposure.outcomes:
                if outcome.attack == "downcoding" and outcome.success is not None:
                    hits, tries = hits + outcome.success.hits, tries + outcome.success.tries
            groups += len(set(zip(*(release.table[name].to_pylist() for name in QUASI), strict=True)))
        lines.append(f"| {margin or 'none'} | {Rate(hits, tries).interval} | {groups / TABLES:.1f} |")
    words = (
        f"\n{TABLES} random tables of {PEOPLE} people, k = 5: how often the reader excludes a value that a label "
        "covers."
    )
    return "\n".join([*lines, words, ""])


def _small(seed: int, margin: int | None) -> tuple[pa.Table, dict[str, Any]]:
    """A small table of made-up people, and its spec."""
    drawn = np.random.default_rng(seed)
    age, town = drawn.integers(20, 60, PEOPLE), drawn.choice(["Aarhus", "Bergen", "Cork"], PEOPLE)
    ill = np.where(drawn.random(PEOPLE) < (age - 20) / 40, "yes", "no")
    publish = {} if margin is None else {"margin": margin}
    spec = {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "range": [20, 60], "whole": True},
            "town": {"kind": "category", "values": ["Aarhus", "Bergen", "Cork"]},
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": list(QUASI), "k": 5}],
        "publish": publish,
    }
    return pa.table({"age": age, "town": town, "ill": ill}), spec


def _adult() -> tuple[pa.Table, Any]:
    return pyarrow.parquet.read_table(DATA / "adult.parquet"), unveil.load_spec(DATA / "adult.toml")


def _unique_number() -> Exposure:
    """The survey's weight of a row replaced by a running number, and released."""
    table, _ = _adult()
    place = table.column_names.index("fnlwgt")
    numbered = table.set_column(place, "fnlwgt", pa.array(np.arange(table.num_rows)))
    mapping = tomllib.loads((DATA / "adult.toml").read_text(encoding="utf-8"))
    mapping["attributes"]["fnlwgt"] = {"kind": "number", "whole": True}
    for attribute in mapping["attributes"].values():
        if "taxonomy" in attribute:
            attribute["taxonomy"] = str(DATA / attribute["taxonomy"])
    del mapping["table"]["source"]
    exposure = unveil.attack(mapping, table=numbered, tries=2)
    return Exposure.of(exposure.origin, exposure.leaks)


def _joined() -> Exposure:
    """The demo's table without and with its last person."""
    table, spec = _adult()
    later = unveil.publish(table, spec)
    earlier = unveil.publish(table.slice(0, table.num_rows - 1), spec)
    exposure = unveil.attack(later, earlier=earlier)
    kept = [outcome for outcome in exposure.outcomes if outcome.attack == "difference of releases"]
    return Exposure.of(exposure.origin, kept)


if __name__ == "__main__":
    main()
