"""Measures what is missing: two points at a time, and those that measure time one by one with nothing else running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import perf_counter

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from reproduce.figures import Figure
from reproduce.points import Cache, Measure, Point, Setting
from reproduce.versions import commit


def figures() -> tuple[Figure, ...]:
    """All figures, in the order of the papers."""
    from reproduce import diffgen_figures, pda_figures, tdr_figures

    return (*tdr_figures.FIGURES, *pda_figures.FIGURES, *diffgen_figures.FIGURES)


def measures() -> dict[str, Measure]:
    """All measurements by their names."""
    from reproduce import diffgen, pda, tdr

    return {**tdr.MEASURES, **pda.MEASURES, **diffgen.MEASURES}


def measured(setting: Setting) -> Point:
    """One point."""
    begun = perf_counter()
    value = measures()[setting["measure"]](setting)
    return Point(dict(setting), value, round(perf_counter() - begun, 2), commit())


def run(wanted: Sequence[Figure], cache: Cache, *, quick: bool, workers: int) -> None:
    """Measures the points of some figures that the cache does not hold."""
    columns = (TextColumn("{task.description:22}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Processes of their own, each with its own Java machine.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool, Progress(*columns) as progress:
        for figure in wanted:
            missing = cache.missing(figure.quick if quick else figure.settings)
            task = progress.add_task(figure.name, total=len(missing))
            for point in map(measured, missing) if figure.alone else _finished(pool, missing):
                cache.add(point)
                progress.advance(task)


def _finished(pool: ProcessPoolExecutor, settings: Sequence[Setting]) -> Iterator[Point]:
    for future in as_completed([pool.submit(measured, setting) for setting in settings]):
        yield future.result()
