"""Both searches by brute force where some records only choose the masking (docs/decisions 0090).

What a refinement gains is counted in the records to learn from; what the requirements allow, by grouping the released
ones. Groups without a released record are no groups. Shares no code with the package.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from .blocks import Bottom, Cuts, Disclosed, Interval, mask
from .joint import (
    UNSTEERED,
    Block,
    Box,
    Candidate,
    Result,
    Search,
    Steering,
    entropy,
    grid,
    pieces_of,
    size,
)
from .problem import Problem, Record
from .tdr import Step, first_best, held, info_gain, levels, most_masked, refined, without_redundant
from .tdr import refinements as paper_refinements

Refinement = tuple[str, Block, tuple[Block, ...]]


# ---- The joint search ----


@dataclass
class LearningSearch(Search):
    """The problem has the records that are released."""

    learning: Sequence[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._learns = {id(record) for record in self.learning}
        super().__post_init__()
        records = [*self.problem.records, *self.learning]
        self.fine = 2.0 ** min(24, 56 - size(self.learning).bit_length())
        for attribute in self.problem.attributes:
            if attribute.name in self.cuts:
                by_box = attribute.name in self.by_box
                self.cuts[attribute.name] = grid(attribute, self.learning if by_box else records, by_box, self.steering)
        self.bits = {name: entropy(name, self.learning) or 1.0 for name in self.order}
        marks = [self.steering.targets(record) for record in self.learning]
        self.shares = sum(len(set(values)) - 1 for values in zip(*marks, strict=True))

    def kept(self, names: tuple[str, ...]) -> list[Box]:
        (whole,) = super().kept(names)
        return [replace(whole, records=[*self.problem.records, *self.learning])]

    def gaining(self, records: Sequence[Record]) -> list[Record]:
        return [record for record in records if id(record) in self._learns]

    def released(self, records: Sequence[Record]) -> list[Record]:
        return [record for record in records if id(record) not in self._learns]

    def holds(self, names: tuple[str, ...], pieces: Sequence[Sequence[Record]]) -> bool:
        return super().holds(names, [shown for piece in pieces if (shown := self.released(piece))])

    def split(self, box: Box, name: str, candidate: Candidate) -> list[Box]:
        return [piece for piece in super().split(box, name, candidate) if self.released(piece.records)]

    def splits(self, box: Box, name: str, candidate: Candidate, pieces: Sequence[Sequence[Record]]) -> bool:
        """It must tell apart records to learn from, and released ones, unless it is all parts at once."""
        whole = candidate.slot == 0 and not isinstance(box.blocks[name], Interval)
        if whole:
            return True
        apart = all(
            len(pieces_of(part(box.records), name, candidate.children)) > 1 for part in (self.gaining, self.released)
        )
        following = min((at for at in self.cuts.get(name, ()) if at > candidate.slot), default=inf)
        raws = [record.values[name] for record in self.gaining(box.records)]
        is_last = not isinstance(box.blocks[name], Interval) or any(
            candidate.slot <= float(raw) < following for raw in raws
        )
        return apart and is_last

    def divides(self, holding: Sequence[tuple[tuple[str, ...], Box]], name: str, candidate: Candidate) -> bool:
        return any(len(pieces_of(self.released(box.records), name, candidate.children)) > 1 for _, box in holding)

    def shown(self, candidate: Candidate, boxes: Sequence[Box], name: str) -> tuple[str, ...]:
        """A value that no released record of these boxes holds is not named."""
        raws = {record.values[name] for box in boxes for record in self.released(box.records)}
        return tuple(c.label for c in candidate.children if not isinstance(c, Disclosed) or c.label in raws)


def learned_joint(
    problem: Problem,
    learning: Sequence[Record],
    recoding: Literal["global", "local"],
    steering: Steering = UNSTEERED,
) -> Result:
    search = LearningSearch(problem, recoding, steering, learning=learning)
    return Result(list(search.steps()), search.boxes)


# ---- The paper's search ----


def learned_tdr(problem: Problem, learning: Sequence[Record]) -> tuple[list[Step], list[Record]]:
    """By information gain alone: the steps, and the released records, masked."""
    requirements, cuts, steps = without_redundant(problem.requirements), most_masked(problem), list[Step]()

    def gain(option: Refinement) -> float:
        name, block, _ = option
        return info_gain(learning, *option) if held(learning, name, block) else 0.0

    def valid(option: Refinement) -> bool:
        after = levels(problem, refined(cuts, *option), requirements)
        return all(one.holds(level) for one, level in zip(requirements, after, strict=True))

    while open_ := [option for option in options(problem, learning, cuts) if valid(option)]:
        best = first_best(open_, gain)
        steps.append(Step(best[0], best[1].label, tuple(child.label for child in best[2]), gain(best), 0, 0))
        cuts = refined(cuts, *best)
    return steps, mask(problem.records, cuts)


def options(problem: Problem, learning: Sequence[Record], cuts: Cuts) -> list[Refinement]:
    """Values that a released record holds, splits with released records on both sides; classes must differ."""
    found: list[Refinement] = []
    for name, cut in cuts.items():
        for block in cut:
            if len({record.cls for record in held(learning, name, block)}) > 1:
                source = problem.records if isinstance(block, Bottom) else learning
                for children in paper_refinements(source, name, block):
                    parts = [held(problem.records, name, child) for child in children]
                    if not isinstance(block, Interval) or all(parts):
                        found.append((name, block, children))
    return found
