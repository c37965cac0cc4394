"""The joint search that may leave out records, by brute force, from its definition (docs/decisions 0049, 0055, 0089).

Plain Python. What is left out is what no group holds any longer. Shares no code with the package.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import floor, log2
from typing import Literal

from .blocks import Bottom, Disclosed, top
from .joint import Block, Box, Candidate, Local, Result, Search, Step, Weighed, added, masked, pieces_of, purity, size
from .problem import Problem, Record


def class_entropy(records: Sequence[Record]) -> float:
    """The entropy of the class, per record."""
    freq: Counter[str] = Counter()
    for record in records:
        freq[record.cls] += record.weight
    return -sum(count / size(records) * log2(count / size(records)) for count in freq.values())


def units(records: Sequence[Record]) -> int:
    """What a budget counts: the persons whose records these are, or the records."""
    persons = {record.person for record in records}
    return size(records) if "" in persons else len(persons)


@dataclass
class Leaving(Search):
    """A search that may leave out pieces that break a requirement."""

    budget: int = 0

    def __post_init__(self) -> None:
        self.entropy = class_entropy(self.problem.records)
        super().__post_init__()
        self.out: list[Record] = []
        self.frugal: list[Box | tuple[str, Block]] = []
        """The boxes and blocks that may leave out nothing, though their pieces may."""
        for boxes in self.boxes.values():
            for box in boxes:
                box.spare = self.budget * units(box.records) // sum(units(other.records) for other in boxes)

    def broken(self, names: tuple[str, ...], records: Sequence[Record]) -> bool:
        """Whether these records break a requirement as a group of their own."""
        mine = [r for r in self.requirements if self.named(r.attributes) == names]
        return not all(r.holds(r.level([self.tally(r, records)])) for r in mine)

    def left(self) -> int:
        """How many records or persons may still be left out."""
        return self.budget - units(self.out)

    def bill(self, names: tuple[str, ...], box: Box, name: str, candidate: Candidate) -> tuple[Weighed, int] | None:
        """What a candidate is worth in a box, and what it leaves out; None if it may not.

        Something of the box remains, and no value is disclosed of which records are left out. The information of a
        group, n·(H₀ − H), is lost with it.
        """
        pieces = pieces_of(box.records, name, candidate.children)
        weighed = self.weigh(names, box.records, pieces)
        gain = weighed.gain
        out = [piece for piece in pieces if self.broken(names, piece)]
        shown = [c for c in candidate.children if isinstance(c, Disclosed) and isinstance(box.blocks[name], Bottom)]
        if len(out) == len(pieces) or any(child.holds(piece[0].values[name]) for child in shown for piece in out):
            return None
        for piece in out:
            gain -= floor(size(piece) * self.entropy * self.fine + 0.5)
            gain -= floor(purity(piece, self.steering) * self.fine + 0.5)
        return weighed._replace(gain=gain), sum(map(units, out))

    def alone(self, names: tuple[str, ...], box: Box, name: str, candidate: Candidate) -> Weighed | None:
        bill = self.bill(names, box, name, candidate)
        return affordable([bill], 0 if box in self.frugal else box.spare)

    def together(
        self, holding: Sequence[tuple[tuple[str, ...], Box]], name: str, candidate: Candidate
    ) -> Weighed | None:
        bills = [self.bill(names, box, name, candidate) for names, box in holding]
        block = holding[0][1].blocks[name]
        return affordable(bills, 0 if (name, block) in self.frugal else self.left())

    def split(self, box: Box, name: str, candidate: Candidate) -> list[Box]:
        """The pieces that are not left out, each with its share of what may still be left out."""
        pieces = super().split(box, name, candidate)
        names = self.named(box.blocks)
        if name not in names:
            return pieces  # what the search starts with
        kept = [piece for piece in pieces if not self.broken(names, piece.records)]
        rest = sum(units(piece.records) for piece in kept)
        spare = max(box.spare - sum(units(piece.records) for piece in pieces if piece not in kept), 0)
        for piece in kept:
            piece.spare = spare * units(piece.records) // rest
        return kept

    def refine_box(self, names: tuple[str, ...], box: Box, option: Local) -> Step | None:
        return self.unless_broken(box, lambda: super(Leaving, self).refine_box(names, box, option))

    def refine_everywhere(self, rank: float, name: str, candidate: Candidate, block: Block, gain: float) -> Step | None:
        return self.unless_broken(
            (name, block), lambda: super(Leaving, self).refine_everywhere(rank, name, candidate, block, gain)
        )

    def unless_broken(self, which: Box | tuple[str, Block], refine: Callable[[], Step | None]) -> Step | None:
        """Refines, and leaves out everywhere what is in no group of some set of attributes.

        If that is too much, or breaks or empties a group, all is as before, and no record is left out for this.
        """
        before = {names: list(boxes) for names, boxes in self.boxes.items()}
        held = {id(box): list(box.records) for boxes in self.boxes.values() for box in boxes}
        entered = self.entered
        step = refine()
        inside = [{id(record) for box in boxes for record in box.records} for boxes in self.boxes.values()]
        out = [record for record in self.problem.records if not all(id(record) in ids for ids in inside)]
        gone = {id(record) for record in out}
        for boxes in self.boxes.values():
            for box in boxes:
                box.records = [record for record in box.records if id(record) not in gone]
        if units(out) <= self.budget and all(
            box.records and not self.broken(names, box.records) for names, boxes in self.boxes.items() for box in boxes
        ):
            self.out = out
            return step
        self.boxes, self.entered = before, entered
        for boxes in self.boxes.values():
            for box in boxes:
                box.records = held[id(box)]
        self.frugal.append(which)
        return None


def affordable(bills: Sequence[tuple[Weighed, int] | None], spare: int) -> Weighed | None:
    """What a candidate is worth, if no information is lost by it and what it leaves out is covered."""
    held = [bill for bill in bills if bill is not None]
    if len(held) < len(bills):
        return None
    together = added([weighed for weighed, _ in held])
    return together if sum(cost for _, cost in held) <= spare and together.gain >= 0 else None


@dataclass
class LeavingResult:
    """The steps and groups, and the records that are left out."""

    result: Result
    out: list[Record]
    masked: bool
    """Whether those are released fully masked."""

    def table(self, problem: Problem) -> list[Record]:
        """The released records."""
        gone = {id(record) for record in self.out}
        kept = [record for record in problem.records if id(record) not in gone]
        names = {name for held in self.result.boxes for name in held}
        roots = {attribute.name: top(attribute).label for attribute in problem.attributes if attribute.name in names}
        hidden = [replace(record, values={**record.values, **roots}) for record in self.out if self.masked]
        return [*masked(replace(problem, records=kept), self.result), *hidden]


def leaving(
    problem: Problem, recoding: Literal["global", "local"], share: Fraction, how: Literal["drop", "mask"] = "drop"
) -> LeavingResult:
    search = Leaving(problem, recoding, budget=floor(share * units(problem.records)))
    steps = list(islice(search.steps(), problem.steps))
    hidden = how == "mask" and bool(search.out) and not any(search.broken(names, search.out) for names in search.boxes)
    return LeavingResult(Result(steps, search.boxes), search.out, hidden)
