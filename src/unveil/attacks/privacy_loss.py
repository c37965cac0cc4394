"""What a private release really costs: a lower confidence bound on ε, next to the ε that it claims.

ε-DP says P(event | one table) ≤ exp(ε) · P(event | the other) for every event. So if an event has probability p on one
table and q on the other, ln(p / q) is at most ε. p and q are bounded by Clopper and Pearson's exact intervals. An event
is chosen on the first runs and counted on all others, so that the luck of choosing does not enter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.attacks.exposure import DOUBT, Outcome, binomial_bounds
from unveil.attacks.neighbours import (
    MeasuredNeighbours,
    Neighbours,
    Pair,
    claims_of,
    of_person,
    rarity,
    raw_rows,
    rounded,
    used_by,
)
from unveil.attacks.scene import Records, Scene, Truth
from unveil.noise import SeededSource, Source
from unveil.progress import Watcher, unwatched
from unveil.release import DiffGenManifest, Release, WeightsManifest
from unveil.schema import AdditivePlan, Plan, PrivatePlan, decimal_text
from unveil.tables import part_of
from unveil.verifier.private.noise import float_rate
from unveil.verifier.private.replay import measurements

PILOT = 0.2
"""The share of the runs on which events are chosen."""
LEAST = 50
"""Fewer noisy numbers than this say nothing."""
OTHERS = 60
"""The person is hidden among so few others, so that noise is all that hides it."""
COARSE = 4
"""Evidence is this many times as coarse as in an audit, because so few releases tell finer steps apart by luck."""
CLAIMED = "the claimed ε"


@dataclass(frozen=True)
class Bound:
    """A lower bound on ε, and the frequencies it comes from."""

    epsilon: float
    often: float
    seldom: float


def lower_bound(present: Sequence[Hashable], absent: Sequence[Hashable], doubt: float) -> Bound:
    """The bound from the better of both directions; it holds except with a chance of `doubt`."""
    one, other = _one_way(present, absent, doubt / 2), _one_way(absent, present, doubt / 2)
    return max(one, other, key=lambda bound: bound.epsilon)


def _one_way(often: Sequence[Hashable], seldom: Sequence[Hashable], doubt: float) -> Bound:
    pilot = int(PILOT * len(often))
    event = _event(often[:pilot], seldom[:pilot])
    hits, misses = ([outcome in event for outcome in drawn[pilot:]] for drawn in (often, seldom))
    p, q = sum(hits), sum(misses)
    return Bound(_log_ratio(p, q, len(hits), doubt), p / len(hits), q / len(misses))


def _event(often: Sequence[Hashable], seldom: Sequence[Hashable]) -> set[Hashable]:
    """Of the outcomes in the order of their likelihood ratio, as many as give the best bound on the pilot."""
    here, there = Counter(often), Counter(seldom)
    outcomes = sorted({*here, *there}, key=lambda outcome: (here[outcome] + 1) / (there[outcome] + 1), reverse=True)
    best, found = -math.inf, 1
    p = q = 0
    for number, outcome in enumerate(outcomes[:-1], start=1):
        p, q = p + here[outcome], q + there[outcome]
        if (bound := _log_ratio(p, q, len(often), 0.1)) > best:
            best, found = bound, number
    return set(outcomes[:found])


def _log_ratio(p: int, q: int, runs: int, doubt: float) -> float:
    """Ln of the least that p can be over the most that q can be."""
    least, most = binomial_bounds(p, runs, doubt)[0], binomial_bounds(q, runs, doubt)[1]
    return math.log(least / most) if least else -math.inf


def step_of(rate: float) -> int:
    """The least distance at which noise of a rate is e times as rare."""
    return math.ceil(1 / rate)


def noise_factor(moves: Sequence[tuple[IntArray, float]], doubt: float) -> float | None:
    """By how much more than it says the noise of one release may cost, at least; None if there is too little of it.

    Noise of rate r is z or more away with a probability that falls by exp(−r) with each z. So of many numbers, those
    that noise moved by at least 1 are at most exp(r·n) times as many as those that it moved by at least 1 + n. Here n
    is the least for which r·n is 1 or more. Every number is a person's chance to stand out, and all are tried at once:
    Steinke et al., *Privacy Auditing with One (1) Training Run*, NeurIPS 2023.

    `moves` is how far noise moved each number, and its rate, draw by draw; `doubt` the chance that it is too high.
    """
    steps = [step_of(rate) for _, rate in moves]
    numbers = sum(len(moved) for moved, _ in moves)
    often = sum(int((moved >= 1).sum()) for moved, _ in moves)
    seldom = sum(int((moved >= 1 + step).sum()) for (moved, _), step in zip(moves, steps, strict=True))
    if numbers < LEAST:
        return None
    claimed = max(rate * step for (_, rate), step in zip(moves, steps, strict=True))
    return _log_ratio(often, seldom, numbers, doubt) / claimed


def likelihood_ratio(
    truth: Truth, tries: int, plan: Plan | None = None, progress: Watcher = unwatched
) -> Iterator[Outcome]:
    """Draws releases with and without the person who stands out most, and distinguishes them by their likelihoods.

    They are drawn by the plan of the spec, unless a test plants another one.
    """
    claimed = truth.spec.plan
    if not isinstance(claimed, AdditivePlan | PrivatePlan):
        return
    pair = _pair(truth)
    mechanism: Any = (MeasuredNeighbours if isinstance(claimed, AdditivePlan) else Neighbours)(pair)
    seen: dict[bool, list[Hashable]] = {True: [], False: []}
    for number in range(tries):
        progress("drawing private releases", number, tries)
        for present in (True, False):
            # Two tables with the same seed would be alike in more than they should be.
            source: Source = SeededSource(2 * number + present)
            drawn = mechanism.publish(plan or claimed, source, present=present)
            seen[present].append(rounded(drawn.all, COARSE) if isinstance(claimed, AdditivePlan) else drawn.clipped)
    bound = lower_bound(seen[True], seen[False], DOUBT)
    least, epsilon = max(bound.epsilon, 0.0), float(claimed.epsilon)
    sentence = (
        f"In {tries:,} releases with the most conspicuous person and {tries:,} without, the best test found occurs "
        f"{bound.often:.0%} of the time on one side and {bound.seldom:.0%} on the other, so the release costs at least "
        f"ε = {least:.2f} of the claimed {decimal_text(claimed.epsilon)}."
    )
    yield _loss("likelihood ratio", sentence, least, epsilon)


def noise_of_release(scene: Scene) -> Iterator[Outcome]:
    """Whether the noise in this release is as large as its ledger says, by all its noisy numbers at once."""
    manifest, truth = scene.release.manifest, scene.truth
    if truth is None or not truth.complete or truth.spec.table.weight:
        return
    if isinstance(manifest, WeightsManifest):
        moves = _measured(scene.release, truth)
    elif isinstance(manifest, DiffGenManifest):
        moves = _counted(scene.records, manifest, truth)
    else:
        return
    factor = noise_factor(moves, DOUBT)
    if factor is None:
        return
    epsilon = float(Fraction(manifest.requirements[0]["epsilon"]))
    least, numbers = max(factor, 0.0) * epsilon, sum(len(moved) for moved, _ in moves)
    sentence = (
        f"Compared with the true numbers, the noise of {numbers:,} numbers of this release costs at least "
        f"ε = {least:.2f} of the claimed {epsilon:g}."
    )
    yield _loss("noise", sentence, least, epsilon)


def _loss(attack: str, sentence: str, least: float, claimed: float) -> Outcome:
    figures = {"epsilon_at_least": least, "epsilon_claimed": claimed}
    return Outcome(attack, sentence, against=CLAIMED, breach=least > claimed, figures=figures)


def _pair(truth: Truth) -> Pair:
    """The person who stands out most, and some others."""
    mine = of_person(truth.table, int(rarity(truth.rows).argmax()))
    others = np.random.default_rng(0).permutation(np.flatnonzero(~mine))[:OTHERS]
    places = np.concatenate([others, np.flatnonzero(mine)])
    table = part_of(truth.table, truth.spec, places, truth.table.origin)
    return Pair(truth.spec, table, truth.rows.take(pa.array(places)), len(places) - 1)


def _counted_rows(truth: Truth) -> pa.Table:
    return truth.rows.take(pa.array(used_by(truth.spec, truth.table)))


def _measured(release: Release, truth: Truth) -> list[tuple[IntArray, float]]:
    """Of a release of weights: every draw, with what noise changed."""
    measured = measurements(claims_of(release), truth.spec, [raw_rows(_counted_rows(truth))])
    return [(np.abs(one.moves), one.rate) for one in measured]


def _counted(records: Records, manifest: DiffGenManifest, truth: Truth) -> list[tuple[IntArray, float]]:
    """Of noisy counts: how far noise moved them, up and, where it can be seen, down.

    A cell that noise takes below the floor is shown there, or is not listed. So noise that raises a count is seen where
    the true one is not below the floor, and noise that lowers it where the true one is far enough above.
    """
    apart = 1 if truth.spec.plan is None else truth.spec.plan.apart
    rate, true = float_rate(Fraction(manifest.ledger[-1].epsilon) / apart), records.represented(_counted_rows(truth))
    above = true - (0 if manifest.threshold is None else manifest.threshold - 1)
    moves = records.counts.astype(np.int64) - true
    seen = np.where(above >= 1 + step_of(rate), np.abs(moves), moves)
    return [(seen[above >= 0], rate)]
