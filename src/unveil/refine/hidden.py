"""The values of an attribute that are still suppressed, and which of them to disclose next.

Every disclosure changes the gain of disclosing any other value, and maybe its loss. Two facts make that cheap:

1. Values with the same class counts have the same gain, whatever else is hidden. It is computed once for all of them.
2. The lowest piece of a candidate never rises again, so earlier counts bound its level, and thus its score, from above.
   Only the best candidates are updated, until the best of all is current.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unveil.arrays import FloatArray, Growing, IntArray
from unveil.masking import Block, Offer, Refinement, Rest
from unveil.refine.gains import Gain, disclosures
from unveil.refine.guard import Watch
from unveil.refine.ranking import NOWHERE, Ranked, Shelves

Criterion = Callable[[FloatArray, FloatArray], FloatArray]
"""The score of candidates from their gains and losses."""


class Hidden:
    """The candidates of an offer that discloses values one at a time. A value is its number in the offer."""

    def __init__(
        self, offer: Offer, histogram: IntArray, gain: Gain, criterion: Criterion, watch: Watch, alive: Growing
    ) -> None:
        """Hides all values of the offer; `alive` says which candidates are of interest, and is cleared for others."""
        self._offer = offer
        self._worth = gain
        self._criterion = criterion
        self._watch = watch
        self._alive = alive
        self._block = offer.block
        self._records: IntArray = histogram[offer.block.codes].sum(axis=0)
        self._disclosed = np.full(len(histogram), len(histogram) + 1)
        self._moment = 0
        self._kinds, kind_of = np.unique(histogram[offer.codes], axis=0, return_inverse=True)
        self._kind_of: IntArray = kind_of.ravel()
        self._left = np.bincount(self._kind_of)
        """How many values of each kind are hidden; values with the same class counts are of one kind."""
        self._gain = np.zeros(len(self._kinds))
        self._shelves = Shelves(len(offer.parts), watch.requirements)
        self._step = 0
        self._counted = np.full(len(offer.parts), -1)
        """The step after which each value was last updated."""
        self._score: FloatArray | None = None
        self._weigh()

    def gains(self, candidates: IntArray) -> FloatArray:
        """What disclosing each is worth now."""
        return self._gain[self._kind_of[candidates - self._offer.first]]

    def best(self) -> float | None:
        """The highest score from the pieces counted so far; the true one may be lower."""
        scores = self._scores()
        highest = float(scores.max(initial=-np.inf))
        return highest if highest > -np.inf else None

    def leader(self) -> int:
        """A candidate with the highest score."""
        return self._offer.first + int(self._shelves.first.rows[np.argmax(self._scores())])

    def first(self, least: float) -> Ranked | None:
        """The first candidate in order with at least this score."""
        tied = self._shelves.first.rows[self._scores() >= least]
        if not len(tied):
            return None
        value = int(tied.min())
        return Ranked(self._offer.column, int(self._offer.codes[value]), self._offer.first + value)

    def settle(self, candidate: int) -> bool:
        """Recounts the pieces of a candidate; says whether its score was current.

        If not, the other values on its shelf are probably stale in the same way, and are recounted too.
        """
        value = candidate - self._offer.first
        shelf = int(self._shelves.shelf_of[value])
        self._count(np.array([value]))
        if not len(self._moved(np.array([value]))):
            return True
        self.settle_all(self._shelves.members(shelf))
        return False

    def settle_all(self, values: IntArray | None = None) -> None:
        """Updates values; all open ones if none are given."""
        if values is None:
            values = np.flatnonzero(self._shelves.shelf_of != NOWHERE)
        self._count(values)
        self._shelve(self._moved(values))

    def renew(self, candidates: IntArray) -> None:
        """Records that pieces of candidates were counted."""
        values = candidates - self._offer.first
        self._shelve(self._moved(values[self._alive.rows[candidates]]))

    def pass_step(self) -> None:
        """Records that a step was performed: counts of pieces may be stale, and scores are."""
        self._step += 1
        self._score = None

    def disclosure(self, candidate: int) -> Refinement:
        """What a candidate would do."""
        part = self._offer.parts[candidate - self._offer.first]
        codes = self._block.codes
        rest = Block(self._block.label, codes[codes != part.first])
        return Refinement(self._offer.attribute, self._block, (part, rest))

    def disclose(self, candidate: int) -> Refinement:
        """Discloses a value."""
        value = candidate - self._offer.first
        self._close(np.array([value]))
        part, kind = self._offer.parts[value], self._kind_of[value]
        self._records = self._records - self._kinds[kind]
        self._moment += 1
        self._disclosed[part.first] = self._moment
        rest = Rest(self._block.label, self._disclosed, self._moment)
        refinement = Refinement(self._offer.attribute, self._block, (part, rest))
        self._block = rest
        self._weigh()
        return refinement

    def _weigh(self) -> None:
        """The gain of disclosing a value depends on what else is hidden, so it changes with every disclosure."""
        if not self._worth.beneficial(self._records):
            first = self._offer.first
            self._close(np.flatnonzero(self._alive.rows[first : first + self._offer.candidates]))
            return
        left = self._left > 0
        self._gain[left] = self._worth.of(disclosures(self._kinds[left], self._records))
        self._score = None

    def _scores(self) -> FloatArray:
        """The score of every shelf."""
        if self._score is None:
            shelves = self._shelves
            scores = self._criterion(self._gain[shelves.kind.rows], self._watch.loss(shelves.after.rows))
            self._score = np.where(shelves.number.rows > 0, scores, -np.inf)
        return self._score

    def _count(self, values: IntArray) -> None:
        values = values[self._counted[values] < self._step]
        if len(values):
            self._watch.recount(self._offer, self._offer.first + values)
            self._counted[values] = self._step

    def _moved(self, values: IntArray) -> IntArray:
        """The values that no longer belong on their shelves."""
        after = self._watch.after(self._offer.first + values)
        shelf = self._shelves.shelf_of[values]
        known = np.full(after.shape, np.nan)
        known[shelf != NOWHERE] = np.minimum(self._watch.now(), self._shelves.after.rows[shelf[shelf != NOWHERE]])
        moved: IntArray = values[(shelf == NOWHERE) | np.any(after != known, axis=1)]
        return moved

    def _shelve(self, values: IntArray) -> None:
        if not len(values):
            return
        after = self._watch.after(self._offer.first + values)
        valid = self._watch.valid(after)
        self._close(values[~valid])
        if valid.any():
            self._shelves.put(values[valid], self._kind_of[values[valid]], after[valid])
        self._score = None

    def _close(self, values: IntArray) -> None:
        """The values that are disclosed, or no longer can be."""
        self._alive.rows[self._offer.first + values] = False
        np.subtract.at(self._left, self._kind_of[values], 1)
        self._shelves.take(values)
        self._score = None
