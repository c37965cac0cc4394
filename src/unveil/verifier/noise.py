"""Whether the counts of a private release differ from the true ones as the noise that its ledger pays for would.

A cell of m records shows X = max(m + Z, f), where Z has P(Z = z) ∝ exp(−ε|z|). The floor f is 0 where all cells are
listed, and one less than the threshold otherwise: a cell that is not listed shows the floor.
Its move is v = X − max(m, f), what noise changed:

    m ≤ f, with g = f − m:   v = 0, or j ≥ 1 with P(v = j) = P(Z = g + j)
    m > f, with c = m − f:   v = max(Z, −c)

Moves are independent, so the moment generating function of a sum of them is a product, and Chernoff's inequality
bounds the tails of the sum for every number of moves: no approximation can accuse an honest release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, log1p
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unveil.errors import count_text
from unveil.verifier.claims import PARQUET, Discretization, Masked
from unveil.verifier.columns import Codes, Column, Tally, day_number, number, plain, text
from unveil.verifier.cuts import masked_values
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding, exact_text
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import COUNT, DiffGenManifest, DrawnManifest
from unveil.verifier.persons import used_raw
from unveil.verifier.private import label_places

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec

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


class Law(ABC):
    """The law of two sums of moves."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """Below this slope the moment generating functions are finite."""

    @abstractmethod
    def scaled(self, factor: float) -> Law:
        """The law of the same sums if the scale of the noise is this many times larger."""

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
    """The moves of cells with this many records each, which end at a floor.

    Attributes:
        epsilon: What the noise costs.
        excesses: Records of a cell less the floor, and how many cells have that.
    """

    epsilon: float
    excesses: Mapping[int, float]

    @property
    def rate(self) -> float:
        """That of the noise."""
        return self.epsilon

    def scaled(self, factor: float) -> CellLaw:
        """The law of noise whose scale is this many times larger."""
        return CellLaw(self.epsilon / factor, self.excesses)

    def log_move(self, excess: int, move: int) -> float:
        """A bound on the logarithm of the probability that the move of one cell is at least as large."""
        return log_reach(self.epsilon, move + max(-excess, 0) if move > 0 else -move)

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        total = np.zeros(len(slopes))
        for excess, cells in self.excesses.items():
            total += cells * self._cumulant(of, excess, slopes)
        return total

    def _cumulant(self, of: Sum, excess: int, slopes: Floats) -> Floats:
        alpha = exp(-self.epsilon)
        up = np.exp(slopes - self.epsilon)
        if excess <= 0:
            rare = exp(-self.epsilon * (1 - excess)) / (1 + alpha)
            risen: Floats = np.log1p(rare * ((1 - alpha) * np.exp(slopes) / (1 - up) - 1))
            return risen
        down = up if of == "size" else np.exp(-slopes - self.epsilon)
        lowest = down**excess
        inner = 1 + up / (1 - up) + (down - lowest) / (1 - down)
        moved: Floats = np.log((1 - alpha) / (1 + alpha) * inner + lowest / (1 + alpha))
        return moved


@dataclass(frozen=True)
class NoiseLaw(Law):
    """Noise of several rates: a move of rate r counts as r times itself, so that none outweighs the others.

    Attributes:
        moves: How many moves there are of each stated rate.
        factor: How many times larger the true scale of the noise is than the stated one.
    """

    moves: Mapping[float, int]
    factor: float = 1

    @property
    def rate(self) -> float:
        """That of a move in these units."""
        return 1 / self.factor

    def scaled(self, factor: float) -> NoiseLaw:
        """The law of noise whose scale is this many times larger."""
        return NoiseLaw(self.moves, self.factor * factor)

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        total = np.zeros(len(slopes))
        for rate, count in self.moves.items():
            true = rate / self.factor
            up = np.exp(slopes * rate - true)
            down = up if of == "size" else np.exp(-slopes * rate - true)
            chance = np.tanh(true / 2)
            total += count * np.log(chance * (1 + up / (1 - up) + down / (1 - down)))
        return total


def log_reach(rate: float, reach: float) -> float:
    """The logarithm of the probability that noise of a rate is at least so large, on either side."""
    return min(0.0, log(2) - rate * reach - log1p(exp(-rate)))


def chance_to_find(law: Law, factor: float, log_level: float) -> float:
    """A lower bound on the chance that the sum of sizes reveals noise of another scale.

    Args:
        law: What the noise should be.
        factor: How many times larger its true scale is; 0 for no noise.
        log_level: The logarithm of how improbable a sum must be to be reported.
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


Cell = tuple[int, ...]
"""The places of its labels in the cuts and of its class among the classes."""


@dataclass(frozen=True)
class CellCounts:
    """Released and true counts of cells.

    Attributes:
        released: Of the listed cells.
        true: Of the occupied cells.
        total: How many cells there are, listed or not, occupied or not.
    """

    released: dict[Cell, int]
    true: dict[Cell, int]
    total: int


def count_cells(manifest: DiffGenManifest, data: Data, spec: Spec) -> CellCounts:
    """Counts the cells on both sides.

    A raw row with a value that no block holds is in no cell and is left out.
    """
    counts = plain(data.columns[COUNT].values)
    return CellCounts(
        dict(zip(placed_rows(manifest, data), (counts[code] for code in data.columns[COUNT].codes), strict=True)),
        occupied_cells(manifest, spec),
        manifest.cells,
    )


def placed_rows(manifest: DrawnManifest, data: Data) -> Iterator[Cell]:
    """The cells of the distinct released rows."""
    columns = [data.columns[name] for name in manifest.labels]
    codes = [label_places(manifest.labels[column.name], column.texts())[column.codes] for column in columns]
    return zip(*(code.tolist() for code in codes), strict=True)


def occupied_cells(manifest: DrawnManifest, spec: Spec) -> dict[Cell, int]:
    """The cells that the raw records which are used are in, and how many."""
    labels = manifest.labels
    tally = Tally()
    tally.add([np.zeros(0, dtype=np.int32)] * len(labels), np.zeros(0, dtype=np.int64))
    for raw in used_raw(spec):
        rows = [
            raw_places(raw.columns[name], known, manifest.masking.get(name), spec.attributes.get(name))
            for name, known in labels.items()
        ]
        placed = np.all([row >= 0 for row in rows], axis=0)
        tally.add([row[placed] for row in rows], raw.weights[placed])
    keys, sums = tally.result()
    return dict(zip(zip(*(key.tolist() for key in keys), strict=True), sums.tolist(), strict=True))


def raw_places(column: Column, labels: Sequence[str], entry: Masked | None, attribute: Attribute | None) -> Codes:
    """For every raw row the place of its label, or of its class; -1 if it has none."""
    values = [_whole(value) for value in plain(column.values)]
    if entry is None or attribute is None:
        return label_places(labels, map(text, values))[column.codes]
    if attribute.values is not None:
        values = [value if text(value) in attribute.values else None for value in values]
    if attribute.outside == "clamp":
        values = [_clamped(entry, value) for value in values]
    if attribute.kind == "number":
        kinds = attribute.missing.labels
        values = [value if value in kinds or _on_grid(number(value), attribute) else None for value in values]
    return label_places(labels, masked_values(entry, values))[column.codes]


def _whole(value: Any) -> Any:
    """A column with missing values holds whole numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _on_grid(value: float | None, attribute: Attribute) -> bool:
    """Whether a number is one that the owner declared, up to rounding."""
    step = 1.0 if attribute.whole else attribute.step
    if value is None or step is None or attribute.range is None:
        return False
    place = (Fraction(str(value)) - Fraction(str(attribute.range[0]))) / Fraction(str(step))
    return abs(place - round(place)) <= Fraction(1, 10**6)


def _clamped(entry: Masked, value: Any) -> Any:
    """A value outside the range becomes one inside; only its block matters."""
    if not isinstance(entry, Discretization):
        return value
    read = (day_number if entry.unit == "date" else number)(value)
    if isinstance(read, int) and int(float(read)) != read:
        return None  # a float cannot hold all its digits
    blocks = [block for block in entry.blocks if block.start is not None]
    if read is None or blocks[0].lo <= read < blocks[-1].hi:
        return value
    return (blocks[0] if read < blocks[0].lo else blocks[-1]).start


class NoiseTest:
    """Released minus true counts, compared with the law that they should follow."""

    def __init__(self, manifest: DiffGenManifest, cells: CellCounts) -> None:
        floor = 0 if manifest.threshold is None else manifest.threshold - 1
        self._stated = manifest.per_record(manifest.ledger[-1])
        self._total = cells.total
        self._moves: Counter[tuple[int, int]] = Counter()
        for cell in cells.released.keys() | cells.true.keys():
            excess = cells.true.get(cell, 0) - floor
            self._moves[excess, cells.released.get(cell, floor) - floor - max(excess, 0)] += 1
        excesses: Counter[int] = Counter()
        for (excess, _), count in self._moves.items():
            excesses[excess] += count
        rest = min(max(cells.total - self._moves.total(), 0), MOST_CELLS)
        self._law = CellLaw(float_rate(self._stated), {**excesses, -floor: float(excesses[-floor] + rest)})
        self._size = sum(abs(move) * count for (_, move), count in self._moves.items())
        self._drift = sum(move * count for (_, move), count in self._moves.items())

    @property
    def log_level(self) -> float:
        """How improbable the counts must be for one test to report them."""
        return log(LEVEL / TESTS)

    def findings(self) -> Iterator[Finding]:
        """Differences that are too improbable under the stated law."""
        for what, rarity in tail_findings(self._law, self._size, self._drift, self.log_level):
            differ = f"its counts differ from the true ones in a way that {what}"
            yield noise_finding(PARQUET, differ, self._stated, rarity)
        (_, move), rarity = min(
            ((pair, self._law.log_move(*pair)) for pair in self._moves), key=lambda item: item[1], default=((0, 0), 0.0)
        )
        if move and rarity + log(min(self._total, MOST_CELLS)) < self.log_level:
            off = f"one count is off by {move:+,}, counted from where noise begins to show"
            yield noise_finding(PARQUET, off, self._stated, rarity)

    def note(self) -> str:
        """What the test can show on this release: its power."""
        cells = count_text(self._total, "cell") if self._total < 10**24 else f"{exact_text(self._total)} cells"
        none, half, double = (chance_to_find(self._law, factor, self.log_level) for factor in (0, 0.5, 2))
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
