"""Attack the bundled releases, and write docs/attacks.md from what was found.

python scripts/attacks.py            prints the page
python scripts/attacks.py --write    writes it
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

import unveil
from unveil.attacks import Exposure
from unveil.attacks.exposure import Rate
from unveil.release import History, Link

Labels = dict[Any, tuple[str, ...]]
"""What a release shows of each person."""
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(str(files("unveil") / "data"))
SPECS = ("adult.toml", "adult-templates.toml", "adult-private.toml")
QUASI = ("age", "town")
HARDENED: tuple[dict[str, Any], ...] = ({}, {"margin": 5}, {"learn": "10%"}, {"learn": "20%"}, {"learn": "50%"})
FIRST_SET = ("age", "sex", "race", "marital-status", "relationship", "native-country")
EIGHT = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
FIRST_K, LATER_K = 200, 20
TABLES, PEOPLE, PROBES = 15, 60, 16
"""How many small tables are attacked, of how many people, and how many doubts are tried in each."""
PAGE = ROOT / "docs" / "attacks.md"
FIRST, LAST = "<!-- attacks: scripts/attacks.py writes what follows -->\n", "<!-- attacks: end -->\n"


def main() -> None:
    """Prints the figures, or writes them into the page between its two marks."""
    parts = [_section(f"The bundled `{name}`", unveil.attack(DATA / name)) for name in SPECS]
    parts.append(_section("A planted leak: a unique number released as it is", _unique_number()))
    parts.append(_section("A planted leak: one person joins between two releases", _joined()))
    parts.append(_again())
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
    """What a reader who knows the search learns from small tables, hardened in several ways, and what that costs."""
    header = ("`[publish]`", "values excluded", "classes told", "groups", "Adult: accuracy", "Adult: groups", "rows")
    lines = ["\n## What hardening buys and costs\n", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    for publish in HARDENED:
        excluded, told, groups = _reasoned(publish)
        accuracy, parts, rows = _cost(_unsourced("adult.toml", publish))
        shown = ", ".join(f"`{key} = {value!r}`".replace("'", '"') for key, value in publish.items()) or "neither"
        lines.append(f"| {shown} | {excluded} | {told} | {groups:.1f} | {accuracy:.1%} | {parts:,} | {rows:,} |")
    accuracy, parts, rows = _cost(_unsourced("adult-private.toml", {"method": "safe", "delta": 1e-9}))
    lines.append(f'| `method = "safe"`, ε = 1 | – | – | – | {accuracy:.1%} | {parts:,} | {rows:,} |')
    words = (
        f"\n{TABLES} random tables of {PEOPLE} people, k = 5: how often the reader excludes a value that a label "
        "covers, and finds out which of two people of a group has which class. The reader knows which rows the masking "
        "was learned from, and all about them. Adult: a tree that learned from the release of two thirds, and the "
        f"groups on {{{', '.join(FIRST_SET)}}} in that of all."
    )
    return "\n".join([*lines, words, ""])


def _reasoned(publish: dict[str, Any]) -> tuple[str, str, float]:
    """How often a reader of small tables excludes a value and tells two classes apart; the groups that they have."""
    found = {"downcoding": [0, 0], "minimality": [0, 0]}
    groups = 0
    for seed in range(TABLES):
        table, spec = _small(seed, publish)
        release = unveil.publish(table, spec, unsafe_seed=0 if "learn" in publish else seed)
        for outcome in unveil.attack(release, spec, table=table, tries=PROBES).outcomes:
            # Where all tables can be tried, the groups alone may tell a class: that is no reasoning.
            if outcome.attack in found and outcome.success is not None and not outcome.figures["exact"]:
                found[outcome.attack][0] += outcome.success.hits
                found[outcome.attack][1] += outcome.success.tries
        groups += len(set(zip(*(release.table[name].to_pylist() for name in QUASI), strict=True)))
    excluded, told = (Rate(*rate).interval for rate in found.values())
    return excluded, told, groups / TABLES


def _cost(spec: dict[str, Any]) -> tuple[float, int, int]:
    """The accuracy of a tree, the groups on some attributes, and the rows of a release of Adult."""
    table, _ = _adult()
    evaluation = unveil.evaluate(table, spec, protocol=unveil.Holdout(1 / 3, range(3)))
    line = next(line for line in evaluation.lines if line.setting == "released")
    rows = unveil.publish(table, spec, unsafe_seed=0).table.select(FIRST_SET)
    return line.scores.accuracy, rows.group_by(list(FIRST_SET)).aggregate([]).num_rows, rows.num_rows


def _again() -> str:
    """A second release of Adult, a tenth of its people replaced, without and with regard to the first."""
    table, _ = _adult()
    for name in ("workclass", "occupation", "native-country"):
        table = table.filter(pc.not_equal(table[name], "?"))  # such rows are dropped
    table = table.append_column("who", pa.array(np.random.default_rng(0).permutation(table.num_rows)))
    tenth = table.num_rows // 11
    first, second = table.slice(0, 10 * tenth), table.slice(tenth)
    lines = [
        "\n## Two releases, without and with `--after`\n",
        "| second release | exposed, of those in both | of those who left | of those who joined | rows held back |",
        "|---|---|---|---|---|",
    ]
    asked = [{"kind": "k-anonymity", "quasi-identifier": list(EIGHT), "k": k} for k in (FIRST_K, LATER_K)]
    with TemporaryDirectory() as folder:
        history = Path(folder) / "history"
        spec = _unsourced("adult.toml", {"history": str(history)})
        spec["table"]["person"] = "who"
        unveil.publish(first, {**spec, "require": asked[:1]}).write(Path(folder) / "first")
        earlier = unveil.open_release(Path(folder) / "first")
        alone = unveil.publish(second, {**spec, "require": asked[1:], "publish": {}})
        shown = [_by_person(earlier, first), _by_person(alone, second)]
        lines.append(f"| by itself | {' | '.join(_exposed(*shown))} | 0 |")
        after = unveil.publish(second, {**spec, "require": asked[1:]})
        after.write(Path(folder) / "second")
        entered = [_by_entry(link) for link in History(history).links()]
        gone = len(shown[1]) - len(entered[1])
        lines.append(f"| `--after` the first | {' | '.join(_exposed(*entered))} | {gone:,} |")
    words = (
        f"\nAdult, k = {FIRST_K} in the first release and {LATER_K} in the second, on {{{', '.join(EIGHT)}}}: 10% of "
        "the people leave and 10% join. Exposed is whoever shares the labels of both releases, or those of one and the "
        f"absence from the other, with fewer than {LATER_K} people."
    )
    return "\n".join([*lines, words, ""])


def _exposed(then: Labels, now: Labels) -> list[str]:
    """How many people look like too few others: of those in both releases, of those who left or joined."""
    people = [(then.get(who), now.get(who)) for who in {*then, *now}]
    sizes, found = Counter(people), []
    for present in ((True, True), (True, False), (False, True)):
        mine = [pair for pair in people if (pair[0] is not None, pair[1] is not None) == present]
        found.append(f"{sum(sizes[pair] < LATER_K for pair in mine):,} of {len(mine):,}")
    return found


def _by_person(release: unveil.Release, rows: pa.Table) -> Labels:
    """What a release shows of each person, if it shows everybody."""
    labels = release.masking.labels(rows, unseen="suppress")
    return dict(
        zip(rows["who"].to_pylist(), zip(*(labels[name].to_pylist() for name in EIGHT), strict=True), strict=True)
    )


def _by_entry(link: Link) -> Labels:
    """The same by the owner's history, which has those only who are not held back."""
    labels = zip(*(link.labels[name].to_pylist() for name in EIGHT), strict=True)
    return dict(zip(map(tuple, link.people.tolist()), labels, strict=True))


def _unsourced(name: str, publish: dict[str, Any]) -> dict[str, Any]:
    """A bundled spec without its table, published in another way."""
    spec = tomllib.loads((DATA / name).read_text(encoding="utf-8"))
    for attribute in spec["attributes"].values():
        if "taxonomy" in attribute:
            attribute["taxonomy"] = str(DATA / attribute["taxonomy"])
    del spec["table"]["source"]
    return {**spec, "publish": publish}


def _small(seed: int, publish: dict[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    """A small table of made-up people, and its spec."""
    drawn = np.random.default_rng(seed)
    age, town = drawn.integers(20, 60, PEOPLE), drawn.choice(["Aarhus", "Bergen", "Cork"], PEOPLE)
    ill = np.where(drawn.random(PEOPLE) < (age - 20) / 40, "yes", "no")
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
    mapping = _unsourced("adult.toml", {})
    mapping["attributes"]["fnlwgt"] = {"kind": "number", "whole": True}
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
