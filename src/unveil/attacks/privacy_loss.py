"""What a private release really costs: a lower bound on ε, next to the ε that it claims."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.attacks.epsilon import lower_bound, noise_factor, step_of
from unveil.attacks.exposure import Outcome
from unveil.attacks.measured import MeasuredNeighbours, claims_of, raw_rows, rounded
from unveil.attacks.neighbours import Neighbours, Pair, rarity
from unveil.attacks.rates import DOUBT
from unveil.attacks.records import Records
from unveil.attacks.scene import Scene, Truth
from unveil.noise import SeededSource, Source
from unveil.progress import Watcher, unwatched
from unveil.release import AdditiveManifest, DiffGenManifest, Release
from unveil.schema import AdditivePlan, Plan, PrivatePlan, decimal_text
from unveil.tables import part_of
from unveil.verifier.laws import float_rate
from unveil.verifier.measured import Replay, measured

OTHERS = 60
"""The person is hidden among so few others, so that noise is all that hides it."""
COARSE = 4
"""Evidence is taken so many times as coarse as in an audit, because so few releases tell finer steps apart by luck."""
CLAIMED = "the claimed ε"


def likelihood_ratio(
    truth: Truth, tries: int, plan: Plan | None = None, progress: Watcher = unwatched
) -> Iterator[Outcome]:
    """Draws releases with and without the person who stands out most, and tells them apart by their likelihoods.

    Args:
        truth: The table.
        tries: How many releases to draw of each of the two tables.
        plan: How they are really drawn; as the spec says, unless a test plants something else.
        progress: Called for every pair of releases.
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
        f"Somebody who knows all rows but one tells {tries:,} releases with the most conspicuous person from {tries:,} "
        f"without: what they see {bound.often:.0%} of the time on one side comes {bound.seldom:.0%} of the time on the "
        f"other, so the release costs at least ε = {least:.2f} of the claimed {decimal_text(claimed.epsilon)}."
    )
    yield _loss("likelihood ratio", sentence, least, epsilon)


def noise_of_release(scene: Scene) -> Iterator[Outcome]:
    """Whether the noise in this release is as large as its ledger says, by all its noisy numbers at once."""
    manifest, truth = scene.release.manifest, scene.truth
    if (
        truth is None
        or not truth.complete
        or not isinstance(manifest, AdditiveManifest | DiffGenManifest)
        or truth.spec.table.weight
    ):
        return
    if isinstance(manifest, AdditiveManifest):
        moves = _measured(scene.release, truth)
    else:
        moves = _counted(scene.records, manifest, truth)
    factor = noise_factor(moves, DOUBT)
    if factor is None:
        return
    epsilon = float(Fraction(manifest.requirements[0]["epsilon"]))
    least, numbers = max(factor, 0.0) * epsilon, sum(len(moved) for moved, _ in moves)
    sentence = (
        f"By {numbers:,} noisy numbers of this release and the true ones, its noise costs at least ε = {least:.2f} of "
        f"the claimed {epsilon:g}."
    )
    yield _loss("noise", sentence, least, epsilon)


def _loss(attack: str, sentence: str, least: float, claimed: float) -> Outcome:
    figures = {"epsilon_at_least": least, "epsilon_claimed": claimed}
    return Outcome(attack, sentence, against=CLAIMED, breach=least > claimed, figures=figures)


def _pair(truth: Truth) -> Pair:
    """The person who stands out most, and some others."""
    person = int(rarity(truth.rows).argmax())
    others = np.delete(np.arange(truth.rows.num_rows), person)
    places = np.append(np.random.default_rng(0).permutation(others)[:OTHERS], person)
    table = part_of(truth.table, truth.spec, places, truth.table.origin)
    return Pair(truth.spec, table, truth.rows.take(pa.array(places)), len(places) - 1)


def _measured(release: Release, truth: Truth) -> list[tuple[IntArray, float]]:
    """Of an additive release: every draw, with what noise changed."""
    manifest = claims_of(release)
    replay = Replay(manifest, truth.spec)
    replay.add(raw_rows(truth.rows))
    return [(np.abs(one.moves), one.rate) for one in measured(manifest, replay)]


def _counted(records: Records, manifest: DiffGenManifest, truth: Truth) -> list[tuple[IntArray, float]]:
    """Of noisy counts: how far noise moved them, up and, where it can be seen, down.

    A cell that noise takes below the floor is shown there, or is not listed. So noise that raises a count is seen where
    the true one is not below the floor, and noise that lowers it where the true one is far enough above.
    """
    rate = float_rate(Fraction(manifest.ledger[-1].epsilon))
    above = records.represented(truth.rows) - (0 if manifest.threshold is None else manifest.threshold - 1)
    moves = records.counts.astype(np.int64) - records.represented(truth.rows)
    seen = np.where(above >= 1 + step_of(rate), np.abs(moves), moves)
    return [(seen[above >= 0], rate)]
