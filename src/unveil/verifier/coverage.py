"""What labels cover, on the scale of a number or a date, and in a local release, where they overlap.

On a scale, missing values come after all numbers and dates. The first kind lies at `AFTER`, each next one twice as far.
An interval that ends where all numbers do reaches up to the first kind, so that a cut has no gap there.

A label covers a range `[lo, hi)`: of numbers, or of the places of values. For an attribute that is refined group by
group the manifest lists every label with its values. For one that is refined everywhere it lists the cut; then the
blocks of the cut are the places, and what a coarser label covers follows from the splits.
A rest, such as `Office, other`, covers what the labels split off before leave of its node. Its range is that of the
node, and the walk in `boxes` keeps count of what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed
from unveil.verifier.claims import Discretization, Generalization, Interval, Masked, Number, Suppression, labels
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import Split
from unveil.verifier.values import day_number, number, text

AFTER = 1e302
OR = " or "
Span = tuple[float, float]
REST = ", other"
"""How the label of what is left of a taxonomy node ends."""


def highest(entry: Discretization) -> Number:
    """Where the numbers of a cut or of a vocabulary end."""
    return max((block.hi for block in entry.blocks if block.start is not None), default=0)


def spans(entry: Discretization) -> dict[str, Span]:
    """Where the block of each label begins and ends."""
    kinds = kind_spans(entry)
    found = {}
    for block in entry.blocks:
        held = [kinds[kind] for kind in block.missing if kind in kinds]
        numbers = [] if block.start is None else [span((block.lo, block.hi), entry)]
        parts = [*numbers, *held] or [(0.0, 0.0)]
        found[block.label] = (parts[0][0], parts[-1][1])
    return found


def kind_spans(entry: Discretization) -> dict[str, Span]:
    """Where each kind of missing values lies."""
    return {label: (AFTER * 2.0**kind, AFTER * 2.0 ** (kind + 1)) for kind, label in enumerate(entry.missing)}


def span(bounds: tuple[Number, Number], entry: Discretization) -> Span:
    """Where an interval lies."""
    lo, hi = bounds
    return float(lo), AFTER if entry.missing and hi == highest(entry) else float(hi)


def places(entry: Discretization, values: Sequence[Any]) -> NDArray[np.float64]:
    """Where raw values lie, missing ones by their labels; not a number where there is no such place."""
    read = day_number if entry.unit == "date" else number
    kinds, top = kind_spans(entry), highest(entry)
    found = [kinds[value][0] if isinstance(value, str) and value in kinds else read(value) for value in values]
    inside = [place if place is not None and (place < top or place >= AFTER) else np.nan for place in found]
    return np.array(inside, dtype=np.float64)


def block_labels(parts: Sequence[Interval]) -> set[str]:
    """The labels that a block may have that holds these parts, in order: numbers, missing values, or both."""
    numbered = [part for part in parts if part.start is not None and part.end is not None]
    missing = [kind for part in parts for kind in part.missing]
    if not numbered:
        return {OR.join(missing)}
    lo, hi = numbered[0].start, numbered[-1].end
    return {OR.join((label, *missing)) for label in interval_labels(lo or 0, hi or 0)}


def interval_labels(lo: Number | str, hi: Number | str) -> set[str]:
    """The labels that an interval may have: each bound as a text that reads back as the same number."""
    return {f"[{low}, {high})" for low in _bound_texts(lo) for high in _bound_texts(hi)}


def _bound_texts(number: Number | str) -> set[str]:
    """The shortest text that reads back as the number; a large whole number has more, 1e+16 and its digits.

    The digits are those of the shortest decimal or of the float itself, which may differ from 2^53 on. A date has one
    text.
    """
    if isinstance(number, str):
        return {number}
    texts = {repr(number).removesuffix(".0")}
    if number != int(number):
        return texts
    return {*texts, str(int(number)), str(int(Decimal(repr(number))))}


class CoverageError(Exception):
    """The labels of an attribute cannot be what they say; the text is a clause that says why."""


@dataclass
class Coverage:
    """The labels of an attribute."""

    entry: Masked
    """How it is masked."""
    spans: dict[str, Span] = field(default_factory=dict)
    """What each label covers."""
    node_of: dict[str, str] = field(default_factory=dict)
    """For each rest, the node that it is left of."""
    parent: dict[str, str] = field(default_factory=dict)
    """For each label of a category that a split produces, the node that it is a part of."""
    root: str = ""
    """The label that covers everything."""

    @property
    def ordered(self) -> bool:
        """Whether it holds numbers: the parts of a split meet, and none is a rest."""
        return isinstance(self.entry, Discretization)

    def node(self, label: str) -> str:
        """The node of a rest; any other label is one itself."""
        return self.node_of.get(label, label)

    def size(self, label: str) -> float:
        """How much a label covers."""
        lo, hi = self.spans[label]
        return hi - lo

    def has_rest(self, split: Split) -> bool:
        """Whether the last part of a split covers what the others leave."""
        return split.into[-1] in self.node_of

    def own(self, split: Split) -> list[str]:
        """The parts that cover their own values."""
        return split.into[:-1] if self.has_rest(split) else split.into

    def places(self, values: Sequence[Any]) -> Floats:
        """Where each raw value lies; not a number where no label covers it."""
        if isinstance(self.entry, Discretization):
            numbers = places(self.entry, values)
        else:
            place_of = _place_of(self.entry)
            hidden = len(self.entry.disclosed) if isinstance(self.entry, Suppression) else None
            texts = [text(value) for value in values]
            found = [None if word is None else place_of.get(word, hidden) for word in texts]
            numbers = np.array([np.nan if place is None else place for place in found], dtype=np.float64)
        lo, hi = self.spans[self.root]
        return np.where((numbers >= lo) & (numbers < hi), numbers, np.nan)


def _place_of(entry: Generalization | Suppression) -> dict[str, int]:
    if isinstance(entry, Suppression):
        return {value: place for place, value in enumerate(entry.disclosed)}
    if entry.local:
        return {value: place for place, value in enumerate(entry.blocks[0].values)}
    return {value: place for place, block in enumerate(entry.blocks) for value in block.values}


def cover(entry: Masked, splits: Sequence[Split]) -> Coverage:
    """What the labels of an attribute cover, by all its splits of all trees; an error if they do not fit these."""
    coverage = Coverage(entry)
    if isinstance(entry, Suppression):
        _cover_values(coverage, entry)
    elif isinstance(entry, Discretization):
        _cover_numbers(coverage, entry, splits)
    else:
        _cover_taxonomy(coverage, entry, splits)
    problems = _vocabulary_problems(coverage, splits) if entry.local else _cut_problems(coverage, entry)
    for problem in chain(_split_problems(coverage, splits), problems):
        raise CoverageError(problem)
    return coverage


def _cover_values(coverage: Coverage, entry: Suppression) -> None:
    """Without a taxonomy: a place per disclosed value, and one for all that is hidden."""
    coverage.root = entry.marker
    coverage.node_of[entry.marker] = entry.marker
    coverage.spans = {value: (place, place + 1) for place, value in enumerate(entry.disclosed)}
    coverage.spans[entry.marker] = (0, len(entry.disclosed) + 1)


def _cover_numbers(coverage: Coverage, entry: Discretization, splits: Sequence[Split]) -> None:
    coverage.spans = spans(entry)
    coverage.root = entry.blocks[0].label
    if entry.local:
        return
    blocks = {block.label: [block] for block in entry.blocks}
    for label, parts in _from_below({split.block: split.into for split in splits}):
        _require(parts, blocks)
        blocks[label] = [block for part in parts for block in blocks[part]]
        coverage.spans[label] = (coverage.spans[parts[0]][0], coverage.spans[parts[-1]][1])
        coverage.root = label
        if label not in block_labels(blocks[label]):
            raise CoverageError(f"the label {label!r} is split into parts of {min(block_labels(blocks[label]))!r}")


def _cover_taxonomy(coverage: Coverage, entry: Generalization, splits: Sequence[Split]) -> None:
    coverage.root = entry.blocks[0].label
    if entry.local:
        _cover_vocabulary(coverage, entry)
        return
    coverage.node_of = _rests(splits)
    # A block of the cut is a place; what is left of a node at the end is one too.
    cut = {block.label: (float(place), float(place + 1)) for place, block in enumerate(entry.blocks)}
    coverage.spans = {label: span for label, span in cut.items() if label not in coverage.node_of}
    below: dict[str, dict[str, None]] = {}
    for split in splits:
        below.setdefault(coverage.node(split.block), {}).update(dict.fromkeys(coverage.own(split)))
    left: dict[str, list[Span]] = {}
    for rest, node in coverage.node_of.items():
        left.setdefault(node, []).extend([cut[rest]] if rest in cut else [])
    for node, parts in _from_below({node: list(parts) for node, parts in below.items()}):
        _require(parts, coverage.spans)
        inside = [*(coverage.spans[part] for part in parts), *left.get(node, ())]
        lo, hi = min(span[0] for span in inside), max(span[1] for span in inside)
        if hi - lo != sum(end - start for start, end in inside):
            raise CoverageError(f"the blocks below {node!r} are not next to each other, or overlap")
        coverage.spans[node] = (lo, hi)
        coverage.root = node
    coverage.spans |= {rest: coverage.spans[node] for rest, node in coverage.node_of.items() if node in coverage.spans}


def _cover_vocabulary(coverage: Coverage, entry: Generalization) -> None:
    """Each label covers a range of the values of the root, in the order in which the root lists them."""
    place_of = {value: place for place, value in enumerate(entry.blocks[0].values)}
    for block in entry.blocks:
        places = [place_of.get(value, -1) for value in block.values]
        if places[0] < 0 or places != list(range(places[0], places[0] + len(places))):
            raise CoverageError(f"the values of {block.label!r} are not a range of those of {coverage.root!r}")
        coverage.spans[block.label] = (places[0], places[0] + len(places))
        if block.rest:
            coverage.node_of[block.label] = block.label.removesuffix(REST)
    for rest, node in coverage.node_of.items():
        if rest != node + REST or node in coverage.node_of or coverage.spans.get(node) != coverage.spans[rest]:
            raise CoverageError(f"{rest!r} is called a rest, but is not that of a node with the same values")


def _rests(splits: Sequence[Split]) -> dict[str, str]:
    """The rests of a cut, each with its node: a split ends with the rest of its block, or with its block, a rest."""
    ends = [(split.block, split.into[-1]) for split in splits]
    rests = sorted({last for block, last in ends if last == block + REST or (last == block and last.endswith(REST))})
    node_of: dict[str, str] = {}
    for rest in rests:  # the rest of a rest, whose label is longer, comes after it
        node = rest.removesuffix(REST)
        node_of[rest] = node_of.get(node, node)
    return node_of


def _from_below(parts_of: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Each label that is split, after all its parts; the root comes last."""
    try:
        order = list(TopologicalSorter(parts_of).static_order())
    except CycleError as error:
        raise CoverageError(f"the label {error.args[1][0]!r} is a part of itself") from error
    yield from ((label, parts_of[label]) for label in order if label in parts_of)


def _require(parts: Sequence[str], known: dict[str, Any]) -> None:
    if unknown := [part for part in parts if part not in known]:
        raise CoverageError(f"nothing says what the label {unknown[0]!r} covers")


def _split_problems(coverage: Coverage, splits: Sequence[Split]) -> Iterator[str]:
    """The parts of a split are different labels that lie in its block, and do not overlap."""
    for split in splits:
        if unknown := [label for label in (split.block, *split.into) if label not in coverage.spans]:
            yield f"nothing says what the label {unknown[0]!r} covers"
        elif len(set(split.into)) < len(split.into):
            yield f"a split of {split.block!r} names a part twice"
        elif isinstance(coverage.entry, Discretization):
            yield from _interval_problems(coverage, split)
        else:
            yield from _part_problems(coverage, split)
    below: dict[str, list[str]] = {}
    for label, node in coverage.parent.items():
        below.setdefault(node, []).append(label)
    for node, parts in below.items():
        spans = sorted(coverage.spans[part] for part in parts)
        if any(right[0] < left[1] for left, right in pairwise(spans)):
            yield f"two parts of {node!r} overlap"
        if spans[0][0] < coverage.spans[node][0] or spans[-1][1] > coverage.spans[node][1]:
            yield f"a part of {node!r} covers more than {node!r} does"


def _interval_problems(coverage: Coverage, split: Split) -> Iterator[str]:
    spans = [coverage.spans[part] for part in split.into]
    met = all(left[1] == right[0] for left, right in pairwise(spans))
    if len(spans) < 2 or not met or (spans[0][0], spans[-1][1]) != coverage.spans[split.block]:
        yield f"the parts {listed(split.into)} do not make up {split.block!r}"


def _part_problems(coverage: Coverage, split: Split) -> Iterator[str]:
    node, own = coverage.node(split.block), coverage.own(split)
    if not own:
        yield f"a split of {split.block!r} separates nothing"
    if coverage.has_rest(split) and coverage.node_of[split.into[-1]] != node:
        yield f"{split.into[-1]!r} is not what a split of {split.block!r} leaves"
    if isinstance(coverage.entry, Suppression) and not coverage.has_rest(split):
        yield f"a split of {split.block!r} leaves nothing hidden"
    for part in own:
        if part in coverage.node_of:
            yield f"the rest {part!r} is not the last part of a split of {split.block!r}"
        elif part in (node, coverage.root):
            yield f"the label {part!r} is a part of itself"
        elif coverage.parent.setdefault(part, node) != node:
            yield f"the label {part!r} is a part of {coverage.parent[part]!r} and of {node!r}"
    if any(coverage.spans[left] > coverage.spans[right] for left, right in pairwise(own)):
        yield f"the parts {listed(own)} of {split.block!r} are not in the order of their values"


def _cut_problems(coverage: Coverage, entry: Masked) -> Iterator[str]:
    """All blocks of a cut are below one label, where the walk begins."""
    blocks = [] if isinstance(entry, Suppression) else entry.blocks
    whole = (0.0, float(len(blocks)))
    if isinstance(entry, Discretization):
        found = spans(entry)
        whole = (found[entry.blocks[0].label][0], found[entry.blocks[-1].label][1])
    if blocks and coverage.spans[coverage.root] != whole:
        yield f"the label {coverage.root!r} does not cover all blocks"


def _vocabulary_problems(coverage: Coverage, splits: Sequence[Split]) -> Iterator[str]:
    """The vocabulary lists exactly the labels that occur, each after those that it is a part of."""
    entry = coverage.entry
    known = labels(entry)
    occurring = {coverage.root, *(part for split in splits for part in split.into)}
    if unused := [label for label in known if label not in occurring]:
        yield f"the label {listed(unused)} appears in no box"
    if isinstance(entry, Suppression):
        return
    for left, right in pairwise(known):
        one, other = coverage.spans[left], coverage.spans[right]
        if (one[0], -one[1]) > (other[0], -other[1]):
            yield f"the label {right!r} comes after {left!r}, but labels are in the order of values, coarse before fine"
    place_of = {label: place for place, label in enumerate(known)}
    for label, node in coverage.parent.items():
        if place_of[label] < place_of[node]:
            yield f"the label {label!r} comes before {node!r}, which it is a part of"
    for rest, node in coverage.node_of.items():
        if place_of[rest] != place_of[node] + 1:
            yield f"the label {rest!r} does not come right after {node!r}"
