"""Publish: from a spec and a table to a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from unveil.counting.engine import open_engine
from unveil.counting.loops import loading
from unveil.errors import SpecError, UnveilError
from unveil.progress import Watcher, phases_only, unwatched
from unveil.release import Release
from unveil.schema import Spec, SpecLike, load_spec
from unveil.version import __version__
from unveil.workflow.succession import earlier_of, succeeding


def publish(
    table: Any,
    spec: SpecLike | None = None,
    *,
    steps: int | None = None,
    stop: Callable[[], bool] | None = None,
    unsafe_seed: int | None = None,
    engine: str | None = None,
    index: str | None = None,
    spark: Mapping[str, str] | None = None,
    after: Sequence[str | Path] | None = None,
    progress: Watcher = unwatched,
) -> Release:
    """Makes a release.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table. Or a spec file, which names its
            own table.
        spec: The spec: a path to a TOML file, a mapping of the same shape, or a `Spec`.
        steps: Stop after this many refinements; the table is valid after each.
        stop: Called after every refinement; the search stops when it returns true.
        unsafe_seed: For tests and experiments with differential privacy: draw from a seed. The release is not private
            and says so; it is not entered into the owner's ledger.
        engine: What counts the rows: `memory`, `stream` (rows are read again for every pass, so that memory does not
            grow with them), `spark`, or `auto`: Spark for a Spark frame, and else by the number of rows. Without it,
            the environment variable `UNVEIL_ENGINE`, or `auto`. The release is the same.
        index: For Spark, where the distinct rows that a requirement is about are searched: in the `driver`, on the
            `cluster`, or `auto`, wherever they fit.
        spark: For Spark, settings of the session that is started, such as `{"spark.master": "local[2]"}`.
        after: Folders of earlier releases together with which it must keep its promise; they are in the history that
            the spec names. Without it, all that are in it.
        progress: Called with what is being done, how much of it is done, and of how much (None if unknown). For
            private releases it never receives row counts.
    """
    if steps is not None and (not isinstance(steps, int) or steps < 0):
        raise UnveilError(f"steps is {steps!r}, but it must be a whole number, 0 or more.")
    checked = load_spec(table if spec is None else spec)
    check_read(checked)
    source = checked.source if spec is None or table is None else table
    watcher = progress if checked.plan is None else phases_only(progress)
    earlier = earlier_of(checked, after)
    if earlier is not None and checked.margin:
        raise SpecError(f"{checked.origin}: [publish] margin cannot be combined with earlier releases.")
    with loading(checked, watcher) as ready:
        opened = partial(open_engine, checked, source, engine, index, spark, watcher, ready=ready)
        loaded, counts = opened() if earlier is None else succeeding(checked, earlier, opened)
        # Imported while the loops are loaded.
        from unveil.noise import SeededSource, SystemSource
        from unveil.publishers import drawn, hardened, publish_refinement

        bits = SystemSource() if unsafe_seed is None else SeededSource(unsafe_seed)
        if checked.plan is not None:
            if steps is not None:
                raise SpecError(f"{checked.origin}: steps is for refinement; a private release is drawn once.")
            from unveil.publishers.budget import enter

            if unsafe_seed is None:
                enter(checked, source)
            return drawn(loaded, checked, checked.plan, counts, bits, progress)
        hashes = () if earlier is None else earlier.hashes
        return publish_refinement(loaded, hardened(checked, bits), counts, __version__, steps, stop, progress, hashes)


def check_read(spec: Spec) -> None:
    """Refuses a spec that nobody has read: its guesses are not promises."""
    if spec.draft:
        raise SpecError(
            f"{spec.origin}: draft = true: its guesses were read off the data and are nobody's promise; correct them "
            "and remove that line."
        )
