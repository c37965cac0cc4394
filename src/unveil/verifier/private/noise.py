"""Whether the counts of a private release differ from the true ones as the noise that its ledger pays for would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import exp, log

from unveil.errors import count_text
from unveil.verifier.findings import Finding
from unveil.verifier.parts import PARQUET
from unveil.verifier.private.claims import DiffGenManifest, exact_text
from unveil.verifier.private.counts import CellCounts
from unveil.verifier.private.law import Law, Sum, chance_to_find

LEVEL = 1e-6
"""How rarely an honest release may be blamed, all tests together."""
TESTS = 5
"""Two sums with two ends each, and the largest single move."""
LITTLE, SURE = 0.01, 0.999
LEAST, MOST = Fraction(1, 10**12), Fraction(600)
MOST_CELLS = 10**300
"""A float has an end; so many cells have no threshold that anybody could use."""


class NoiseTest:
    """Released less true counts, beside the law that they should follow."""

    def __init__(self, manifest: DiffGenManifest, cells: CellCounts) -> None:
        floor = 0 if manifest.threshold is None else manifest.threshold - 1
        self._stated = manifest.ledger[-1].amount
        self._total = cells.total
        self._moves: Counter[tuple[int, int]] = Counter()
        for cell in cells.released.keys() | cells.true.keys():
            excess = cells.true.get(cell, 0) - floor
            self._moves[excess, cells.released.get(cell, floor) - floor - max(excess, 0)] += 1
        excesses: Counter[int] = Counter()
        for (excess, _), count in self._moves.items():
            excesses[excess] += count
        rest = min(max(cells.total - self._moves.total(), 0), MOST_CELLS)
        # Beyond these, noise is never and always larger than any count, and floats come to their ends.
        epsilon = float(min(max(self._stated, LEAST), MOST))
        self._law = Law(epsilon, {**excesses, -floor: float(excesses[-floor] + rest)})
        self._size = sum(abs(move) * count for (_, move), count in self._moves.items())
        self._drift = sum(move * count for (_, move), count in self._moves.items())

    @property
    def log_level(self) -> float:
        """How improbable one test must find the counts to blame them."""
        return log(LEVEL / TESTS)

    def findings(self) -> Iterator[Finding]:
        """What is so improbable under the stated law that the counts do not follow it."""
        sums: dict[Sum, int] = {"size": self._size, "drift": self._drift}
        words: dict[tuple[Sum, bool], str] = {
            ("size", False): "the noise in it is too small, or there is none",
            ("size", True): "the noise in it is too large, or the counts are of another table",
            ("drift", False): "too many records are missing",
            ("drift", True): "too many records were added",
        }
        for (of, above), what in words.items():
            rarity = self._law.log_tail(of, sums[of], above=above)
            if rarity < self.log_level:
                yield self._finding(f"its counts differ from the true ones in a way that {what}", rarity)
        (_, move), rarity = min(
            ((pair, self._law.log_move(*pair)) for pair in self._moves), key=lambda item: item[1], default=((0, 0), 0.0)
        )
        if move and rarity + log(min(self._total, MOST_CELLS)) < self.log_level:
            yield self._finding(f"one count is off by {move:+,}, counted from where noise begins to show", rarity)

    def note(self) -> str:
        """What the test can tell at all on this release: its power."""
        cells = count_text(self._total, "cell") if self._total < 10**24 else f"{exact_text(self._total)} cells"
        none, half, double = (chance_to_find(self._law, factor, self.log_level) for factor in (0, 0.5, 2))
        if not none:
            return (
                f"Whether noise was added cannot be told by {cells}: even counts without any would not stand out. "
                "The differences from the true counts are private."
            )
        return (
            f"The differences between released and true counts of {cells} fit noise of ε = {exact_text(self._stated)}. "
            f"Counts without noise would be found for certain, with half the noise {_share(half)}, with twice the "
            f"noise {_share(double)}. The differences are private."
        )

    def _finding(self, what: str, rarity: float) -> Finding:
        amount = exact_text(self._stated)
        odds = f"{exp(rarity):.0e}" if rarity > -600 else "1e-260"
        return Finding("noise", f"{PARQUET}: {what}: with noise of ε = {amount} the odds are below {odds}.")


def _share(chance: float) -> str:
    if chance < LITTLE:
        return "perhaps not"
    return f"in {'over 99.9%' if chance > SURE else f'at least {100 * chance:.0f}%'} of all cases"
