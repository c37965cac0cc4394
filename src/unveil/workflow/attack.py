"""Attack: what somebody gains from a release about people, before it is handed out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.attacks import Exposure, Outcome, Scene, Truth
from unveil.attacks.composition import compositions
from unveil.attacks.inference import determinations, group_inferences
from unveil.attacks.linkage import membership, singling_out
from unveil.attacks.minimality import minimality
from unveil.attacks.privacy_loss import likelihood_ratio, noise_of_release
from unveil.attacks.scene import shown_rows
from unveil.errors import SpecError, UnveilError
from unveil.progress import Watcher, unwatched
from unveil.publishers import trial_release
from unveil.release import RefinementManifest, Release, open_release
from unveil.schema import SpecLike, load_spec
from unveil.tables import load_table, part_of
from unveil.tables.sources import held_rows
from unveil.workflow.evaluate import Rows

OWNERS = "These figures are for the owner: they are computed from the raw rows, and no guarantee covers them."
READER = "Only what a reader of the release can do was tried. With the raw table there are more attacks, and controls."
ALONE = "There is no control, because the table has no release without some of its people: {}."
OTHER = "Controls are people who are not in a second release by the same spec, which may differ in more than that."
HELD_OUT = "The release under attack is made of all rows but {:,} drawn at random: people who are not in the table."
HELD_OUT_PERSONS = "The release under attack is made of all persons but {:,} drawn at random, who are not in the table."
UNKNOWN = (
    "{}: rows set aside at random chose its masking, and which ones is not kept, so the raw table does not say who is "
    "in it; run unveil attack {} instead, which attacks another release by the same spec."
)
AGAIN = "Which rows chose the masking of this release is not kept, so another one by the same spec is under attack."
FEWER = "The command unveil attack also makes many releases to reason about the search, or to tell private draws apart."
PEOPLE = 1000
"""This many people are attacked,"""
SHARE = 5
"""but at most one in this many of the table, and as many others are its control."""
DRAWS = 150
"""This many private releases are drawn of each of two tables."""
SEARCHES, LEAST, ROWS = 24, 6, 2_000_000
"""This many searches are made again: at most, at least, and in between as many as have these rows together."""
SEED = 16
"""Who is attacked depends on this number and the table alone."""


def attack(
    target: SpecLike | Release,
    raw: SpecLike | None = None,
    *,
    table: Any = None,
    earlier: str | Path | Release | None = None,
    people: int = PEOPLE,
    population: int | None = None,
    tries: int | None = None,
    sample: int | None = None,
    progress: Watcher = unwatched,
) -> Exposure:
    """Runs attacks on a release and says what they gain, worst first. Nothing is written, and nothing is charged.

    Args:
        target: A spec, which is published in memory and thrown away; or a release, or the folder of one.
        raw: For a release, the owner's spec: attacks are then judged by the raw table, and have a control.
        table: The raw table, where the spec does not name it: a path, or a pandas, polars or pyarrow table.
        earlier: An earlier release of people in common: what the two give away together.
        people: How many people to attack, drawn at random. A fifth of a small table.
        population: How many people the table is a sample of, for estimates of who is unique among them.
        tries: How many releases to make for the attacks that need many; without it 150 pairs of private ones, and up to
            24 by refinement, fewer of a large table.
        sample: Use at most this many rows, drawn at random.
        progress: Called as the work is done.
    """
    for name, number in (("people", people), ("population", population), ("tries", tries), ("sample", sample)):
        if number is not None and (not isinstance(number, int) or number < 2):
            raise UnveilError(f"{name} is {number!r}, but it must be a whole number, 2 or more.")
    before = open_release(earlier) if isinstance(earlier, str | Path) else earlier
    scene, origin, notes = _scene(target, raw, table, people, sample, progress)
    return Exposure.of(origin, _outcomes(scene, before, population, tries, progress), notes)


def _outcomes(
    scene: Scene, earlier: Release | None, population: int | None, tries: int | None, progress: Watcher
) -> Iterator[Outcome]:
    yield from singling_out(scene, population, progress)
    progress("inferring values", 0, None)
    yield from group_inferences(scene)
    yield from determinations(scene)
    yield from membership(scene)
    if earlier is not None:
        yield from compositions(scene, earlier)
    yield from noise_of_release(scene)
    truth = scene.truth
    if truth is not None and truth.complete and tries != 0:
        searches = min(SEARCHES, max(LEAST, ROWS // len(truth.rows)))  # fewer of a large table
        yield from minimality(truth, scene.release, tries or searches, progress)
        yield from likelihood_ratio(truth, tries or DRAWS, progress=progress)


def attack_rows(rows: Rows, release: Release, progress: Watcher, *, complete: bool) -> Exposure:
    """The attacks that take seconds, on a release and the rows behind it; `complete` if they are no sample of these."""
    again = _learned(release)
    scene, note = _with_control(rows, None if again else release, PEOPLE, complete=complete)
    notes = (note, *([AGAIN] if again else []), FEWER)
    return Exposure.of(rows.spec.origin, _outcomes(scene, None, None, 0, progress), notes)


def _learned(release: Release) -> bool:
    """Whether some rows of its table chose its masking and are not in it."""
    return isinstance(release.manifest, RefinementManifest) and release.manifest.learn is not None


def _scene(
    target: SpecLike | Release, raw: SpecLike | None, table: Any, people: int, sample: int | None, progress: Watcher
) -> tuple[Scene, str, tuple[str, ...]]:
    """What is attacked, what messages call it, and what to know about it."""
    release, origin = _given(target)
    if release is None and raw is not None:
        raise SpecError("the raw table is for attacks on a release; a spec names its own, or give it as table.")
    if release is not None and raw is None:
        if table is not None:
            raise SpecError("attacks are judged by a raw table with the owner's spec; give it as raw.")
        return Scene(release), origin, (READER,)
    spec = load_spec(target if raw is None else raw)  # type: ignore[arg-type]
    if release is not None and _learned(release):
        raise SpecError(UNKNOWN.format(origin, raw if isinstance(raw, str | Path) else spec.origin))
    progress("reading the table", 0, None)
    source, notes = held_rows(spec.source if table is None else table, sample, spec)
    rows = Rows(spec, load_table(spec, source, progress))
    progress("publishing", 0, None)
    scene, more = _with_control(rows, release, people, complete=release is None or not notes)
    return scene, origin or spec.origin, (*notes, more, OWNERS)


def _given(target: SpecLike | Release) -> tuple[Release | None, str]:
    """The release that was given, if it was one, and its name."""
    if isinstance(target, Release):
        return target, "the release"
    if isinstance(target, str | Path) and Path(target).is_dir():
        return open_release(target), str(target)
    return None, ""


def _with_control(rows: Rows, release: Release | None, people: int, *, complete: bool) -> tuple[Scene, str]:
    """The people to attack, and a release that lacks as many others; what to know about it."""
    person = rows.checked.person
    # Of a person with several rows, one is what somebody knows.
    one_each = np.arange(rows.checked.rows) if person is None else np.unique(person, return_index=True)[1]
    drawn = np.random.default_rng(SEED).permutation(one_each)
    number = max(1, min(people, len(drawn) // SHARE))
    absent, places = drawn[:number], np.sort(drawn[number : 2 * number])
    kept = np.sort(drawn[number:]) if person is None else np.flatnonzero(~np.isin(person, person[absent]))
    try:
        part = part_of(rows.checked, rows.spec, kept, rows.checked.origin)
        without = trial_release(part, rows.spec)
    except UnveilError as error:
        if release is None:
            places = places[shown_rows(rows.checked, rows.spec)[places]]
        truth = Truth(rows.spec, rows.checked, rows.table, places, complete)
        return Scene(rows.whole if release is None else release, truth), ALONE.format(str(error).rstrip("."))
    lacking = rows.table.take(pa.array(absent))
    if release is not None:
        truth = Truth(rows.spec, rows.checked, rows.table, places, complete, lacking, without)
        return Scene(release, truth), OTHER
    behind = rows.table.take(pa.array(kept))
    attacked = np.searchsorted(kept, places)
    attacked = attacked[shown_rows(part, rows.spec)[attacked]]
    truth = Truth(rows.spec, part, behind, attacked, complete, lacking, without)
    return Scene(without, truth), (HELD_OUT if person is None else HELD_OUT_PERSONS).format(number)
