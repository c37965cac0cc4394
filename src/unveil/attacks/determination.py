"""Columns that determine a masked one: they undo its masking, although each is released by the rules.

Whoever knows how columns go together, from rows of the same kind, guesses the raw value of a masked column from the
others. The control is the same guess from the label of that column alone, which is what its masking leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray, group_numbers
from unveil.attacks.exposure import Outcome
from unveil.attacks.rates import Rate
from unveil.attacks.records import Coded, coded
from unveil.attacks.scene import Scene, Truth
from unveil.errors import braced
from unveil.evaluation.risk import LOOKED_AT, best_guesses, determines
from unveil.masking import AsIs

PAIRED = 6
"""Pairs are tried among so many columns: those that say most by themselves."""
SHOWN = 3
"""How many masked columns are reported: those that the others say most about."""
LABEL = "a guess from the label of the masked column alone"


@dataclass(frozen=True, eq=False)
class Guessing:
    """A masked column, what is released about it, and who is guessed about."""

    hidden: Coded
    label: IntArray
    people: IntArray
    learned: IntArray
    """The rows to learn from: other people."""

    def rate(self, columns: Sequence[IntArray]) -> Rate:
        """How often the commonest value next to the label and the columns is right."""
        numbers, _ = group_numbers([self.label, *columns])
        learned = best_guesses(numbers[self.learned], self.hidden.codes[self.learned]).value
        of_people = numbers[self.people]
        known = of_people < len(learned)
        guess = np.where(known, learned[np.where(known, of_people, 0)], -1)
        return Rate(int((guess == self.hidden.codes[self.people]).sum()), len(self.people))


def determinations(scene: Scene) -> Iterator[Outcome]:
    """The masked columns that one or two other released columns say most about."""
    truth = scene.truth
    if truth is None or not scene.has_rows:
        return
    rows = _rows(truth)
    masked = scene.release.masking.rows(rows, unseen="suppress")
    names = scene.records.names
    labels = {name: coded(masked[name]).codes for name in names}
    found = [
        _best(name, rows, labels, len(truth.places))
        for name in names
        if name != scene.release.manifest.class_ and not isinstance(scene.release.masking[name], AsIs)
    ]
    yield from sorted(found, key=lambda outcome: (outcome.leak, outcome.risk), reverse=True)[:SHOWN]


def _rows(truth: Truth) -> pa.Table:
    """The people who are guessed about, then others to learn from."""
    others = np.random.default_rng(0).permutation(truth.others)[:LOOKED_AT]
    return truth.rows.take(pa.array(np.concatenate([truth.places, others])))


def _best(name: str, rows: pa.Table, labels: dict[str, IntArray], people: int) -> Outcome:
    guessing = Guessing(coded(rows[name]), labels[name], np.arange(people), np.arange(people, rows.num_rows))
    control = guessing.rate(())
    singles = {(other,): guessing.rate([labels[other]]) for other in labels if other != name}
    best = sorted(singles, key=lambda chosen: singles[chosen].hits, reverse=True)[:PAIRED]
    pairs = [(*one, *other) for one, other in combinations(best, 2)]
    rates = singles | {pair: guessing.rate([labels[other] for other in pair]) for pair in pairs}
    # Of sets that say as much, the smallest.
    chosen = max(rates, key=lambda names: (rates[names].hits, -len(names)))
    success = rates[chosen]
    sentence = (
        f"{braced(chosen)} and its own label tell the raw value of the masked {name} for {success.hits:,} of "
        f"{success.tries:,} people; the label alone tells it for {control.hits:,}."
    )
    return Outcome(
        "determination",
        sentence,
        success,
        control,
        against=LABEL,
        breach=determines(success.share, control.share),
        figures={"columns": list(chosen), "masked": name},
    )
