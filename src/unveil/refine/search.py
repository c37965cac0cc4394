"""The loop that all methods share: start from one block per attribute, refine the chosen candidate, repeat.

TDR's Algorithm 1 line by line: the first two lines are `Search.__init__`, line 3 is the `while` of `steps`, line 4 is
`_choose`, line 5 `_perform`, line 6 `_offer`, `Guard.perform` and `_rank`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from unveil.arrays import FloatArray, Growing, IntArray
from unveil.masking import Block, Offer, Refinement, Tree
from unveil.refine.gains import TIED, Gain, InfoGain
from unveil.refine.guard import Guard, Watch, watches
from unveil.refine.hidden import Criterion, Hidden
from unveil.refine.ranking import Ranked, Ranking

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
    """A block of a cut and the parts below it, whether or not a step could separate them."""

    column: int
    """The position of the attribute in the table."""
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
        select: Selector | None = None,
    ) -> None:
        """Masks everything.

        Args:
            trees: The masked attributes: the position of each in the table, and how it is refined.
            histograms: The `[value, class]` counts of every attribute of the table.
            guards: One for each requirement.
            criterion: The score of a candidate. It must not increase with the loss.
            gain: What a refinement is worth; information gain by default.
            select: How the next refinement is picked; by default the best score, and the first of those tied.
        """
        self._trees = dict(trees)
        self._histograms = histograms
        self._guards = guards
        self._criterion = criterion
        self._worth = gain or InfoGain()
        self._select = select
        self._watch = watches(guards, self._trees)
        self._cuts = {column: {tree.root(): None} for column, tree in trees}
        self._offers: list[Offer] = []
        self._column, self._place = Growing(np.int64), Growing(np.int64)
        self._gain, self._loss = Growing(np.float64), Growing(np.float64)
        self._alive = Growing(np.bool_)
        self._ranking = Ranking()
        self._hidden: dict[int, Hidden] = {}
        offers = [self._offer(column, block) for column, cut in self._cuts.items() for block in cut]
        for guard in guards:
            guard.start([offer for offer in offers if offer], self._alive.rows)
        self._rank(np.arange(len(self._alive)))

    @property
    def cuts(self) -> dict[int, list[Block]]:
        """The blocks of each masked attribute."""
        return {column: list(cut) for column, cut in self._cuts.items()}

    @property
    def valid(self) -> bool:
        """Whether every group satisfies every requirement."""
        return all(guard.holds for guard in self._guards)

    def steps(self) -> Iterator[Step]:
        """Refines until nothing valid and beneficial is left. Stopping early leaves a valid table."""
        while (winner := self._choose()) is not None:
            yield self._perform(winner)

    def candidates(self) -> Iterator[Step]:
        """The possible next steps, in the order of attributes and domains, with gains, losses and scores."""
        for candidate in self._open():
            yield Step(self._refinement(candidate), *self._weighed(candidate))

    def remaining(self) -> Iterator[Remaining]:
        """The blocks in the cuts, in the order of attributes and domains, with everything below them."""
        for column, cut in self._cuts.items():
            tree = self._trees[column]
            for block in sorted(cut, key=lambda block: block.first):
                counts = self._histograms[column][block.codes].sum(axis=0)
                beneficial = self._worth.beneficial(counts)
                yield Remaining(column, block, int(counts.sum()), beneficial, tree.parts(block), tree.discloses)

    def _offer(self, column: int, block: Block) -> Offer | None:
        """Enters the candidates of a block that was just added to a cut."""
        tree = self._trees[column]
        parts = tree.parts(block)
        if not parts:
            return None
        offer = Offer(column, tree.attribute, block, parts, tree.discloses, len(self._alive))
        histogram = self._histograms[column]
        count = offer.candidates
        self._offers += [offer] * count
        self._column.add(count, column)
        self._place.add(count, offer.codes if offer.discloses else block.first)
        self._alive.add(count, self._worth.beneficial(histogram[block.codes].sum(axis=0)))
        self._loss.add(count)
        self._gain.add(count)
        if offer.discloses:
            self._hidden[column] = Hidden(
                offer, histogram, self._worth, self._criterion, self._watch[column], self._alive
            )
        else:
            counts = np.array([histogram[part.codes].sum(axis=0) for part in parts])
            self._gain.rows[offer.first] = self._worth.of(counts[None])[0]
        return offer

    def _choose(self) -> int | None:
        """The candidate with the highest score; among ties, the first by attribute, then by domain."""
        if self._select is not None:
            open_ = self._open()
            scores = np.array([self._weighed(candidate)[2] for candidate in open_])
            return open_[self._select(scores)] if open_ else None
        rankings: list[Ranking | Hidden] = [self._ranking, *self._hidden.values()]
        while scored := [(best, held) for held in rankings if (best := held.best()) is not None]:
            best, leading = max(scored, key=itemgetter(0))
            if not leading.settle(leading.leader()):
                continue
            least = best * (1 - TIED)
            tied = [(first, held) for _, held in scored if (first := held.first(least)) is not None]
            (*_, winner), held = min(tied, key=itemgetter(0))
            if held.settle(winner):
                return winner
        return None

    def _open(self) -> list[int]:
        """All candidates that are valid and beneficial, by attribute, then by domain."""
        for hidden in self._hidden.values():
            hidden.settle_all()
        open_ = np.flatnonzero(self._alive.rows)
        order = np.lexsort((self._place.rows[open_], self._column.rows[open_]))
        candidates: list[int] = open_[order].tolist()
        return candidates

    def _weighed(self, candidate: int) -> tuple[float, float, float]:
        """Gain, loss and score."""
        column, number = self._offers[candidate].column, np.array([candidate])
        hidden, watch = self._hidden.get(column), self._watch[column]
        gain = hidden.gains(number) if hidden else self._gain.rows[number]
        loss = watch.loss(watch.after(number))
        return float(gain[0]), float(loss[0]), float(self._criterion(gain, loss)[0])

    def _refinement(self, candidate: int) -> Refinement:
        offer = self._offers[candidate]
        if offer.discloses:
            return self._hidden[offer.column].disclosure(candidate)
        return Refinement(offer.attribute, offer.block, offer.parts)

    def _perform(self, winner: int) -> Step:
        offer, weighed = self._offers[winner], self._weighed(winner)
        known = len(self._alive)
        if offer.discloses:
            refinement = self._hidden[offer.column].disclose(winner)
        else:
            refinement = self._refinement(winner)
            self._alive.rows[winner] = False
            self._ranking.drop(winner)
        cut = self._cuts[offer.column]
        del cut[refinement.block]
        cut.update(dict.fromkeys(refinement.children))
        fresh = [] if offer.discloses else [self._offer(offer.column, child) for child in refinement.children]
        self._tell_guards(winner, refinement, [new for new in fresh if new])
        self._rank(np.arange(known, len(self._alive)))
        return Step(refinement, *weighed)

    def _tell_guards(self, winner: int, refinement: Refinement, offers: Sequence[Offer]) -> None:
        """Lets the guards count, and re-ranks what that changes."""
        column = self._offers[winner].column
        touched = [np.zeros(0, dtype=np.int64)]
        for guard in self._guards:
            before = guard.now
            touched.append(guard.perform(winner, refinement, offers, column, self._alive.rows))
            if np.any(guard.now != before):
                # When a level falls, every candidate that would lower it has less to lose.
                touched.append(np.flatnonzero(self._loss.rows > 0))
        for hidden in self._hidden.values():
            hidden.pass_step()
        self._rank(np.concatenate(touched))

    def _rank(self, candidates: IntArray) -> None:
        """Drops candidates that are no longer valid, and ranks the others by loss and score."""
        candidates = np.unique(candidates[self._alive.rows[candidates]])
        columns = self._column.rows[candidates]
        apart: dict[Watch, list[IntArray]] = {}
        for column in np.unique(columns).tolist():
            mine = candidates[columns == column]
            if column in self._hidden:
                self._hidden[column].renew(mine)
            else:
                apart.setdefault(self._watch[column], []).append(mine)
        for watch, held in apart.items():
            self._rank_together(watch, np.concatenate(held))

    def _rank_together(self, watch: Watch, candidates: IntArray) -> None:
        after = watch.after(candidates)
        valid = watch.valid(after)
        self._alive.rows[candidates[~valid]] = False
        for candidate in candidates[~valid].tolist():
            self._ranking.drop(candidate)
        candidates, loss = candidates[valid], watch.loss(after[valid])
        self._loss.rows[candidates] = loss
        scores = self._criterion(self._gain.rows[candidates], loss)
        order = (array.rows[candidates].tolist() for array in (self._column, self._place))
        for ranked, score in zip(zip(*order, candidates.tolist(), strict=True), scores.tolist(), strict=True):
            self._ranking.put(Ranked(*ranked), score)
