"""Releases for the owner's figures, never to hand out."""

from __future__ import annotations

from unveil.counting import Engine
from unveil.counting.memory import MemoryEngine
from unveil.noise import SeededSource, Source
from unveil.progress import Watcher, unwatched
from unveil.publishers.guards import hardened
from unveil.publishers.refinement import publish_refinement
from unveil.release import Release
from unveil.schema import AdditivePlan, Plan, SafePlan, Spec
from unveil.tables import Outline, Table
from unveil.version import __version__


def trial_release(
    table: Table, spec: Spec, seed: int = 0, engine: Engine | None = None, progress: Watcher = unwatched
) -> Release:
    """A release of rows that were read already, for the owner's figures and never to hand out.

    A private one is drawn from a seed, says that it is not private, and is not entered into the owner's ledger. What
    `progress` raises ends the work.
    """
    counts = MemoryEngine(table) if engine is None else engine
    if spec.plan is None:
        return publish_refinement(table, tried(spec, seed), counts, __version__, progress=progress)
    return drawn(table, spec, spec.plan, counts, SeededSource(seed), progress)


def tried(spec: Spec, seed: int = 0) -> Spec:
    """The spec of a trial by refinement: what is secret about a release is drawn from a seed."""
    return hardened(spec, SeededSource(seed))


def drawn(
    table: Outline, spec: Spec, plan: Plan, engine: Engine, source: Source, progress: Watcher = unwatched
) -> Release:
    """A private release, by the method of the plan."""
    # A release by refinement need not wait for them.
    from unveil.publishers.private import publish_diffgen, publish_safe

    if isinstance(plan, AdditivePlan):
        from unveil.publishers.additive import publish_additive

        return publish_additive(table, spec, plan, engine, source, __version__, progress)
    if isinstance(plan, SafePlan):
        return publish_safe(table, spec, plan, engine, source, __version__, progress)
    return publish_diffgen(table, spec, plan, engine, source, __version__, progress)
