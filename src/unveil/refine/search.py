"""The loop that all methods share: start from one block per attribute, refine the chosen candidate, go on.

TDR's Algorithm 1 line by line: the first two lines are `Search.__init__`, line 3 is the `while` of `steps`, line 4 is
`_choose`, line 5 `_perform`, line 6 `_offer` and `Guard.perform`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.masking import Block, Offer, Refinement, Tree
from unveil.refine.gains import Gain, InfoGain, disclosures, first_best
from unveil.refine.guard import Guard

Criterion = Callable[[FloatArray, FloatArray], FloatArray]
"""The score of candidates from their gains and losses."""


Selector = Callable[[FloatArray], int]
"""Picks one of the candidates, given their scores in the order of attributes and domains."""


def gain_per_loss(gain: FloatArray, loss: FloatArray) -> FloatArray:
    """Equation 1: Score = InfoGain / (AnonyLoss + 1)."""
    return gain / (loss + 1)


def gain_alone(gain: FloatArray, loss: FloatArray) -> FloatArray:
    """The paper's alternative: the information gain, whatever it costs."""
    return gain


@dataclass(frozen=True)
class Step:
    """A refinement that was performed, and why it was the best."""

    refinement: Refinement
    gain: float
    loss: float
    score: float


@dataclass(frozen=True, eq=False)
class Remaining:
    """A block of a cut and the parts below it, whether a step could tell them apart or not."""

    column: int
    """The place of the attribute in the table."""
    block: Block
    records: int
    beneficial: bool
    parts: tuple[Block, ...]
    discloses: bool
    """Whether parts are disclosed one at a time."""


class Search:
    """A table between fully masked and maximally refined. Every state on the way satisfies the requirements."""

    def __init__(
        self,
        trees: Sequence[tuple[int, Tree]],
        histograms: Sequence[IntArray],
        guards: Sequence[Guard],
        criterion: Criterion = gain_per_loss,
        gain: Gain | None = None,
        select: Selector = first_best,
    ) -> None:
        """Masks everything.

        Args:
            trees: The masked attributes: the place of each in the table, and how it is refined.
            histograms: The `[value, class]` counts of every attribute of the table.
            guards: One for each requirement.
            criterion: What makes a candidate better than another.
            gain: What a refinement is worth; information gain if nothing else is given.
            select: How the next refinement is picked; the best score, and of those tied the first.
        """
        self._trees = dict(trees)
        self._histograms = histograms
        self._guards = guards
        self._criterion = criterion
        self._worth = gain or InfoGain()
        self._select = select
        self.cuts: dict[int, list[Block]] = {column: [tree.root()] for column, tree in trees}
        self._offers: list[Offer] = []
        self._column: IntArray = np.zeros(0, dtype=np.int64)
        self._place: IntArray = np.zeros(0, dtype=np.int64)
        self._gain: FloatArray = np.zeros(0)
        self._alive: BoolArray = np.zeros(0, dtype=np.bool_)
        offers = [self._offer(column, blocks[0]) for column, blocks in self.cuts.items()]
        for guard in guards:
            guard.start([offer for offer in offers if offer], self._alive)

    def steps(self) -> Iterator[Step]:
        """Refines until nothing valid and beneficial is left. Stopping early leaves a valid table."""
        while (winner := self._choose()) is not None:
            yield self._perform(*winner)

    def candidates(self) -> Iterator[Step]:
        """What could be done next, in the order of the attributes, with gains, losses and scores."""
        loss, score = self._scores()
        for winner in np.flatnonzero(self._alive):
            refinement = self._refinement(int(winner))
            yield Step(refinement, float(self._gain[winner]), float(loss[winner]), float(score[winner]))

    def remaining(self) -> Iterator[Remaining]:
        """The blocks in the cuts, in the order of attributes and domains, with all that is left below them."""
        for column, cut in self.cuts.items():
            tree = self._trees[column]
            for block in sorted(cut, key=lambda block: block.first):
                counts = self._histograms[column][block.codes].sum(axis=0)
                beneficial = self._worth.beneficial(counts)
                yield Remaining(column, block, int(counts.sum()), beneficial, tree.parts(block), tree.discloses)

    def _offer(self, column: int, block: Block) -> Offer | None:
        """Enters the candidates of a block that has just come into the cut."""
        tree = self._trees[column]
        parts = tree.parts(block)
        if not parts:
            return None
        offer = Offer(column, tree.attribute, block, parts, tree.discloses, len(self._gain))
        histogram = self._histograms[column]
        records = histogram[block.codes].sum(axis=0)
        counts = np.array([histogram[part.codes].sum(axis=0) for part in parts])
        gains = self._worth.of(disclosures(counts, records) if offer.discloses else counts[None])
        beneficial = np.full(len(gains), self._worth.beneficial(records))
        firsts = [part.first for part in parts] if offer.discloses else [block.first]
        self._column = np.append(self._column, np.full(len(gains), column))
        self._place = np.append(self._place, firsts)
        self._gain = np.append(self._gain, gains)
        self._alive = np.append(self._alive, beneficial)
        self._offers += [offer] * len(gains)
        return offer

    def _scores(self) -> tuple[FloatArray, FloatArray]:
        """Drops candidates that are no longer valid; gives loss and score of all."""
        loss = np.zeros(len(self._gain))
        holders = np.zeros(len(self._gain))
        for guard in self._guards:
            concerned = guard.concerns(self._column)
            self._alive &= guard.valid() | ~concerned
            loss += np.where(concerned, guard.loss(), 0.0)
            holders += np.where(concerned, len(guard), 0)
        loss /= np.maximum(holders, 1)
        return loss, self._criterion(self._gain, loss)

    def _choose(self) -> tuple[int, float, float] | None:
        """The selected candidate; they are offered by attribute, then by the order of the domain."""
        loss, score = self._scores()
        open_ = np.flatnonzero(self._alive)
        if not len(open_):
            return None
        open_ = open_[np.lexsort((self._place[open_], self._column[open_]))]
        winner = int(open_[self._select(score[open_])])
        return winner, float(loss[winner]), float(score[winner])

    def _refinement(self, winner: int) -> Refinement:
        offer = self._offers[winner]
        if not offer.discloses:
            return Refinement(offer.attribute, offer.block, offer.parts)
        disclosed = offer.parts[winner - offer.first]
        hidden = next(block for block in self.cuts[offer.column] if block.label == offer.block.label)
        rest = Block(hidden.label, hidden.codes[hidden.codes != disclosed.first])
        return Refinement(offer.attribute, hidden, (disclosed, rest))

    def _perform(self, winner: int, loss: float, score: float) -> Step:
        refinement = self._refinement(winner)
        offer = self._offers[winner]
        gain = float(self._gain[winner])
        self.cuts[offer.column].remove(refinement.block)
        self.cuts[offer.column] += refinement.children
        self._alive[winner] = False
        offers = [] if offer.discloses else [self._offer(offer.column, child) for child in refinement.children]
        if offer.discloses:
            self._reconsider(offer, refinement.children[1])
        for guard in self._guards:
            fresh = [new for new in offers if new]
            guard.perform(winner, refinement, fresh, offer.column, self._alive)
        return Step(refinement, gain, loss, score)

    def _reconsider(self, offer: Offer, rest: Block) -> None:
        """The gain of disclosing a value hangs on what else is hidden, so it changes with every disclosure."""
        histogram = self._histograms[offer.column]
        hidden = histogram[rest.codes].sum(axis=0)
        numbers = np.arange(offer.first, offer.first + offer.candidates)
        self._alive[numbers] &= self._worth.beneficial(hidden)
        still = numbers[self._alive[numbers]]
        if len(still):
            self._gain[still] = self._worth.of(disclosures(histogram[self._place[still]], hidden))
