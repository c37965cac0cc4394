"""What a release of weights says was measured, by an additive model or in noisy tables: it fits, and is paid for.

Of a model, ε goes as `docs/release.md` says: 3% to the class totals, 82% to rounds, 15% to the counts of the leaves. A
round pays 30% for its choice and 70% for its sums, and round t gets a share in proportion to round(100 · 1.2^t).

Of tables, as `docs/additive.md` says, 3% of ε goes to the class totals, 5% to each pair, a fifth of that to its choice,
and what is left to the tables of the attributes with the class, in equal parts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from math import log, sqrt

from unveil.errors import count_text, listed
from unveil.verifier.claims import (
    MANIFEST,
    Discretization,
    Finding,
    Generalization,
    Masked,
    Number,
    Suppression,
    findings_of,
    first_difference,
)
from unveil.verifier.coverage import Span, interval_labels, kind_spans, span, spans
from unveil.verifier.manifests import AdditiveManifest, StatisticsManifest, TreeLeaf, TreeTest, WeightsManifest
from unveil.verifier.private import broken_ledger, check_budget, wrong_amount
from unveil.verifier.values import day_number, number

TOTALS, ROUNDS, LEAVES = Fraction(3, 100), Fraction(82, 100), Fraction(15, 100)
CHOICE = Fraction(30, 100)
PAIR, PAIR_CHOICE = Fraction(5, 100), Fraction(20, 100)
MOST_PAIRS, MOST_GROUPS = 10, 12
FEWEST_ROUNDS, MOST_ROUNDS = 2, 40
MOST_BINS = 300
STEP = 256
"""Scores are log-odds in steps of 1/256."""
UNIT, LEAST_RATE = 512, Fraction(1, 10**6)
NEARLY_HALF = 0.5 + 1e-6
"""How far a rounded number may be from the exact one, whatever the last digit of a logarithm."""
INTERVAL = re.compile(r"\[([^,]+), ([^,]+)\)")


def check_measured(manifest: AdditiveManifest) -> Iterator[Finding]:
    """All that the manifest alone decides, except the guarantee.

    What is checked first is what the rest builds on: where that is broken, nothing more is said.
    """
    measured = {done.attribute for done in manifest.rounds}
    totals, rounds = _total_problems(manifest), _round_problems(manifest)
    if wrong := [*_measured(totals), *bin_findings(manifest, measured), *_measured(rounds)]:
        yield from wrong
        return
    yield from _ledger_findings(manifest)
    yield from findings_of("tree", f"{MANIFEST}, tree: ", _tree_problems(manifest))
    yield from _measured(_leaf_problems(manifest))


def _measured(problems: Iterable[str]) -> Iterator[Finding]:
    """Numbers that nothing measured, or that do not fit the others."""
    return findings_of("measured", f"{MANIFEST}: ", problems)


def affordable_records(manifest: AdditiveManifest) -> float:
    """N · ε of the rounds, by the noisy totals: it decides how many rounds there are, and how fine bins are."""
    return float(manifest.epsilon * ROUNDS / manifest.apart) * float(sum(manifest.records))


def _total_problems(manifest: AdditiveManifest) -> Iterator[str]:
    totals, base = manifest.records, manifest.base
    if len(totals) != len(manifest.classes):
        yield f"there are {count_text(len(totals), 'total')} of {len(manifest.classes)} classes"
    elif len(base) != len(manifest.models):
        yield f"base has {len(base)} numbers, but there are {len(manifest.models)} models"
    else:
        for class_, found in zip(manifest.models, base, strict=True):
            part = totals[manifest.classes.index(class_)]
            right = STEP * log(part / max(sum(totals) - part, 1))
            if abs(found - right) > NEARLY_HALF:
                yield f"the base of {class_!r} is {found}, but the totals make it {right:.2f}"


def bin_findings(manifest: WeightsManifest, measured: Collection[str]) -> Iterator[Finding]:
    """The bins of what was measured, and one block for all that was not."""
    expected = [name for name in manifest.masking if name in measured]
    if list(manifest.bins) != expected:
        measured_bins = f"bins of {listed(manifest.bins)}, but what was measured is {listed(expected)}"
        yield Finding("bins", f"{MANIFEST} has {measured_bins}.")
        return
    for name, entry in manifest.masking.items():
        bins = manifest.bins.get(name)
        if bins is not None:
            yield from findings_of("bins", f"{MANIFEST}: {name!r} ", _problems(entry, bins))
        elif (blocks := len(manifest.labels[name])) > 1:
            message = f"{name!r} has {blocks} blocks, but it was not measured, so nothing paid for them"
            yield Finding("bins", f"{MANIFEST}: {message}.")


def _problems(entry: Masked, bins: Mapping[str, str]) -> Iterator[str]:
    """Blocks are unions of neighbouring bins, or of any that are hidden."""
    if not 2 <= len(bins) <= MOST_BINS:
        yield f"has {count_text(len(bins), 'bin')}, but what is measured has from 2 to {MOST_BINS}"
    if isinstance(entry, Suppression):
        yield from _hidden_problems(entry, bins)
        return
    starts = [block for block, _ in groupby(bins.values())]
    if starts != (known := [block.label for block in entry.blocks]):
        yield f"has bins in the blocks {listed(starts)}, but the blocks {listed(known)}"
    elif isinstance(entry, Discretization):
        yield from _interval_problems(entry, bins)
    else:
        yield from _node_problems(entry, bins)


def _hidden_problems(entry: Suppression, bins: Mapping[str, str]) -> Iterator[str]:
    """Without a taxonomy a bin is a value, which is its own block, or hidden."""
    for label, block in bins.items():
        right = label if label in entry.disclosed else entry.marker
        if block != right:
            yield f"has the bin {label!r} in the block {block!r}, not in {right!r}"
    if entry.disclosed != [label for label in bins if label in entry.disclosed]:
        yield f"discloses {listed(entry.disclosed)}, which are not bins, or in another order"


def _interval_problems(entry: Discretization, bins: Mapping[str, str]) -> Iterator[str]:
    within, kinds = spans(entry), kind_spans(entry)
    bounds = [kinds.get(label) or _read_span(label, entry) for label in bins]
    for (label, block), found in zip(bins.items(), bounds, strict=True):
        if found is None:
            yield f"has the bin {label!r}, which is not an interval"
        elif not within[block][0] <= found[0] < found[1] <= within[block][1]:
            yield f"has the bin {label!r} in the block {block!r}, which does not hold it"
    ends = list(within.values())
    read = [(ends[0][0],) * 2, *(found for found in bounds if found), (ends[-1][1],) * 2]
    if all(bounds) and any(left[1] != right[0] for left, right in pairwise(read)):
        yield "has bins that overlap or leave a gap"


def _read_span(label: str, entry: Discretization) -> Span | None:
    """Where a bin of numbers lies; the last one reaches up to missing values."""
    found = read_interval(label, entry.unit)
    return None if found is None else span(found, entry)


def read_interval(label: str, unit: str) -> tuple[Number, Number] | None:
    """The bounds of an interval by its label; None if the label is not spelled as an interval is."""
    found = INTERVAL.fullmatch(label)
    if found is None:
        return None
    texts = found.groups()
    lo, hi = (day_number(text) if unit == "date" else number(text) for text in texts)
    if lo is None or hi is None or (unit == "number" and label not in interval_labels(lo, hi)):
        return None
    return lo, hi


def _node_problems(entry: Generalization, bins: Mapping[str, str]) -> Iterator[str]:
    """A bin that is a raw value lies in the block of that value; of other nodes only the spec knows the leaves."""
    block_of = {value: block.label for block in entry.blocks for value in block.values}
    for label, name in bins.items():
        if block_of.get(label, name) != name:
            yield f"has the bin {label!r} in the block {name!r}, but its value is in {block_of[label]!r}"
    for block in entry.blocks:
        if (held := sum(name == block.label for name in bins.values())) > len(block.values):
            yield f"has {held} bins in the block {block.label!r} of {count_text(len(block.values), 'value')}"


def _round_problems(manifest: AdditiveManifest) -> Iterator[str]:
    for place, done in enumerate(manifest.rounds, start=1):
        if done.attribute not in manifest.masking:
            yield f"round {place} is about {done.attribute!r}, which is not an attribute of the release"
        if done.class_ not in manifest.models:
            yield f"round {place} is about the class {done.class_!r}, which has no model"
        size = len(manifest.bins.get(done.attribute, ()))
        for key, found in (("against", done.against), ("within", done.within), ("steps", done.steps)):
            if len(found) != size:
                has = f"{done.attribute!r} has {count_text(size, 'bin')}"
                yield f"round {place} has {len(found)} numbers in {key}, but {has}"


def _ledger_findings(manifest: AdditiveManifest) -> Iterator[Finding]:
    """The charges are those of the draws, in order, each of its share."""
    count, exact = len(manifest.rounds), 4.5 * (affordable_records(manifest) / 3000) ** 0.35
    least, most = (max(FEWEST_ROUNDS, min(exact + off, MOST_ROUNDS)) for off in (-NEARLY_HALF, NEARLY_HALF))
    if not least <= count <= most:
        yield from _measured(
            [f"there are {count} rounds, but by the totals and ε there should be {exact:.2f}, rounded"]
        )
    planned = dict(charges(manifest))
    if [charge.purpose for charge in manifest.ledger] == list(planned):
        yield from _measured(_unit_problems(manifest))
    yield from charge_findings(manifest, planned)


def charge_findings(manifest: WeightsManifest, planned: Mapping[str, Fraction]) -> Iterator[Finding]:
    """The charges are those of the draws, in their order, and add up."""
    purposes = [charge.purpose for charge in manifest.ledger]
    if purposes == list(planned):
        for charge in manifest.ledger:
            if charge.composition != "sequential":
                problem = f"the charge for {charge.purpose!r} is {charge.composition}, but all records are in it"
                yield broken_ledger(problem)
            if charge.epsilon != planned[charge.purpose]:
                yield wrong_amount(charge, planned[charge.purpose], "its share of ε")
    else:
        place = first_difference(purposes, list(planned))
        found, right = (repr(names[place]) if names[place:] else "nothing" for names in (purposes, list(planned)))
        yield broken_ledger(f"charge {place + 1} is for {found}, but the draws make it one for {right}")
    yield from check_budget(manifest)


def charges(manifest: AdditiveManifest) -> Iterator[tuple[str, Fraction]]:
    """What each draw costs, in the order of the draws."""
    epsilon = manifest.epsilon
    yield "class totals", epsilon * TOTALS
    parts = [round(100 * 1.2**number) for number in range(len(manifest.rounds))]
    for place, part in enumerate(parts, start=1):
        share = epsilon * ROUNDS * Fraction(part, sum(parts))
        yield f"choice of round {place}", share * CHOICE
        yield f"sums of round {place}", share * (1 - CHOICE)
    yield "counts of the leaves", epsilon * LEAVES


def _unit_problems(manifest: AdditiveManifest) -> Iterator[str]:
    """A record weighs so much that its noise can still be drawn. The noise is that of the unit as published."""
    paid = [manifest.per_record(charge) for charge in manifest.ledger if charge.purpose.startswith("sums")]
    for place, (done, amount) in enumerate(zip(manifest.rounds, paid, strict=True), start=1):
        unit = UNIT
        while unit > 1 and amount / unit < LEAST_RATE:
            unit //= 2
        if done.unit != unit:
            yield f"round {place} has the unit {done.unit}, but its charge makes it {unit}"


def _tree_problems(manifest: AdditiveManifest) -> Iterator[str]:
    """The tree is one: every node but the first is below one other, and every leaf is counted once, per class."""
    nodes = manifest.tree
    below = [place for node in nodes if isinstance(node, TreeTest) for place in (node.left, node.right)]
    if sorted(below) != list(range(1, len(nodes))):
        yield "a node is below none or several others"
    leaves = [node.leaf for node in nodes if isinstance(node, TreeLeaf)]
    if leaves != list(range(len(manifest.leaves))):
        yield f"its leaves are not the {len(manifest.leaves)} that were counted, in order"
    for place, node in enumerate(nodes):
        if isinstance(node, TreeTest):
            yield from (f"node {place} {problem}" for problem in _test_problems(manifest, place, node))


def _leaf_problems(manifest: AdditiveManifest) -> Iterator[str]:
    for place, counts in enumerate(manifest.leaves):
        if len(counts) != len(manifest.classes):
            yield f"leaf {place} has {count_text(len(counts), 'count')} for {len(manifest.classes)} classes"


def _test_problems(manifest: AdditiveManifest, place: int, node: TreeTest) -> Iterator[str]:
    if not place < min(node.left, node.right):
        yield "comes after a node below it"
    known: Sequence[str] = manifest.labels.get(node.attribute, [])
    if node.attribute not in manifest.masking:
        yield f"tests {node.attribute!r}, which is not an attribute of the release"
    elif node.labels != [label for label in known if label in node.labels] or len(node.labels) == len(known):
        yield f"tests {listed(node.labels)}, which is not a part of the labels of {node.attribute!r}, in order"


def check_tables(manifest: StatisticsManifest) -> Iterator[Finding]:
    """All that the manifest alone decides, except the guarantee, in the order of `check_measured`."""
    tables, pairs = _table_problems(manifest), _pair_problems(manifest)
    if wrong := [*_measured(tables), *bin_findings(manifest, manifest.tables), *_measured(pairs)]:
        yield from wrong
        return
    # N · ε by the noisy totals decides how many pairs there are.
    affordable = float(manifest.epsilon / manifest.apart) * float(sum(manifest.records))
    exact, most = sqrt(affordable / 600), min(MOST_PAIRS, len(manifest.tables) - 1)
    if not min(exact - NEARLY_HALF, most) <= len(manifest.pairs) <= max(min(exact + NEARLY_HALF, most), 0):
        should = f"by the totals and ε there should be {exact:.2f}, rounded, and at most {max(most, 0)}"
        yield from _measured([f"there are {count_text(len(manifest.pairs), 'pair')}, but {should}"])
    yield from charge_findings(manifest, dict(table_charges(manifest)))


def table_charges(manifest: StatisticsManifest) -> Iterator[tuple[str, Fraction]]:
    """What each draw costs, in the order of the draws."""
    epsilon, pairs = manifest.epsilon, len(manifest.pairs)
    yield "class totals", epsilon * TOTALS
    for name in manifest.tables:
        yield f"table of {name}", epsilon * (1 - TOTALS - pairs * PAIR) / len(manifest.tables)
    for place in range(1, pairs + 1):
        yield f"choice of pair {place}", epsilon * PAIR * PAIR_CHOICE
        yield f"counts of pair {place}", epsilon * PAIR * (1 - PAIR_CHOICE)


def _table_problems(manifest: StatisticsManifest) -> Iterator[str]:
    classes = len(manifest.classes)
    if len(manifest.totals) != classes:
        yield f"there are {count_text(len(manifest.totals), 'total')} of {classes} classes"
    if list(manifest.tables) != list(manifest.bins):
        yield f"there are tables of {listed(manifest.tables)}, but bins of {listed(manifest.bins)}"
        return
    for name, table in manifest.tables.items():
        bins = manifest.bins[name]
        if len(table) != len(bins) or any(len(row) != classes for row in table):
            yield f"the table of {name!r} does not have {len(bins)} bins of {classes} classes"
        if len(set(bins.values())) < len(bins):
            yield f"{name!r} has two bins in one block, but each was measured by itself"


def _pair_problems(manifest: StatisticsManifest) -> Iterator[str]:
    """Groups are those of the attributes in pairs, and pairs tie attributes without a circle."""
    named = {name for pair in manifest.pairs for name in pair.attributes}
    if list(manifest.groups) != [name for name in manifest.bins if name in named] or not named <= set(manifest.bins):
        yield f"there are groups of {listed(manifest.groups)}, but pairs of {listed(sorted(named))}"
        return
    for name, groups in manifest.groups.items():
        if len(groups) != len(manifest.bins[name]) or set(groups) != set(range(min(max(groups), MOST_GROUPS - 1) + 1)):
            yield f"{name!r} has groups that are not up to {MOST_GROUPS} of its bins"
    tree = {name: name for name in named}
    for place, pair in enumerate(manifest.pairs, start=1):
        one, other = pair.attributes
        sizes = [len(set(manifest.groups[name])) for name in pair.attributes]
        if tree[one] == tree[other]:
            yield f"pair {place} ties {one!r} and {other!r}, which are tied already"
        if len(pair.counts) != sizes[0] or any(len(row) != sizes[1] for row in pair.counts):
            yield f"pair {place} does not have {sizes[0]} by {sizes[1]} counts"
        kept, gone = tree[one], tree[other]
        tree = {name: kept if held == gone else held for name, held in tree.items()}
