"""Publishing true rows under (ε, δ)-differential privacy: a private cut, sampling, suppression.

The cut is drawn by DiffGen's search for a quarter of ε. It is then a fixed map from records to rows,
so the rest of ε and δ pay for thinning the rows (`noise/thinning.py`). In total: let P(c) be the probability of the cut
c, and M_c(S) that of a set S of tables with it, from one table; P′ and M′ from a neighbour. Then

    Σ P(c) M_c(S) ≤ Σ P(c) (e^ε₂ M′_c(S) + δ) ≤ Σ e^ε₁ P′(c) e^ε₂ M′_c(S) + δ = e^(ε₁ + ε₂) Σ P′(c) M′_c(S) + δ.
"""

from __future__ import annotations

import numpy as np

from unveil.counting import Engine
from unveil.errors import SpecError
from unveil.noise import Ledger, Source, Thinning, thinning_for
from unveil.progress import Watcher, unwatched
from unveil.publishers.cells import cell_total
from unveil.publishers.claims import private_claims
from unveil.publishers.diffgen import cell_rows, private_cuts
from unveil.release import CountedRows, Release, SafeManifest
from unveil.schema import SafePlan, Spec, decimal_text
from unveil.tables import Outline

SAMPLING = "sampling and suppression"


def publish_safe(
    table: Outline,
    spec: Spec,
    plan: SafePlan,
    engine: Engine,
    source: Source,
    version: str,
    progress: Watcher = unwatched,
) -> Release:
    """Draws a release of true rows.

    Args:
        table: The checked table.
        spec: The spec, whose domains are all declared.
        plan: What the release may cost.
        engine: What counts the table.
        source: The randomness; a release from a seeded one says that it is not private.
        version: The version to write into the manifest.
        progress: Where progress is reported, in public numbers only.
    """
    thinning = planned_thinning(plan, spec.origin)
    ledger = Ledger(plan.epsilon)
    cuts = private_cuts(table, plan.cut, engine, ledger, source, progress)
    ledger.charge(SAMPLING, plan.sampling)
    progress("counting cells", 0, None)
    cells = engine.cells(cuts)
    progress("sampling rows", 0, None)
    cell, class_ = np.nonzero(cells.counts)
    kept = thinning.draw(cells.counts[cell, class_], source)
    held = kept > 0
    rows, counts = cell_rows(table, cuts, cells.blocks[cell[held]], class_[held], kept[held])
    manifest = SafeManifest(
        **private_claims(table, spec, plan, ledger, source, cuts, version, _sentence(thinning)),
        specializations=plan.specializations,
        utility=plan.utility,
        choice=plan.choice,
        sampled=str(thinning.share),
        k=thinning.least,
        cells=cell_total([len(cut) for cut in cuts], len(table.classes)),
    )
    return Release(CountedRows(rows, counts), manifest)


def planned_thinning(plan: SafePlan, origin: str) -> Thinning:
    """How rows are sampled and suppressed, from ε and δ alone."""
    thinning = thinning_for(plan.sampling, plan.delta)
    if thinning is None:
        epsilon, delta = decimal_text(plan.epsilon), decimal_text(plan.delta)
        raise SpecError(f"{origin}: ε = {epsilon} with δ = {delta} would leave no rows; one of them must be larger.")
    return thinning


def _sentence(thinning: Thinning) -> str:
    """What else a reader of the rows may rely on."""
    return (
        f"Each row is a record of the table, masked, and was kept with probability {thinning.share}; at least "
        f"{thinning.least} rows agree in all columns."
    )
