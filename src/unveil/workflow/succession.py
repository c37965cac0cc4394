"""Succession: releases that keep their promise together with those before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from unveil.arrays import BoolArray, IntArray, group_numbers
from unveil.counting.earlier import Earlier
from unveil.counting.engine import Engine, open_engine
from unveil.counting.memory import MemoryEngine
from unveil.errors import ReleaseError, SpecError, TableError, listed, rows_text
from unveil.masking import AsIs
from unveil.progress import Watcher, unwatched
from unveil.release import History, Link, RefinementManifest, Release, read_manifest
from unveil.schema import EPSILON_ADDS_UP, Spec, SpecLike, load_spec
from unveil.tables import Outline, Withheld
from unveil.version import __version__

Checked = TypeVar("Checked", bound=Outline)


def earlier_of(spec: Spec, after: Sequence[str | Path] | None) -> Earlier | None:
    """The earlier releases together with which a release must keep its promise; None if there are none."""
    if spec.history is None:
        if after:
            raise SpecError(f"{spec.origin}: --after needs {_missing_history(spec)}.")
        return None
    history = History(spec.history)
    links = history.links([Path(folder) for folder in after] if after else None)
    if links and spec.leave_out:
        raise SpecError(
            f"{spec.origin}: [publish] leave-out is not possible after earlier releases: whoever is left out would be "
            "among the few who are absent; remove it."
        )
    return Earlier(links, history) if links else None


def apply_release(
    release: str | Path, table: Any, spec: SpecLike, *, engine: str | None = None, progress: Watcher = unwatched
) -> Release:
    """A release of later rows, by the masking of an earlier release; those that would be too few are held back.

    Args:
        release: The folder of the earlier release.
        table: The rows: a path, or a pandas, polars or pyarrow table.
        spec: The owner's spec, with the history that has the earlier release.
        engine: What counts the rows: `memory` or `stream`.
        progress: Called as the work is done.
    """
    checked, folder = load_spec(spec), Path(release)
    if checked.history is None:
        raise SpecError(f"{checked.origin}: --release needs {_missing_history(checked)}.")
    masked = read_manifest(folder)
    History(checked.history).links([folder])
    earlier = earlier_of(checked, None)
    if not isinstance(masked, RefinementManifest) or earlier is None:
        raise ReleaseError(f"{folder}: only a release by refinement has a masking for later rows.")
    opened = partial(open_engine, checked, table, engine, None, None, progress)

    def groups(outline: Outline, counts: Engine) -> dict[tuple[int, ...], IntArray]:
        check_placed(outline, masked, folder)
        return groups_of(counts.link(masked.masking), outline, checked)

    loaded, counts = succeeding(checked, earlier, opened, groups)
    from unveil.publishers.refinement import later_release

    progress("masking rows", 0, None)
    return later_release(loaded, checked, counts, masked, __version__, earlier.hashes)


def groups_of(link: Link, outline: Outline, spec: Spec) -> dict[tuple[int, ...], IntArray]:
    """The group of each row on the attributes of every requirement."""
    place = {attribute.name: column for column, attribute in enumerate(outline.attributes)}
    found = {}
    for names in {tuple(sorted(requirement.attributes, key=place.__getitem__)) for requirement in spec.requirements}:
        codes = [link.labels[name].indices.to_numpy(zero_copy_only=False).astype(np.int64) for name in names]
        found[tuple(place[name] for name in names)] = group_numbers(codes)[0]
    return found


def check_placed(outline: Outline, masked: RefinementManifest, folder: Path) -> None:
    """Refuses rows of another table, and values that have no block in a release."""
    names = [*(attribute.name for attribute in outline.attributes), *outline.others.names]
    if list(masked.columns) != names:
        odd = listed(sorted(set(names) ^ set(masked.columns)) or names)
        raise ReleaseError(f"{folder}: this is not a release of such rows; the two differ in the columns {odd}.")
    walks = masked.masking.walks
    for domain, histogram in zip(outline.columns, outline.histograms, strict=True):
        entry, values = masked.columns[domain.name], domain.plain()
        if isinstance(entry, AsIs):
            continue
        cells = [walk.cells[domain.name].of(values) for walk in walks if domain.name in walk.cells]
        placed: BoolArray = np.ones(len(values), dtype=np.bool_)
        for found in cells:
            placed &= found >= 0
        if not cells:
            placed = np.array([label is not None for label in entry.labels(values)])
        for value, known, records in zip(values, placed, histogram.sum(axis=1).tolist(), strict=True):
            if records and not known:
                raise TableError(
                    f"{outline.origin}: column {domain.name!r}: {value!r} has no block in {folder} "
                    f"({rows_text(records)}); leave such rows out, or publish the table anew."
                )


def _missing_history(spec: Spec) -> str:
    """What to write so that releases can be kept together."""
    if spec.plan is not None:
        return f"releases by refinement; {EPSILON_ADDS_UP}"
    person = "" if spec.table.person else " and [table] person, the column that says whose row each is"
    return f"[publish] history, the private folder in which releases are entered{person}"


def succeeding(
    spec: Spec,
    earlier: Earlier,
    opened: Callable[..., tuple[Checked, Any]],
    groups: Callable[[Outline, MemoryEngine], dict[tuple[int, ...], IntArray]] = lambda table, engine: {},
) -> tuple[Checked, MemoryEngine]:
    """The table without those who are held back, and what counts it by what earlier releases say about people.

    Where the masking is known, `groups` gives the group of each row on the attributes of requirements.
    """
    table, engine = opened()
    from unveil.publishers.withholding import Withholding

    withholding = Withholding(table, spec, engine, earlier, groups(table, engine))
    withholding.settle()
    if not withholding.released.all():
        table, engine = opened(withheld=Withheld(spec.table.person, withholding.words[~withholding.released]))
    engine.after(earlier, withholding.then, withholding.numbers)
    return table, engine
