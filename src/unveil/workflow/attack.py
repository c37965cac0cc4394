"""Attack: what somebody gains from a release about people, before it is handed out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unveil.attacks import Exposure, Outcome, Scene, Truth
from unveil.attacks.determination import determinations
from unveil.attacks.inference import group_inferences
from unveil.attacks.linkage import singling_out
from unveil.attacks.membership import membership
from unveil.errors import SpecError, UnveilError
from unveil.progress import Watcher, unwatched
from unveil.publishers import trial_release
from unveil.release import Release, open_release
from unveil.schema import SpecLike, load_spec
from unveil.tables import load_table, part_of
from unveil.tables.sources import held_rows
from unveil.workflow.evaluate import Rows

OWNERS = "These figures are for the owner: they are computed from the raw rows, and no guarantee covers them."
READER = "Only what a reader of the release can do was tried. With the raw table there are more attacks, and controls."
ALIKE = "There is no control: the table without the people attacked has no release ({})."
PEOPLE = 1000
"""So many people are attacked,"""
SHARE = 5
"""but at most one in so many of the table, so that the table without them is much the same."""
SEED = 16
"""Who is attacked depends on this number and the table alone."""


def attack(
    target: SpecLike | Release,
    raw: SpecLike | None = None,
    *,
    table: Any = None,
    people: int = PEOPLE,
    population: int | None = None,
    sample: int | None = None,
    progress: Watcher = unwatched,
) -> Exposure:
    """Runs attacks on a release and says what they gain, worst first. Nothing is written, and nothing is charged.

    Args:
        target: A spec, which is published in memory and thrown away; or a release, or the folder of one.
        raw: For a release, the owner's spec: attacks are then judged by the raw table, and have a control.
        table: The raw table, where the spec does not name it: a path, or a pandas, polars or pyarrow table.
        people: How many people to attack, drawn at random. A fifth of a small table.
        population: How many people the table is a sample of, for estimates of who is unique among them.
        sample: Use at most this many rows, drawn at random.
        progress: Called as the work is done.
    """
    for name, number in (("people", people), ("population", population), ("sample", sample)):
        if number is not None and (not isinstance(number, int) or number < 2):
            raise UnveilError(f"{name} is {number!r}, but it must be a whole number, 2 or more.")
    scene, origin, notes = _scene(target, raw, table, people, sample, progress)
    return Exposure.of(origin, _outcomes(scene, population, progress), notes)


def _outcomes(scene: Scene, population: int | None, progress: Watcher) -> Iterator[Outcome]:
    yield from singling_out(scene, population, progress)
    progress("inferring values", 0, None)
    yield from group_inferences(scene)
    yield from determinations(scene)
    yield from membership(scene)


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
    progress("reading the table", 0, None)
    source, notes = held_rows(spec.source if table is None else table, sample, spec)
    rows = Rows(spec, load_table(spec, source, progress))
    progress("publishing", 0, None)
    truth, lack = _truth(rows, people)
    scene = Scene(rows.whole if release is None else release, truth)
    return scene, origin or spec.origin, (*notes, *lack, OWNERS)


def _given(target: SpecLike | Release) -> tuple[Release | None, str]:
    """The release that was given, if it was one, and its name."""
    if isinstance(target, Release):
        return target, "the release"
    if isinstance(target, str | Path) and Path(target).is_dir():
        return open_release(target), str(target)
    return None, ""


def _truth(rows: Rows, people: int) -> tuple[Truth, tuple[str, ...]]:
    """The people to attack and a release without them; why there is none, if there is none."""
    count = rows.checked.rows
    drawn = np.random.default_rng(SEED).permutation(count)
    places = np.sort(drawn[: max(1, min(people, count // SHARE))])
    without: Release | None = None
    lack: tuple[str, ...] = ()
    try:
        others = np.setdiff1d(np.arange(count), places)
        part = part_of(rows.checked, rows.spec, others, f"{rows.checked.origin} (without {len(places):,} people)")
        without = trial_release(part, rows.spec, seed=1)
    except UnveilError as error:
        lack = (ALIKE.format(str(error).rstrip(".")),)
    return Truth(rows.spec, rows.checked, rows.table, places, without), lack
