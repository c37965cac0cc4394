"""Whether released numbers differ from the true ones as noise, or sampling, would make them differ.

A cell of m records shows X = max(m + Z, f), where Z has P(Z = z) ∝ exp(−ε|z|). The floor f is 0 where all cells are
listed, and one less than the threshold otherwise: a cell that is not listed shows the floor.
Its move is v = X − max(m, f), what noise changed:

    m ≤ f, with g = f − m:   v = 0, or j ≥ 1 with P(v = j) = P(Z = g + j)
    m > f, with c = m − f:   v = max(Z, −c)

A measured number less the true one is Z with P(Z = z) ∝ exp(−r|z|), where r is what the draw cost, over the most that
a record weighs. Moves are independent, so the moment generating function of a sum of them is a product, and Chernoff's
inequality bounds the tails of the sum for every number of moves: no approximation can accuse an honest release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, inf, log, log1p
from typing import TYPE_CHECKING, Literal

import numpy as np

from unveil.errors import count_text, records_text
from unveil.verifier.claims import MANIFEST, PARQUET, Finding
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import DiffGenManifest, SafeManifest
from unveil.verifier.values import exact_text

if TYPE_CHECKING:
    from unveil.verifier.private.replay import Cells, Measurement

LEVEL = 1e-6
"""How rarely all tests together may report an honest release."""
TESTS = 5
"""Two sums with two ends each, and the largest single move."""
MOST_CELLS = 10**300
"""Floats end near 10^308; no threshold is usable with so many cells."""
LITTLE, SURE = 0.01, 0.999
LEAST, MOST = Fraction(1, 10**12), Fraction(600)
"""Beyond these rates noise is always or never larger than any count, and floats overflow."""
Sum = Literal["size", "drift"]
"""The sum of the sizes |v| of all moves, which shows how large the noise is; that of v, which shows where it leans."""
SLOPES = np.geomspace(1e-5, 0.999, 120)
STEEP = np.geomspace(1.0, 60.0, 40)
"""Where Chernoff's bound is taken, in units of the rate. Any set is valid, and a fine one loses little."""
ENDS = 3
"""The rarest group, and both ends of the total."""
BOTH_SLOPES = np.concatenate([-np.geomspace(1e-4, 2, 40), np.geomspace(1e-4, 2, 40)])
"""Where Chernoff's bound is taken."""


@dataclass(frozen=True)
class Law(ABC):
    """The law of two sums of moves."""

    rate: float = field(kw_only=True)
    """That of the noise. Below this slope the moment generating functions are finite."""

    def scaled(self, factor: float) -> Law:
        """The law of the same sums if the scale of the noise is this many times larger."""
        return replace(self, rate=self.rate / factor)

    @abstractmethod
    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        """The logarithm of the moment generating function of the sum, at some slopes."""

    def log_tail(self, of: Sum, reached: float, *, above: bool) -> float:
        """A bound on the logarithm of the probability that the sum is at least (or at most) what was reached."""
        slopes = self._slopes(of, above=above)
        return min(0.0, float((self._cumulants(of, slopes) - slopes * reached).min()))

    def critical(self, of: Sum, log_level: float, *, above: bool) -> float:
        """The sum from which on it is as improbable as the level; infinite if none is."""
        slopes = self._slopes(of, above=above)
        ends = (self._cumulants(of, slopes) - log_level) / slopes
        return float(ends.min() if above else ends.max())

    def _slopes(self, of: Sum, *, above: bool) -> Floats:
        if above:
            return SLOPES * self.rate
        return -(np.concatenate([SLOPES, STEEP]) if of == "size" else SLOPES) * self.rate


@dataclass(frozen=True)
class CellLaw(Law):
    """The moves of cells with this many records each, which end at a floor."""

    rate: float
    """What the noise costs."""
    excesses: Mapping[int, float]
    """Records of a cell less the floor, and how many cells have that."""

    def log_move(self, excess: int, move: int) -> float:
        """A bound on the logarithm of the probability that the move of one cell is at least as large."""
        return log_reach(self.rate, move + max(-excess, 0) if move > 0 else -move)

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        total = np.zeros(len(slopes))
        for excess, cells in self.excesses.items():
            total += cells * self._cumulant(of, excess, slopes)
        return total

    def _cumulant(self, of: Sum, excess: int, slopes: Floats) -> Floats:
        alpha = exp(-self.rate)
        up = np.exp(slopes - self.rate)
        if excess <= 0:
            rare = exp(-self.rate * (1 - excess)) / (1 + alpha)
            risen: Floats = np.log1p(rare * ((1 - alpha) * np.exp(slopes) / (1 - up) - 1))
            return risen
        down = up if of == "size" else np.exp(-slopes - self.rate)
        lowest = down**excess
        inner = 1 + up / (1 - up) + (down - lowest) / (1 - down)
        moved: Floats = np.log((1 - alpha) / (1 + alpha) * inner + lowest / (1 + alpha))
        return moved


@dataclass(frozen=True)
class NoiseLaw(Law):
    """Noise of several rates: a move of rate r counts as r times itself, so that none outweighs the others."""

    moves: Mapping[float, int]
    """How many moves there are of each stated rate."""
    rate: float = field(default=1, kw_only=True)
    """That of a move in these units: 1, unless the true rates are other ones than stated."""

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        total = np.zeros(len(slopes))
        for rate, count in self.moves.items():
            true = rate * self.rate
            up = np.exp(slopes * rate - true)
            down = up if of == "size" else np.exp(-slopes * rate - true)
            chance = np.tanh(true / 2)
            total += count * np.log(chance * (1 + up / (1 - up) + down / (1 - down)))
        return total


def log_reach(rate: float, reach: float) -> float:
    """The logarithm of the probability that noise of a rate is at least so large, on either side."""
    return min(0.0, log(2) - rate * reach - log1p(exp(-rate)))


def chance_to_find(law: Law, factor: float, log_level: float) -> float:
    """A lower bound on the chance that a sum of sizes reveals noise whose scale is `factor` times that of the law.

    A factor of 0 is no noise. A sum is reported if the logarithm of its probability is below `log_level`.
    """
    end = law.critical("size", log_level, above=factor > 1)
    if factor == 0:
        return 1.0 if end >= 0 else 0.0
    if (factor < 1 and end < 0) or end == inf:
        return 0.0
    missed = law.scaled(factor).log_tail("size", end, above=factor < 1)
    return 1 - exp(missed)


def tail_findings(law: Law, size: float, drift: float, log_level: float) -> Iterator[tuple[str, float]]:
    """The ends of both sums that are too improbable, in words, and the logarithm of how improbable they are."""
    words: dict[tuple[Sum, bool], str] = {
        ("size", False): "the noise in it is too small, or there is none",
        ("size", True): "the noise in it is too large, or the counts are of another table",
        ("drift", False): "too many records are missing",
        ("drift", True): "too many records were added",
    }
    for (of, above), what in words.items():
        rarity = law.log_tail(of, size if of == "size" else drift, above=above)
        if rarity < log_level:
            yield what, rarity


def chance_text(chance: float) -> str:
    """How certainly something is found, in words."""
    if chance < LITTLE:
        return "perhaps not"
    return f"in {'over 99.9%' if chance > SURE else f'at least {int(100 * chance)}%'} of all cases"


def noise_finding(file: str, what: str, rate: Fraction, rarity: float) -> Finding:
    """Differences that the noise of a rate hardly makes."""
    odds = f"{exp(rarity):.0e}" if rarity > -600 else "1e-260"
    return Finding("noise", f"{file}: {what}: with noise of ε = {exact_text(rate)} the odds are below {odds}.")


def float_rate(rate: Fraction) -> float:
    """A rate that floats can work with."""
    return float(min(max(rate, LEAST), MOST))


class NoiseTest:
    """Released minus true counts, compared with the law that they should follow."""

    def __init__(self, manifest: DiffGenManifest, released: Cells, true: Cells) -> None:
        floor = 0 if manifest.threshold is None else manifest.threshold - 1
        self._stated = manifest.per_record(manifest.ledger[-1])
        self._total = manifest.cells
        self._moves: Counter[tuple[int, int]] = Counter()
        for cell in released.keys() | true.keys():
            excess = true.get(cell, 0) - floor
            self._moves[excess, released.get(cell, floor) - floor - max(excess, 0)] += 1
        excesses: Counter[int] = Counter()
        for (excess, _), count in self._moves.items():
            excesses[excess] += count
        rest = min(max(manifest.cells - self._moves.total(), 0), MOST_CELLS)
        self._law = CellLaw(float_rate(self._stated), {**excesses, -floor: float(excesses[-floor] + rest)})
        self._size = sum(abs(move) * count for (_, move), count in self._moves.items())
        self._drift = sum(move * count for (_, move), count in self._moves.items())
        # How improbable the counts must be for one test to report them.
        self._log_level = log(LEVEL / TESTS)

    def findings(self) -> Iterator[Finding]:
        """Differences that are too improbable under the stated law."""
        for what, rarity in tail_findings(self._law, self._size, self._drift, self._log_level):
            differ = f"its counts differ from the true ones in a way that {what}"
            yield noise_finding(PARQUET, differ, self._stated, rarity)
        (_, move), rarity = min(
            ((pair, self._law.log_move(*pair)) for pair in self._moves), key=lambda item: item[1], default=((0, 0), 0.0)
        )
        if move and rarity + log(min(self._total, MOST_CELLS)) < self._log_level:
            off = f"one count is off by {move:+,}, counted from where noise begins to show"
            yield noise_finding(PARQUET, off, self._stated, rarity)

    def note(self) -> str:
        """What the test can show on this release: its power."""
        cells = count_text(self._total, "cell") if self._total < 10**24 else f"{exact_text(self._total)} cells"
        none, half, double = (chance_to_find(self._law, factor, self._log_level) for factor in (0, 0.5, 2))
        if not none:
            return (
                f"{cells} cannot show whether noise was added: even counts without noise would pass. "
                "The differences from the true counts are private."
            )
        return (
            f"The differences between released and true counts of {cells} fit noise of ε = {exact_text(self._stated)}. "
            f"Counts without noise would be found for certain, with half the noise {chance_text(half)}, with twice the "
            f"noise {chance_text(double)}. The differences are private."
        )


class MeasuredTest:
    """Measured minus true numbers, compared with the law of their noise: draw by draw, and all together."""

    def __init__(self, measured: list[Measurement]) -> None:
        self._measured = measured
        rates: Counter[float] = Counter()
        for one in measured:
            rates[one.rate] += one.noisy.size
        self._law = NoiseLaw(rates)
        # How improbable numbers must be for one test to report them: every draw is tested, and all together.
        self._log_level = log(LEVEL / (TESTS * (len(measured) + 1)))

    def findings(self) -> Iterator[Finding]:
        """Differences that are too improbable under the stated law."""
        for one in self._measured:
            yield from self._draw_findings(one)
        size, drift = (sum(sums) for sums in zip(*(one.sums for one in self._measured), strict=True))
        for what, rarity in tail_findings(self._law, size, drift, self._log_level):
            total = sum((one.cost for one in self._measured), Fraction(0))
            yield noise_finding(
                MANIFEST, f"all measured numbers differ from the true ones in a way that {what}", total, rarity
            )

    def _draw_findings(self, one: Measurement) -> Iterator[Finding]:
        rate = one.cost / one.unit
        for what, rarity in tail_findings(one.law, *one.sums, self._log_level):
            yield noise_finding(
                MANIFEST, f"the {one.purpose} differ from the true ones in a way that {what}", rate, rarity
            )
        move = int(one.moves[np.argmax(np.abs(one.moves))])
        rarity = log_reach(one.rate, abs(move))
        if rarity + log(one.noisy.size) < self._log_level:
            yield noise_finding(MANIFEST, f"one of the {one.purpose} is off by {move:+,}", rate, rarity)

    def note(self) -> str:
        """What the tests can show on this release: their power."""
        half, double = (chance_to_find(self._law, factor, self._log_level) for factor in (0.5, 2))
        blind = [one.purpose for one in self._measured if not chance_to_find(one.law, 0, self._log_level)]
        unseen = f", except for the {' and the '.join(blind)}" if blind else ""
        numbers, draws = sum(one.noisy.size for one in self._measured), count_text(len(self._measured), "draw")
        return (
            f"The differences between {numbers:,} measured and true numbers of {draws} fit the noise paid for. "
            f"A draw without noise would be found for certain{unseen}. If all had half the noise, that would be found "
            f"{chance_text(half)}, twice the noise {chance_text(double)}. Choices are drawn once and cannot be tested. "
            "The differences are private."
        )


class SamplingTest:
    """Released and true numbers of equal rows, compared with the law that they should follow."""

    def __init__(self, manifest: SafeManifest, released: Cells, true: Cells) -> None:
        self._share = float(manifest.sampled)
        self._stated = manifest.sampled
        self._least = manifest.k
        self._released, self._true = released, true

    def findings(self) -> Iterator[Finding]:
        """Rows that the table does not have, and numbers that sampling would hardly ever leave."""
        extra = {cell: count - self._true.get(cell, 0) for cell, count in self._released.items()}
        if gained := sum(count for count in extra.values() if count > 0):
            yield Finding("truth", f"{PARQUET} has {records_text(gained)} that the raw table does not have.")
            return
        level = log(LEVEL / ENDS)
        for cell, records in self._true.items():
            kept = self._released.get(cell, 0)
            # Nothing is released of a group where fewer than k of it were kept.
            reached = kept if kept else min(self._least - 1, records)
            rarity = _log_tail(records, reached, self._share, below=not kept)
            if rarity + log(len(self._true)) < level:
                yield self._finding(f"of a group of {records_text(records)}, {kept:,} were released", rarity)
                return
        kept, rarity = sum(self._released.values()), self._total_rarity()
        if rarity < level:
            yield self._finding(f"of {records_text(sum(self._true.values()))}, {kept:,} were released", rarity)

    def note(self) -> str:
        """What the test has shown."""
        return (
            f"All rows are in the raw table, and as many were released as sampling with probability {self._stated} and "
            f"suppression below {self._least} rows leave. What was left out is private."
        )

    def _total_rarity(self) -> float:
        """The logarithm of Chernoff's bound on the probability of a total that is at least as far off."""
        total = sum(self._released.values())
        cumulants: Floats = np.zeros(len(BOTH_SLOPES))
        for records, groups in Counter(self._true.values()).items():
            cumulants += groups * self._cumulants(records)
        return min(0.0, float((cumulants - BOTH_SLOPES * total).min()))

    def _cumulants(self, records: int) -> Floats:
        """The logarithm of E exp(s·T) for what is released of a group: T is X, or 0 where X is below k."""
        few = np.arange(min(self._least, records + 1))
        chances = np.exp(
            np.concatenate([[0.0], np.cumsum(np.log((records - few[:-1]) / few[1:]))])
            + few * log(self._share)
            + (records - few) * log1p(-self._share)
        )
        kept: Floats = records * np.log1p(self._share * np.expm1(BOTH_SLOPES))
        suppressed = -np.expm1(np.outer(BOTH_SLOPES, few)) @ chances
        moved: Floats = kept + np.log1p(suppressed * np.exp(-kept))
        return moved

    def _finding(self, what: str, rarity: float) -> Finding:
        chance = f"by chance that happens once in 10^{-rarity / log(10):.0f} releases"
        return Finding("noise", f"{PARQUET}: {what}, but each is kept with probability {self._stated}; {chance}.")


def _log_tail(size: int, reached: int, share: float, *, below: bool = False) -> float:
    """Chernoff's bound on the logarithm of P(X ≥ reached), or of P(X ≤ reached) where that is the lower end."""
    ratio = reached / size
    if below and ratio >= share:
        return 0.0
    up = ratio * log(ratio / share) if reached else 0.0
    down = (1 - ratio) * (log1p(-ratio) - log1p(-share)) if reached < size else 0.0
    return -size * (up + down)
