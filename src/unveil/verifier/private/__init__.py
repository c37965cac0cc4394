"""What a differentially private release promises, and for DiffGen and true rows the ledger that pays for it, and cells.

The ledger pays for every draw that shaped the release, once and within the budget. The draws are those of DiffGen
(Mohammed et al., KDD 2011, Algorithm 1): one for the first split of every number, one to select each specialization,
one for the splits of the two halves of a specialized interval, and the noise of the counts. With n numbers and h
specializations, each draw except the last costs ε' = ε / (2(n + 2h)), and half of that where true rows are released.

Of n equal records, X ~ Binomial(n, β) are kept, and released if X ≥ k. So one record more exceeds the factor e^ε by
Σ max(0, P(X′ = j) − e^ε P(X = j)) over j ≥ k, where X′ is of n + 1 records; the largest of these sums over all n is δ.
Here the laws are computed by adding one record after the other. Hoeffding's inequality says where to stop: the sum is
at most P(X′ > γ(n + 1)) ≤ exp(−2(n + 1)(γ − β)²) with γ = 1 − (1 − β) / e^ε.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, exp, log, prod

import numpy as np
import pyarrow.compute as pc

from unveil.errors import count_text, listed, rows_text
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Finding,
    Generalization,
    Masked,
    Suppression,
    guarantee_findings,
    repeated,
)
from unveil.verifier.data import Codes, Column, Data, Groups, group
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import COUNT, Charge, DiffGenManifest, DrawnManifest, PrivateManifest, SafeManifest
from unveil.verifier.records import twice_findings
from unveil.verifier.values import exact_text, number_text

SEEDED = "None: it was made with a seed, for tests and experiments."
COUNTS = "counts of all cells"
FIRST = "first split of "
SAMPLING = "sampling and suppression"
LARGEST_GROUP = 20_000
"""Groups of more records than this are not looked at."""
ROUNDED = 1e-6
"""By how much, relatively, floats may be off."""


def check_promise(manifest: PrivateManifest) -> Iterator[Finding]:
    """The sentence says which ε the release keeps, or that it keeps none; domains are declared, and classes differ.

    A manifest does not state whether rows have weights, so the sentence about weights, which promises less, is right
    too; `check_plan` compares it with the spec.
    """
    if manifest.guarantee != promised(manifest, weighted=True):
        yield from guarantee_findings(manifest.guarantee, promised(manifest, weighted=False))
    for name, entry in manifest.masking.items():
        if entry.domain != "declared":
            message = f"the domain of {name!r} is {entry.domain}: it was read from the data, which no charge covers"
            yield Finding("domain", f"{MANIFEST}: {message}.")
    if twice := repeated(manifest.classes):
        yield Finding("classes", f"{MANIFEST}: the class label {listed(twice)} appears twice.")
    if len(manifest.classes) < 2:
        count = count_text(len(manifest.classes), "class label")
        yield Finding("classes", f"{MANIFEST} has {count}, but a class has at least 2.")


def check_specializations(manifest: DrawnManifest) -> Iterator[Finding]:
    """The cuts take as many specializations, and make as many cells, as the manifest says.

    For a taxonomy, only the spec shows how many specializations there were.
    """
    entries = list(manifest.masking.values())
    least = sum(least_steps(entry) for entry in entries)
    open_ended = any(isinstance(entry, Generalization) for entry in entries)
    if manifest.specializations < least or (manifest.specializations > least and not open_ended):
        message = f"{MANIFEST} says that there were {manifest.specializations} specializations"
        yield Finding("specializations", f"{message}, but its cuts take {'at least ' if open_ended else ''}{least}.")
    if manifest.cells != (cells := cell_total(manifest)):
        claimed, counted = exact_text(manifest.cells), exact_text(cells)
        yield Finding("cells", f"{MANIFEST} says that cells is {claimed}, but its cuts and classes make {counted}.")


def cell_total(manifest: DrawnManifest) -> int:
    """How many cells there are: one for each block of every attribute, and each class."""
    return prod(len(labels) for labels in manifest.labels.values())


def promised(manifest: PrivateManifest, *, weighted: bool) -> str:
    """The sentence of a release, written from its requirement."""
    if not manifest.private:
        return SEEDED
    unit = "one record (a row of weight n is n records)" if weighted else "one record"
    if manifest.contributions is not None:
        rows = f"{manifest.contributions:,} rows are" if manifest.contributions > 1 else "1 row is"
        unit = f"one person (at most {rows} used of each)"
    epsilon = _decimal(manifest.epsilon)
    if isinstance(manifest, SafeManifest):
        delta = _decimal(manifest.delta)
        return (
            f"This release is (ε, δ)-differentially private with ε = {epsilon} and δ = {delta}: adding or removing "
            f"{unit} changes the probability of any set of releases by a factor of at most exp({epsilon}), "
            f"and by {delta} more. Each row is a record of the table, masked, and was kept with probability "
            f"{manifest.sampled}; at least {manifest.k} rows agree in all columns."
        )
    return (
        f"This release is ε-differentially private with ε = {epsilon}: adding or removing {unit} "
        f"changes the probability of any release by a factor of at most exp({epsilon})."
    )


def _decimal(amount: Fraction) -> str:
    """In decimal if a float is exactly that, otherwise as a fraction."""
    try:
        number = float(amount)
    except OverflowError:
        return str(amount)
    text = number_text(number)
    return text if Fraction(text) == amount else str(amount)


def least_steps(entry: Masked) -> int:
    """How many specializations a cut takes; through a taxonomy, at least."""
    if isinstance(entry, Suppression):
        return 1 if entry.disclosed else 0
    return min(len(entry.blocks) - 1, 1) if isinstance(entry, Generalization) else len(entry.blocks) - 1


def check_ledger(manifest: DiffGenManifest) -> Iterator[Finding]:
    """The charges are those of the draws, each of the right amount, and add up to at most ε."""
    last = manifest.ledger[-1]
    if last.purpose != COUNTS:
        yield broken_ledger(f"the last charge is for {last.purpose!r}, not for the {COUNTS!r}")
    elif last.composition != "sequential":
        yield broken_ledger(f"the charge for the {COUNTS!r} is {last.composition}, but all records are in them")
    spent = sum((charge.epsilon for charge in manifest.ledger[:-1]), Fraction(0))
    paper = manifest.budget == "paper"
    rest, why = (manifest.epsilon / 2, "ε / 2") if paper else (manifest.epsilon - spent, "what is left of ε")
    yield from _charge_findings(manifest, 2, rest, why)


def check_thinning(manifest: SafeManifest) -> Iterator[Finding]:
    """The charges are those of the cut and of the sampling, and sampling and suppression are worth ε and δ."""
    last = manifest.ledger[-1]
    if last.purpose != SAMPLING or last.composition != "sequential":
        yield broken_ledger(f"the last charge is for {last.purpose!r}, not a sequential one for {SAMPLING!r}")
    yield from _charge_findings(manifest, 4, manifest.epsilon * Fraction(3, 4), "3ε / 4")
    yield from _delta_findings(manifest, last.epsilon)


def _charge_findings(manifest: DrawnManifest, part: int, rest: Fraction, why: str) -> Iterator[Finding]:
    """The draws of the cut get ε / part in equal shares, the last charge gets the rest, and all add up."""
    structure, last = manifest.ledger[:-1], manifest.ledger[-1]
    yield from _order_findings(manifest, structure)
    numbers, steps = len(manifest.numbers), manifest.specializations
    share = manifest.epsilon / max(part * (numbers + 2 * steps), 1)
    if unequal := [charge for charge in structure if charge.epsilon != share]:
        yield wrong_amount(unequal[0], share, f"ε / ({part}({numbers} + 2·{steps}))")
    if last.epsilon != rest:
        yield wrong_amount(last, rest, why)
    yield from check_budget(manifest)


def _order_findings(manifest: DrawnManifest, structure: Sequence[Charge]) -> Iterator[Finding]:
    """The charges for the cut, in the order of its draws; if nothing is wrong with these, whether any is lacking."""
    unpaid = {FIRST + name for name in manifest.numbers}
    selected = splits = 0
    unsplit = wrong = False
    for number, charge in enumerate(structure, start=1):
        purpose, composition = charge.purpose, "sequential"
        if selected < manifest.specializations and purpose == f"specialization {selected + 1}":
            selected, unsplit = selected + 1, True
        elif unsplit and purpose == f"splits after specialization {selected}":
            splits, unsplit, composition = splits + 1, False, "parallel"
        elif not selected and purpose in unpaid:
            unpaid.remove(purpose)
        else:
            yield broken_ledger(f"charge {number} is for {purpose!r}, which does not belong there")
            return
        if composition != charge.composition:
            yield broken_ledger(f"charge {number} for {purpose!r} is {charge.composition}, not {composition}")
            wrong = True
    if not wrong:
        yield from _lacking_findings(manifest, unpaid, selected, splits)


def _lacking_findings(manifest: DrawnManifest, unpaid: set[str], selected: int, splits: int) -> Iterator[Finding]:
    """Every draw that the cuts show is charged."""
    if selected < manifest.specializations:
        yield broken_ledger(f"{selected} specializations are charged, but there were {manifest.specializations}")
    for name, entry in manifest.numbers.items():
        if len(entry.blocks) > 1 and FIRST + name in unpaid:
            yield broken_ledger(f"{name!r} has {len(entry.blocks)} intervals, but no charge for its first split")
    # Of b intervals, b - 1 were split: one by the first split, the others as halves, at most two to a charge.
    intervals = [len(entry.blocks) for entry in manifest.numbers.values()]
    least, most = sum((count - 1) // 2 for count in intervals), sum(count - 1 for count in intervals)
    if not least <= splits <= most:
        yield broken_ledger(
            f"splits are charged after {splits} specializations, but the intervals of "
            f"{len(intervals)} numbers take from {least} to {most}"
        )


def check_budget(manifest: PrivateManifest) -> Iterator[Finding]:
    """The charges of any method add up to at most ε, exactly."""
    spent = sum((charge.epsilon for charge in manifest.ledger), Fraction(0))
    if spent > manifest.epsilon:
        total, budget = exact_text(spent), exact_text(manifest.epsilon)
        yield Finding("budget", f"{MANIFEST}: the charges add up to {total}, but ε is {budget}.")


def wrong_amount(charge: Charge, amount: Fraction, why: str) -> Finding:
    """A draw of another price."""
    found, right = exact_text(charge.epsilon), exact_text(amount)
    return Finding("charge", f"{MANIFEST}: the charge for {charge.purpose!r} is {found}, but {why} is {right}.")


def broken_ledger(problem: str) -> Finding:
    """A charge that is lost, of no draw, or in the wrong place."""
    return Finding("ledger", f"{MANIFEST}, ledger: {problem}.")


def check_cells(manifest: DiffGenManifest, data: Data) -> Iterator[Finding]:
    """No cell appears twice, every count is a number, and no cell is left out that must be listed.

    Leaving out an empty cell would disclose that it is empty. So all cells are listed, or those whose noisy count
    reaches a threshold. The work depends on the rows, not on the cells, of which there may be 10^12.
    """
    columns = [data.columns[name] for name in manifest.labels]
    listed = group(columns, data.counts)
    yield from twice_findings(listed)
    yield from _cell_count_findings(data, manifest.threshold or 0, columns)
    if manifest.threshold is None:
        yield from _coverage_findings(manifest, listed)


def _cell_count_findings(data: Data, least: int, columns: list[Column]) -> Iterator[Finding]:
    counts = data.columns[COUNT]
    if counts.values.null_count:
        lacking = rows_text(data.rows_of(counts.codes == len(counts.values) - 1))
        yield Finding("count", f"{PARQUET}: the column {COUNT!r} has no value in {lacking}.")
    too_low = pc.fill_null(pc.less(counts.values, least), False).to_numpy(zero_copy_only=False)
    low = too_low[counts.codes]
    if low.any():
        row = int(np.argmax(low))
        place = ", ".join(column.text(int(column.codes[row])) for column in columns)
        count = counts.values[int(counts.codes[row])].as_py()
        claim, what = ("threshold", f"the threshold is {least:,}") if least else ("count", "no count is below 0")
        message = f"({place}) has the count {count:,}, but {what} (too low in {rows_text(data.rows_of(low))})"
        yield Finding(claim, f"{PARQUET}: {message}.")


def _coverage_findings(manifest: DiffGenManifest, listed: Groups) -> Iterator[Finding]:
    labels = manifest.labels
    pairs = zip(listed.columns, listed.keys, strict=True)
    places = [label_places(labels[column.name], column.texts())[key] for column, key in pairs]
    known = np.all([place >= 0 for place in places], axis=0)
    total, found = cell_total(manifest), int(known.sum())
    if found < total:
        missing = _first_missing([place[known] for place in places], [len(names) for names in labels.values()])
        cell = ", ".join(f"{name}={labels[name][place]!r}" for name, place in zip(labels, missing, strict=True))
        message = f"{PARQUET} lists {found:,} of the {exact_text(total)} cells, but without a threshold all are listed"
        yield Finding("coverage", f"{message}: ({cell}) is not.")


def label_places(labels: Sequence[str], words: Iterable[object]) -> Codes:
    """For each word its place among the labels; -1 if it is not one of them."""
    place_of: dict[object, int] = {label: place for place, label in enumerate(labels)}
    return np.array([place_of.get(word, -1) for word in words], dtype=np.int32)


def _first_missing(places: list[Codes], sizes: list[int]) -> list[int]:
    """The first cell that is not listed.

    If n cells are listed, one of the first n + 1 in order is not. So all larger numbers count as one, and none grows
    with the number of cells.
    """
    end = len(places[0])
    numbers = np.zeros(end, dtype=np.int64)
    for place, size in zip(places, sizes, strict=True):
        numbers = np.minimum(numbers * size + place, end + 1)
    seen = np.zeros(end + 2, dtype=np.bool_)
    seen[numbers] = True
    number = int(np.argmin(seen[: end + 1]))
    cell: list[int] = []
    for size in reversed(sizes):
        cell.append(number % size)
        number //= size
    return cell[::-1]


def _delta_findings(manifest: SafeManifest, epsilon: Fraction) -> Iterator[Finding]:
    share, kept = float(manifest.sampled), f"with β = {manifest.sampled} and k = {manifest.k}"
    if not 0 < manifest.sampled < 1:
        yield Finding("delta", f"{MANIFEST}: sampled is {manifest.sampled}, but a probability is between 0 and 1.")
        return
    growth = exp(min(float(epsilon / manifest.apart), 600.0))
    if growth * (1 - share) < 1 - ROUNDED:
        yield Finding("delta", f"{MANIFEST}: {kept}, too many records are kept for ε = {exact_text(epsilon)}.")
        return
    # The records of a person come one after the other: each adds δ, times the factor of all that follow.
    together = sum(growth**place for place in range(manifest.apart))
    record = thinning_delta(share, manifest.k, growth, float(manifest.delta) / together)
    found = None if record is None else record * together
    if found is None:
        yield Finding(
            "delta", f"{MANIFEST}: {kept}, δ is too hard to compute: groups of {LARGEST_GROUP:,} records matter."
        )
    elif found > float(manifest.delta) * (1 + ROUNDED):
        stated = exact_text(manifest.delta)
        yield Finding("delta", f"{MANIFEST} says that δ is {stated}, but {kept} it is {found:.3g}.")


def thinning_delta(share: float, least: int, growth: float, enough: float) -> float | None:
    """The largest excess over e^ε, the growth, of all sizes of a group; None if too large groups would matter.

    Fewer than `least` kept records are suppressed, and an excess below `enough` does not matter.
    """
    bend = 1 - (1 - share) / growth
    last = ceil(-log(enough) / (2 * (bend - share) ** 2)) if bend > share else LARGEST_GROUP + 1
    if last > LARGEST_GROUP:
        return None
    law: Floats = np.zeros(last + 2)
    law[0] = 1.0
    largest = 0.0
    for size in range(1, last + 1):
        more = law * (1 - share)
        more[1:] += law[:-1] * share
        if size >= least:
            largest = max(largest, float(np.maximum(more[least:] - growth * law[least:], 0).sum()))
        law = more
    return largest


def check_shared(manifest: SafeManifest, data: Data) -> Iterator[Finding]:
    """At least k rows agree in all columns."""
    groups = group([data.columns[name] for name in manifest.labels], data.counts)
    few = groups.sizes < manifest.k
    if few.any():
        worst = int(np.argmin(groups.sizes))
        message = f"{groups.text(worst)} appears {groups.sizes[worst]:,} times, but {MANIFEST} says that k is"
        yield Finding("k", f"{PARQUET}: {message} {manifest.k} (too few in {count_text(int(few.sum()), 'group')}).")
