"""The trees of boxes of a local release: whether each is a tree of partitions, and which labels a row has by it.

A box has one label per attribute. An inner node splits its box by one attribute; the leaves are the groups.
A tree is walked in preorder. One position is kept, changed on the way down and restored on the way up, so that time
and memory follow the length of the order, however deep the tree is.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed, records_text
from unveil.strangers import LEAF_LABELS
from unveil.verifier.claims import MANIFEST, PARQUET, BrokenClaimError, Finding, labels, repeated
from unveil.verifier.coverage import Coverage, CoverageError, cover
from unveil.verifier.data import Codes, Data, summed
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import BoxTree, Claims, RefinementManifest, Split
from unveil.verifier.records import excess_findings, fully_masked

LEAF = -1
Rows = NDArray[np.int64]


def check_boxes(manifest: Claims) -> Iterator[Finding]:
    """The trees fit the columns, and each is a complete tree whose nodes partition what they split."""
    try:
        for walk in read_boxes(manifest):
            for _ in walk.leaves():
                pass
    except BrokenClaimError as broken:
        yield from broken.findings


def read_boxes(manifest: Claims) -> list[Walk]:
    """The trees of a release, ready to be walked; none if it is not local. A claim is broken if they do not fit it."""
    trees = manifest.boxes if isinstance(manifest, RefinementManifest) else []
    if wrong := [_finding(problem) for problem in _tree_problems(manifest, trees)]:
        raise BrokenClaimError(wrong)
    splits: dict[str, list[Split]] = {name: [] for tree in trees for name in tree.attributes}
    for tree in trees:
        for split in tree.splits:
            splits[split.attribute].append(split)
    covered: dict[str, Coverage] = {}
    masked = manifest.masked
    for name, own in splits.items():
        try:
            covered[name] = cover(masked[name], own)
        except CoverageError as error:
            raise BrokenClaimError([_finding(f"{name!r}: {error}")]) from error
    return [Walk(tree, covered) for tree in trees]


def _tree_problems(manifest: Claims, trees: Sequence[BoxTree]) -> Iterator[str]:
    """Each tree is about masked columns, and a column with local labels is in one tree."""
    masked = manifest.masked
    if isinstance(manifest, RefinementManifest):
        if bool(trees) != (manifest.recoding == "local"):
            yield f"the recoding is {manifest.recoding}, but there are {len(trees)} trees"
        if trees and manifest.search != "joint":
            yield f"the search is {manifest.search}, which makes no trees"
        yield from _set_problems(manifest)
    held = Counter(name for tree in trees for name in tree.attributes)
    for name, entry in masked.items():
        if entry.local and held[name] != 1:
            yield f"{name!r} is refined group by group, but is in {held[name]} trees"
    if twice := repeated(str(sorted(tree.attributes)) for tree in trees):
        yield f"two trees are about {twice[0]}"
    for tree in trees:
        if strange := [name for name in tree.attributes if name not in masked]:
            yield f"a tree is about {listed(strange)}, which is not masked"
        if twice := repeated(tree.attributes):
            yield f"a tree names {listed(twice)} twice"
        if others := sorted({split.attribute for split in tree.splits} - set(tree.attributes)):
            yield f"a tree about {listed(tree.attributes)} splits {listed(others)}"
        if len({(split.attribute, split.block, *split.into) for split in tree.splits}) < len(tree.splits):
            yield f"the tree about {listed(tree.attributes)} lists a split twice"
        if len(tree.order) * len(tree.attributes) > LEAF_LABELS:
            yield f"the tree about {listed(tree.attributes)} has {len(tree.order):,} nodes, too many to be checked"


def _set_problems(manifest: RefinementManifest) -> Iterator[str]:
    """A tree is about the attributes of a requirement, in the order of columns, and trees in that of requirements."""
    named = (stated.get("quasi-identifier", stated.get("channel")) for stated in manifest.requirements)
    asked = [{name for name in names if isinstance(name, str)} if isinstance(names, list) else set() for names in named]
    last = -1
    for tree in manifest.boxes:
        own = set(tree.attributes)
        if tree.attributes != [name for name in manifest.masking if name in own]:
            yield f"the attributes {listed(tree.attributes)} of a tree are not in the order of columns"
        places = [place for place, names in enumerate(asked) if names == own]
        if not places:
            yield f"no requirement is about the attributes {listed(tree.attributes)} of a tree"
        elif places[-1] <= last:
            yield "the trees are not in the order of the requirements that they are about"
        last = next((place for place in places if place > last), last)


def check_leaves(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """The labels of every row are those of a leaf of each tree, except for rows that are fully masked, as stated."""
    hidden = fully_masked(manifest, data)
    try:
        for walk in read_boxes(manifest):
            yield from _leaf_findings(walk, manifest, data, hidden)
    except BrokenClaimError:
        return  # `check_boxes` reports it


def _leaf_findings(
    walk: Walk, manifest: RefinementManifest, data: Data, hidden: NDArray[np.bool_]
) -> Iterator[Finding]:
    columns = [data.columns[name] for name in walk.attributes]
    known = [
        np.array([codes.get(str(label), LEAF) for label in column.texts()], dtype=np.int32)[column.codes]
        for column, codes in zip(columns, walk.codes, strict=True)
    ]
    labelled = np.all([codes >= 0 for codes in known], axis=0)  # `check_labels` reports the others
    chosen = labelled & ~hidden
    keys, records = summed([codes[chosen] for codes in known], data.weights[chosen])
    waiting = dict(zip(map(bytes, np.stack(keys, axis=1)), records.tolist(), strict=True))
    masked = {bytes(row) for row in np.stack([codes[hidden & labelled] for codes in known], axis=1)[:1]}
    for leaf in walk.leaves():
        waiting.pop(leaf, None)
        masked.discard(leaf)
    if waiting:
        key, count = max(waiting.items(), key=lambda item: item[1])
        named = [list(codes) for codes in walk.codes]
        row = zip(walk.attributes, named, np.frombuffer(key, dtype=np.int32), strict=True)
        shown = ", ".join(f"{name}={words[code]!r}" for name, words, code in row)
        yield Finding(
            "leaf",
            f"{PARQUET}: {records_text(count)} of ({shown}) {'is' if count == 1 else 'are'} in no leaf of the tree "
            f"about {listed(walk.attributes)} ({records_text(sum(waiting.values()))} in all).",
        )
    if masked:
        yield from excess_findings(manifest, data, hidden)


def _finding(problem: str) -> Finding:
    return Finding("boxes", f"{MANIFEST}, boxes: {problem}.")


class Step:
    """A split as the walk uses it.

    Attributes:
        place: The place of its attribute in the tree.
        block: The code of the label that it splits.
        into: The codes of the parts.
        own: The codes of the parts that cover their own values.
        rest: Whether the last part covers what the others leave.
        size: How much the others cover together.
    """

    def __init__(self, split: Split, place: int, coverage: Coverage, code_of: Mapping[str, int]) -> None:
        own = coverage.own(split)
        self.place = place
        self.block = code_of[split.block]
        self.into = [code_of[part] for part in split.into]
        self.own = [code_of[part] for part in own]
        self.rest = coverage.has_rest(split)
        self.sizes = [coverage.size(part) for part in split.into]
        self.size = sum(self.sizes[: len(own)])
        # In the order of their values, which `cover` has checked.
        self._starts, self._ends = np.array([coverage.spans[part] for part in own]).T

    def parts(self, places: Floats) -> Rows:
        """The part that holds each place; the last one if no other does and it is a rest, else -1."""
        found = np.maximum(np.searchsorted(self._starts, places, side="right") - 1, 0)
        inside = (places >= self._starts[found]) & (places < self._ends[found])
        return np.where(inside, found, len(self.into) - 1 if self.rest else -1)


class Walk:
    """A tree and what its labels cover."""

    def __init__(self, tree: BoxTree, covered: Mapping[str, Coverage]) -> None:
        self.attributes = tree.attributes
        self.coverages = [covered[name] for name in tree.attributes]
        self.codes = [{label: code for code, label in enumerate(item.spans)} for item in self.coverages]
        self.roots = [codes[item.root] for codes, item in zip(self.codes, self.coverages, strict=True)]
        place_of = {name: place for place, name in enumerate(tree.attributes)}
        places = [place_of[split.attribute] for split in tree.splits]
        self._steps = [
            Step(split, place, self.coverages[place], self.codes[place])
            for split, place in zip(tree.splits, places, strict=True)
        ]
        self._tree = tree
        pairs = zip(self.codes, self.coverages, strict=True)
        self._cuts = [
            None if item.entry.local else {codes[label] for label in labels(item.entry) if label in codes}
            for codes, item in pairs
        ]

    def leaves(self) -> Iterator[bytes]:
        """Walks the tree and gives the labels of each leaf that may hold rows, as codes of 32 bits.

        Where an attribute is refined everywhere, such a leaf holds a whole block of the cut. A leaf without rows is not
        refined any more, and may hold a coarser one. A claim is broken if the order is not that of a tree, or a node
        does not partition what it splits.
        """
        position = Position(self)
        used = 0
        order = self._tree.order
        for node, number in enumerate(order, start=1):
            if number == LEAF:
                if not position.unfinished:
                    yield position.labels.tobytes()
            elif number > used or number >= len(self._steps):
                raise self._broken(node, f"has the split {number}, but splits are in the order of their first use")
            else:
                used = max(used, number + 1)
                if problem := position.enter(self._steps[number]):
                    raise self._broken(node, problem)
            more = position.advance()
            if not more and node < len(order):
                raise self._broken(node, f"is the last one of the tree, but its order has {len(order):,}")
        if more:
            raise self._broken(len(order), "is the last one of the order, but the tree is not complete")
        if used < len(self._steps):
            raise self._broken(len(order), f"is the last one, but {len(self._steps) - used:,} splits are not used")

    def final(self, place: int, label: int, left: float) -> bool:
        """Whether a leaf with rows may hold this label: any if it is local, otherwise a block of the cut, whole."""
        cut = self._cuts[place]
        return cut is None or (label in cut and (self.coverages[place].ordered or left == 1))

    def _broken(self, node: int, problem: str) -> BrokenClaimError:
        return BrokenClaimError([_finding(f"the tree about {listed(self.attributes)}: node {node:,} {problem}")])

    def masked(self, places: Sequence[Floats]) -> Codes:
        """The codes of the labels of rows, from where the value of each attribute lies; -1 for a row in no leaf."""
        found = np.full((len(places[0]), len(places)), -1, dtype=np.int32)
        inside = np.flatnonzero(~np.any([np.isnan(column) for column in places], axis=0))
        found[inside] = self.roots
        waiting = [inside]
        for number in self._tree.order:
            rows = waiting.pop()
            if number == LEAF:
                continue
            step = self._steps[number]
            if not len(rows):
                waiting += [rows] * len(step.into)
                continue
            parts = step.parts(places[step.place][rows])
            found[rows, step.place] = np.array(step.into, dtype=np.int32)[parts]
            found[rows[parts < 0]] = -1
            order = np.argsort(parts, kind="stable")
            ends = np.searchsorted(parts[order], np.arange(len(step.into) + 1))
            waiting += [rows[order[ends[part] : ends[part + 1]]] for part in range(len(step.into) - 1, -1, -1)]
        return found


class Position:
    """Where a walk is: the label of every attribute, how much it covers there, and what rests were split off from.

    Attributes:
        labels: The code of the label of every attribute.
        unfinished: How many attributes hold a label that a leaf with rows may not have.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self.labels = array("i", walk.roots)
        self._left = [item.size(item.root) for item in walk.coverages]
        self._apart: list[set[int] | None] = [None] * len(walk.roots)
        self._open: list[Iterator[bool]] = []
        self.unfinished = sum(not walk.final(place, label, self._left[place]) for place, label in enumerate(walk.roots))

    def enter(self, step: Step) -> str | None:
        """Comes to an inner node; gives a clause that says what is wrong with it, if something is."""
        place = step.place
        name = self._walk.attributes[place]
        if self.labels[place] != step.block:
            return f"splits a block of {name!r} that it does not hold"
        apart = self._apart[place]
        if apart is not None and not apart.isdisjoint(step.own):
            return f"separates a part of {name!r} that it does not cover"
        over = self._left[place] - step.size
        if not self._walk.coverages[place].ordered and (over <= 0 if step.rest else over):
            return f"splits {name!r} into parts that cover {'more' if over <= 0 else 'less'} than the node does"
        self._open.append(self._children(step))
        return None

    def advance(self) -> bool:
        """Goes to the next node in preorder; whether there is one."""
        while self._open:
            if next(self._open[-1], False):
                return True
            self._open.pop()
        return False

    def _children(self, step: Step) -> Iterator[bool]:
        """Goes to one child of a node after the other, and in the end back to the node."""
        place = step.place
        label, left, apart = self.labels[place], self._left[place], self._apart[place]
        for child, size in zip(step.into, step.sizes, strict=True):
            if step.rest and child == step.into[-1]:
                others = set() if apart is None else apart
                others.update(step.own)
                self._put(place, child, left - step.size, others)
            else:
                self._put(place, child, size, None)
            yield True
        if step.rest and apart is not None:
            apart.difference_update(step.own)
        self._put(place, label, left, apart)

    def _put(self, place: int, label: int, left: float, apart: set[int] | None) -> None:
        self.unfinished += self._walk.final(place, self.labels[place], self._left[place])
        self.labels[place], self._left[place], self._apart[place] = label, left, apart
        self.unfinished -= self._walk.final(place, label, left)
