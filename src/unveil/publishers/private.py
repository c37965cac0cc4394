"""Publishing under differential privacy by a private cut: noisy counts of its cells, or true rows thinned.

*DiffGen, Algorithm 1.* The search is the loop of `refine/search.py` with private plugs: the split of a number is drawn
when its interval comes into the cut (lines 4 and 9), and the next specialization is drawn among the candidates (line
7). Neither touches a row: gains and splits come from the histograms of single attributes. The counts of the cells (line
12) are the second pass.

*True rows under (ε, δ).* The cut is drawn by DiffGen's search for a quarter of ε. It is then a fixed map from records
to rows, so the rest of ε and δ pay for thinning the rows (`noise/thinning.py`). In total: let P(c) be the probability
of the cut c, and M_c(S) that of a set S of tables with it, from one table; P′ and M′ from a neighbour. Then

    Σ P(c) M_c(S) ≤ Σ P(c) (e^ε₂ M′_c(S) + δ) ≤ Σ e^ε₁ P′(c) e^ε₂ M′_c(S) + δ = e^(ε₁ + ε₂) Σ P′(c) M′_c(S) + δ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, FloatArray, IntArray, NumberArray, packed_keys, sorted_order
from unveil.counting import Engine, used_rows
from unveil.counting.released import ranked
from unveil.errors import SpecError
from unveil.masking import Block, Discretize, Flat, Generalize, Tree, class_type, freeze
from unveil.noise import Ledger, Source, Thinning, below, exponential_choice, per_record, permute_and_flip, thinning_for
from unveil.progress import Tasks, Watcher, unwatched
from unveil.publishers.cells import cell_total, feasible_threshold, noisy_cells, public_threshold
from unveil.refine import InfoGainUtility, MaxUtility, Search, Utility, gain_alone
from unveil.release import About, CountedRows, DiffGenManifest, LedgerEntry, Release, SafeManifest
from unveil.schema import COUNT, Grid, Plan, PrivatePlan, SafePlan, Spec, decimal_text, grid_of
from unveil.tables import Outline

SEEDED = "None: it was made with a seed, for tests and experiments."
SAMPLING = "sampling and suppression"


def private_claims(
    table: Outline,
    spec: Spec,
    plan: Plan,
    ledger: Ledger,
    source: Source,
    version: str,
    cuts: Sequence[Sequence[Block]],
    also: str = "",
) -> dict[str, Any]:
    """The entries of a manifest that all private methods share.

    `cuts` are the blocks of each attribute; `also` is what the guarantee adds to the sentence of the plan.
    """
    return {
        "unveil_version": version,
        "about": About(title=spec.table.title, owner=spec.table.owner, date=spec.table.date),
        "guarantee": f"{plan.sentence(weighted=table.weighted)} {also}".strip() if source.private else SEEDED,
        "private": source.private,
        "class_": spec.table.class_,
        "class_type": class_type(table.classes.type),
        "class_missing": dict(spec.table.class_missing.kinds),
        "classes": tuple(str(label) for label in table.classes.values),
        "requirements": (plan.describe(),),
        "columns": {
            attribute.name: freeze(attribute, cut) for attribute, cut in zip(table.attributes, cuts, strict=True)
        },
        "derived": spec.derived,
        "ledger": tuple(
            LedgerEntry(purpose=entry.purpose, epsilon=str(entry.epsilon), composition=entry.composition)
            for entry in ledger.entries
        ),
    }


class PrivateStructure:
    """The draws that shape the cuts, each charged before it happens.

    In the paper, ε' = ε / (2(|A_n| + 2h)): one draw for the first split of every number, then for every specialization
    one draw to select it and one for the splits of its children. The children of an interval are disjoint, so one
    charge covers both. With the full budget, splits that no specialization can use are not drawn, a monotone
    utility gets the tighter exponent, and what is not spent here goes to the counts.

    If ε is about a person of whom m rows are used, a utility is m times as sensitive as to one row
    (`counting/contributions.py`).
    """

    def __init__(self, plan: PrivatePlan, numbers: int, utility: Utility, ledger: Ledger, source: Source) -> None:
        self._plan = plan
        self._ledger = ledger
        self._source = source
        self._utility = utility
        self._share = plan.epsilon / max(2 * (numbers + 2 * plan.specializations), 1)
        self._rate = utility.rate(self._share / plan.apart, tight=plan.budget == "full")
        self._selected = 0
        self._charged = False

    def select(self, scores: FloatArray) -> int:
        """Line 7: draws the next specialization."""
        self._selected += 1
        self._charged = False
        self._charge(f"specialization {self._selected}")
        whole = scores.astype(np.int64)
        if self._plan.choice == "permute-and-flip":
            return permute_and_flip(whole, self._rate, self._source)
        return exponential_choice(whole, self._rate, np.ones_like(whole), self._source)

    def split(self, name: str, grid: Grid, values: NumberArray, histogram: IntArray, interval: Block) -> float | None:
        """Lines 4 and 9, Equation 6: draws where to split an interval, from all values of its domain.

        The histogram has the class counts of the observed values.
        """
        lo, hi = (grid.place(bound) for bound in interval.bounds or (0, 0))
        if hi - lo < 2 or (self._plan.budget == "full" and self._selected == self._plan.specializations):
            return None
        self._charge_split(name)
        counts = histogram[interval.codes]
        # A split at place j puts what is below j to the left: all places in (x_i, x_i+1] do the same.
        ends = np.concatenate([[lo], grid.places(values[interval.codes]), [hi - 1]])
        left = np.concatenate([np.zeros((1, counts.shape[1]), dtype=np.int64), np.cumsum(counts, axis=0)])
        sizes = np.diff(ends)
        scores = self._utility.of(np.stack([left, left[-1] - left], axis=1)).astype(np.int64)
        open_ = np.flatnonzero(sizes > 0)
        chosen = int(open_[exponential_choice(scores[open_], self._rate, sizes[open_], self._source)])
        return grid.value(int(ends[chosen]) + 1 + below(self._source, int(sizes[chosen])))

    def _charge_split(self, name: str) -> None:
        if self._selected == 0:
            self._charge(f"first split of {name}")
        elif not self._charged:
            self._charge(f"splits after specialization {self._selected}", parallel=True)
            self._charged = True

    def _charge(self, purpose: str, *, parallel: bool = False) -> None:
        self._ledger.charge(purpose, self._share, "parallel" if parallel else "sequential")


def publish_diffgen(
    table: Outline,
    spec: Spec,
    plan: PrivatePlan,
    engine: Engine,
    source: Source,
    version: str,
    progress: Watcher = unwatched,
) -> Release:
    """Draws a differentially private release; one from a seeded source says that it is not private.

    Progress is reported in public numbers only: the specializations that the spec asks for.
    """
    ledger = Ledger(plan.epsilon)
    table, engine = used_rows(table, engine, plan.contributions)
    cuts = private_cuts(table, plan, engine, ledger, source, progress)
    counts = ledger.left if plan.budget == "full" else plan.epsilon / 2
    ledger.charge("counts of all cells", counts)
    rate = counts / plan.apart
    sizes = [len(cut) for cut in cuts]
    total = cell_total(sizes, len(table.classes))
    threshold = (
        public_threshold(total, rate) if plan.threshold is None else feasible_threshold(plan.threshold, total, rate)
    )
    progress("counting cells", 0, None)
    cells = engine.cells(cuts)
    progress("drawing noise", 0, None)
    blocks, classes, noisy = noisy_cells(cells, sizes, rate, threshold, source)
    manifest = DiffGenManifest(
        **private_claims(table, spec, plan, ledger, source, version, cuts),
        specializations=plan.specializations,
        utility=plan.utility,
        choice=plan.choice,
        budget=plan.budget,
        cells=total,
        threshold=threshold,
    )
    rows, counts_of = cell_rows(table, cuts, blocks, classes, noisy)
    return Release(rows.append_column(COUNT, pa.array(counts_of)), manifest)


def private_cuts(
    table: Outline, plan: PrivatePlan, engine: Engine, ledger: Ledger, source: Source, progress: Watcher
) -> list[list[Block]]:
    """Lines 1 to 11: the cuts of all attributes, in the order of their values."""
    utility: Utility = MaxUtility() if plan.utility == "max" else InfoGainUtility(len(table.classes))
    numbers = sum(attribute.ordered for attribute in table.attributes)
    structure = PrivateStructure(plan, numbers, utility, ledger, source)
    histograms = engine.histograms()
    trees = [(column, _tree(table, column, histograms[column], structure)) for column in range(len(table.columns))]
    search = Search(trees, histograms, (), gain_alone, utility, structure.select)
    drawn = Tasks(progress, "drawing specializations", plan.specializations)
    for _ in islice(search.steps(), plan.specializations):
        drawn.finish()
    return [sorted(cut, key=lambda block: block.bounds or (block.first, 0)) for cut in search.cuts.values()]


def _tree(table: Outline, column: int, histogram: IntArray, structure: PrivateStructure) -> Tree:
    attribute = table.attributes[column]
    values = table.columns[column].values
    if attribute.taxonomy is not None:
        return Generalize(attribute, attribute.taxonomy)
    if isinstance(values, tuple):
        return Flat(attribute, values)
    grid = grid_of(attribute)
    if grid is None:
        raise ValueError(f"{attribute.name} has no declared domain")
    split = partial(structure.split, attribute.name, grid, values, histogram)
    return Discretize(attribute, table.scale(column), values, split)


def cell_rows(
    table: Outline, cuts: Sequence[Sequence[Block]], blocks: IntArray, classes: IntArray, counts: Array
) -> tuple[pa.Table, Array]:
    """One row per cell, sorted by its values as the rows of any release are, and the count or weight of each."""
    labels = [*(pa.array([block.label for block in cut]) for cut in cuts), table.classes.array]
    names = [*(attribute.name for attribute in table.attributes), table.classes.name]
    codes = [*blocks.T, classes]
    columns = [
        ranked(name, of, np.bincount(held, minlength=len(of)) > 0)
        for name, of, held in zip(names, labels, codes, strict=True)
    ]
    ranks = [column.rank_of[held] for column, held in zip(columns, codes, strict=True)]
    order = sorted_order(packed_keys(ranks, [len(column.values) for column in columns]))
    rows = {column.name: column.column(rank[order]) for column, rank in zip(columns, ranks, strict=True)}
    return pa.table(rows), counts[order]


def publish_safe(
    table: Outline,
    spec: Spec,
    plan: SafePlan,
    engine: Engine,
    source: Source,
    version: str,
    progress: Watcher = unwatched,
) -> Release:
    """Draws a release of true rows; one from a seeded source says that it is not private.

    Progress is reported in public numbers only.
    """
    thinning = planned_thinning(plan, spec.origin)
    ledger = Ledger(plan.epsilon)
    table, engine = used_rows(table, engine, plan.contributions)
    cuts = private_cuts(table, plan.cut, engine, ledger, source, progress)
    ledger.charge(SAMPLING, plan.sampling)
    progress("counting cells", 0, None)
    cells = engine.cells(cuts)
    progress("sampling rows", 0, None)
    cell, class_ = np.nonzero(cells.counts)
    kept = thinning.draw(cells.counts[cell, class_], source)
    held = kept > 0
    rows, counts = cell_rows(table, cuts, cells.blocks[cell[held]], class_[held], kept[held])
    kept_by = (
        f"Each row is a record of the table, masked, and was kept with probability {thinning.share}; at least "
        f"{thinning.least} rows agree in all columns."
    )
    manifest = SafeManifest(
        **private_claims(table, spec, plan, ledger, source, version, cuts, also=kept_by),
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
    thinning = thinning_for(*per_record(plan.sampling, plan.delta, plan.apart))
    if thinning is None:
        epsilon, delta = decimal_text(plan.epsilon), decimal_text(plan.delta)
        several = f" for {plan.apart:,} rows of a person" if plan.apart > 1 else ""
        raise SpecError(
            f"{origin}: ε = {epsilon} with δ = {delta}{several} would leave no rows; one of them must be larger."
        )
    return thinning
