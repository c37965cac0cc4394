"""The parts of `docs/scale.md` about scale, from the cases that are kept."""

from __future__ import annotations

from collections.abc import Iterator

from scale_results import Case, Found

from report import markdown

HEADER = ("attributes", "rows", "engine", "steps", "search", "total", "CPU", "GB")
LARGE = 10**7
"""Smaller tables are not on the page: starting takes most of their time."""
NOT_YET = "Not measured yet: `make bench FULL=1` fills this in."


def scale_parts(found: Found) -> dict[str, str]:
    """What was measured, by the names that the page has for it."""
    return {
        "scale": _table(HEADER, (cells(case) for case in found.cases if case.plan.rows >= LARGE)),
        "scale_machine": str(found.machine),
    }


def cells(case: Case) -> tuple[str, ...]:
    """A case as a line of the table."""
    plan = case.plan
    engine = f"{plan.engine}, {plan.index}" if plan.index else plan.engine
    seconds = (f"{case.stages['search'].seconds:.1f}", f"{case.seconds:.1f}", f"{case.cpu:.1f}")
    return (plan.setting, f"{plan.rows:,}", engine, str(case.steps), *seconds, f"{case.peak / 1e9:.2f}")


def _table(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    held = list(rows)
    return markdown(header, *held) if held else NOT_YET
