"""Releases of true rows: sampling and suppression that are worth the stated ε and δ, and rows that fit them.

Of n equal records, X ~ Binomial(n, β) are kept, and released if X ≥ k. So one record more exceeds the factor e^ε by
Σ max(0, P(X′ = j) − e^ε P(X = j)) over j ≥ k, where X′ is of n + 1 records; the largest of these sums over all n is δ.
Here the laws are computed by adding one record after the other. Hoeffding's inequality says where to stop: the sum is
at most P(X′ > γ(n + 1)) ≤ exp(−2(n + 1)(γ − β)²) with γ = 1 − (1 − β) / e^ε.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, exp, log, log1p

import numpy as np

from unveil.errors import count_text, records_text
from unveil.verifier.claims import MANIFEST, PARQUET
from unveil.verifier.columns import group
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding, exact_text
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import SafeManifest
from unveil.verifier.noise import LEVEL, Cell, placed_rows
from unveil.verifier.private import Draws, broken_ledger, check_budget, drawn_findings, order_findings, wrong_amount

SAMPLING = "sampling and suppression"
LARGEST = 20_000
"""Groups of more records than this are not looked at."""
TESTS = 3
"""The rarest group, and both ends of the total."""
SLOPES = np.concatenate([-np.geomspace(1e-4, 2, 40), np.geomspace(1e-4, 2, 40)])
"""Where Chernoff's bound is taken."""
ROUNDED = 1e-6
"""By how much, relatively, floats may be off."""


def check_thinning(manifest: SafeManifest) -> Iterator[Finding]:
    """The charges are those of the cut and of the sampling, and sampling and suppression are worth ε and δ."""
    structure, last = manifest.ledger[:-1], manifest.ledger[-1]
    if last.purpose != SAMPLING or last.composition != "sequential":
        yield broken_ledger(f"the last charge is for {last.purpose!r}, not a sequential one for {SAMPLING!r}")
    draws = Draws(frozenset(manifest.numbers), manifest.specializations)
    yield from list(order_findings(structure, draws)) or drawn_findings(manifest, draws)
    share = manifest.epsilon / max(4 * (len(manifest.numbers) + 2 * manifest.specializations), 1)
    if unequal := [charge for charge in structure if charge.amount != share]:
        why = f"ε / (4({len(manifest.numbers)} + 2·{manifest.specializations}))"
        yield wrong_amount(unequal[0], share, why)
    if last.amount != (rest := manifest.epsilon * Fraction(3, 4)):
        yield wrong_amount(last, rest, "3ε / 4")
    yield from check_budget(manifest)
    yield from _delta_findings(manifest, last.amount)


def _delta_findings(manifest: SafeManifest, epsilon: Fraction) -> Iterator[Finding]:
    share, kept = float(manifest.share), f"with β = {manifest.sampled} and k = {manifest.k}"
    if not 0 < manifest.share < 1:
        yield Finding("delta", f"{MANIFEST}: sampled is {manifest.sampled}, but a probability is between 0 and 1.")
        return
    growth = exp(min(float(epsilon / manifest.apart), 600.0))
    if growth * (1 - share) < 1 - ROUNDED:
        yield Finding("delta", f"{MANIFEST}: {kept}, too many records are kept for ε = {exact_text(epsilon)}.")
        return
    # The records of a person come one after the other: each adds δ, times the factor of all that follow.
    together = sum(growth**place for place in range(manifest.apart))
    record = thinning_delta(share, manifest.k, growth, float(manifest.delta) / together)
    found = None if record is None else record * together
    if found is None:
        yield Finding("delta", f"{MANIFEST}: {kept}, δ is too hard to compute: groups of {LARGEST:,} records matter.")
    elif found > float(manifest.delta) * (1 + ROUNDED):
        stated = exact_text(manifest.delta)
        yield Finding("delta", f"{MANIFEST} says that δ is {stated}, but {kept} it is {found:.3g}.")


def thinning_delta(share: float, least: int, growth: float, enough: float) -> float | None:
    """The largest excess over all sizes of a group; None if too large groups would have to be looked at.

    Args:
        share: The probability of a record to be kept.
        least: Fewer kept records than this are suppressed.
        growth: The factor e^ε.
        enough: A smaller excess than this does not matter.
    """
    bend = 1 - (1 - share) / growth
    last = ceil(-log(enough) / (2 * (bend - share) ** 2)) if bend > share else LARGEST + 1
    if last > LARGEST:
        return None
    law: Floats = np.zeros(last + 2)
    law[0] = 1.0
    largest = 0.0
    for size in range(1, last + 1):
        more = law * (1 - share)
        more[1:] += law[:-1] * share
        if size >= least:
            largest = max(largest, float(np.maximum(more[least:] - growth * law[least:], 0).sum()))
        law = more
    return largest


def check_shared(manifest: SafeManifest, data: Data) -> Iterator[Finding]:
    """At least k rows agree in all columns."""
    groups = group([data.columns[name] for name in manifest.labels], data.counts)
    few = groups.sizes < manifest.k
    if few.any():
        worst = int(np.argmin(groups.sizes))
        message = f"{groups.text(worst)} appears {groups.sizes[worst]:,} times, but {MANIFEST} says that k is"
        yield Finding("k", f"{PARQUET}: {message} {manifest.k} (too few in {count_text(int(few.sum()), 'group')}).")


class SamplingTest:
    """Released and true numbers of equal rows, compared with the law that they should follow."""

    def __init__(self, manifest: SafeManifest, data: Data, raw: dict[Cell, int]) -> None:
        self._share = float(manifest.share)
        self._stated = manifest.sampled
        self._least = manifest.k
        self._true = raw
        rows = placed_rows(manifest, data)
        self._released = dict(zip(rows, data.counts.tolist(), strict=True))

    def findings(self) -> Iterator[Finding]:
        """Rows that the table does not have, and numbers that sampling would hardly ever leave."""
        extra = {cell: count - self._true.get(cell, 0) for cell, count in self._released.items()}
        if gained := sum(count for count in extra.values() if count > 0):
            yield Finding("truth", f"{PARQUET} has {records_text(gained)} that the raw table does not have.")
            return
        level = log(LEVEL / TESTS)
        for cell, records in self._true.items():
            kept = self._released.get(cell, 0)
            rarity = self._rarity(records, kept)
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
        cumulants: Floats = np.zeros(len(SLOPES))
        for records, groups in Counter(self._true.values()).items():
            cumulants += groups * self._cumulants(records)
        return min(0.0, float((cumulants - SLOPES * total).min()))

    def _cumulants(self, records: int) -> Floats:
        """The logarithm of E exp(s·T) for what is released of a group: T is X, or 0 where X is below k."""
        few = np.arange(min(self._least, records + 1))
        chances = np.exp(
            np.concatenate([[0.0], np.cumsum(np.log((records - few[:-1]) / few[1:]))])
            + few * log(self._share)
            + (records - few) * log1p(-self._share)
        )
        kept: Floats = records * np.log1p(self._share * np.expm1(SLOPES))
        suppressed = -np.expm1(np.outer(SLOPES, few)) @ chances
        moved: Floats = kept + np.log1p(suppressed * np.exp(-kept))
        return moved

    def _rarity(self, records: int, kept: int) -> float:
        """The logarithm of a bound on the probability of a number of released rows that is at least as far off."""
        return _log_tail(records, kept if kept else min(self._least - 1, records), self._share, below=not kept)

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
