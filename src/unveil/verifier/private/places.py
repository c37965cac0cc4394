"""The declared domains of a private spec: the bins they make, where raw values lie, and which rows are used.

If ε is about one person, a private release uses at most m of a person's rows: those with the m smallest numbers. The
number of a row is made of its person, of the places of its values in the declared domains and, among equal rows, of a
counter, by the public function SplitMix64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed
from unveil.verifier.claims import MANIFEST, Discretization, Finding, Generalization, Masked
from unveil.verifier.cuts import masked_values
from unveil.verifier.data import Codes, Column, fresh
from unveil.verifier.manifests import AdditiveManifest, WeightsManifest
from unveil.verifier.private import label_places
from unveil.verifier.private.measured import MOST_BINS, affordable_records
from unveil.verifier.raw import Raw, read_raw
from unveil.verifier.raw.persons import Words, person_words
from unveil.verifier.values import day_number, number, plain, text

if TYPE_CHECKING:
    from unveil.schema import Attribute, Node, Spec, Taxonomy

Places = NDArray[np.int64]
NOWHERE = -1
FEW_BINS = 60
SERIES = (8, 16, 32)
"""How many intervals the even series of each level of a number has."""
ROUNDED = Fraction(1, 10**6)
"""By how much of a step a number may be off its place."""


def used_raw(spec: Spec) -> Iterator[Raw]:
    """The raw rows of a spec that a private release uses: all, or of every person at most as many as the spec says.

    In the second case a row with a value outside its domain is dropped and not counted.
    """
    if spec.plan is None or spec.plan.contributions is None:
        yield from read_raw(spec)
        return
    batches = list(read_raw(spec))
    persons = np.concatenate([person_words([raw.columns[name] for name in spec.table.person]) for raw in batches])
    places = np.concatenate([_row_places(spec, raw) for raw in batches])
    valid = np.flatnonzero((places != NOWHERE).all(axis=1))
    rows = np.column_stack([persons[valid], places[valid].astype(np.uint64)])
    used = np.zeros(len(places), dtype=np.bool_)
    used[valid[_smallest(rows, spec.plan.contributions)]] = True
    ends = np.cumsum([len(raw.weights) for raw in batches])
    for raw, part in zip(batches, np.split(used, ends[:-1]), strict=True):
        yield raw.where(part)


def _smallest(rows: Words, most: int) -> Places:
    """The places of the rows that are used; the first two numbers of a row are its person."""
    hashed = np.zeros(len(rows), dtype=np.uint64)
    for values in rows.T:
        hashed = _mixed(hashed ^ values)
    hashed = _mixed(hashed ^ _nth([rows[:, 0], rows[:, 1], hashed]).astype(np.uint64))
    order = np.lexsort([hashed, rows[:, 1], rows[:, 0]])
    return order[_nth([rows[order, 0], rows[order, 1]]) < most]


def _nth(keys: Sequence[Words]) -> Places:
    """How many rows with the same keys come before each."""
    order = np.lexsort(list(reversed(keys)))
    starts = np.flatnonzero(fresh([key[order] for key in keys]))
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return nth


def _mixed(numbers: Words) -> Words:
    """SplitMix64."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    mixed: Words = numbers ^ (numbers >> np.uint64(31))
    return mixed


def _row_places(spec: Spec, raw: Raw) -> Places:
    """For every row the places of its values in the declared domains, and of its class."""
    shown = {name: attribute for name, attribute in spec.attributes.items() if attribute.role == "attribute"}
    found = [_places(raw.columns[name], attribute) for name, attribute in shown.items()]
    return np.stack([*found, _label_places(raw.columns[spec.table.class_], spec.table.class_values)], axis=1)


def _places(column: Column, attribute: Attribute) -> Places:
    if attribute.kind == "category":
        return _label_places(column, attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves)
    return column.mapped(lambda value: _number_place(value, attribute), np.int64)


def _label_places(column: Column, declared: Sequence[str] | None) -> Places:
    place_of = {label: place for place, label in enumerate(declared or ())}
    return column.mapped(lambda value: place_of.get(text(_whole(value)) or "", NOWHERE), np.int64)


def _number_place(value: Any, attribute: Attribute) -> int:
    """How many steps a number or a day is above the lowest; kinds of missing values come after all numbers."""
    end = None if attribute.range is None else _steps(attribute.range[1], attribute)
    if end is None:
        return NOWHERE
    size = int(end)
    if value in attribute.missing.labels:
        return size + attribute.missing.labels.index(value)
    exact = _steps((day_number if attribute.kind == "date" else number)(value), attribute)
    if exact is None:
        return NOWHERE
    if attribute.outside == "clamp":
        exact = min(max(exact, Fraction(0)), Fraction(size - 1))
    place = round(exact)
    return place if abs(exact - place) <= ROUNDED and 0 <= place < size else NOWHERE


def raw_places(column: Column, labels: Sequence[str], entry: Masked | None, attribute: Attribute | None) -> Codes:
    """For every raw row the place of its label, or of its class; -1 if it has none."""
    values = [_whole(value) for value in plain(column.values)]
    if entry is None or attribute is None:
        return label_places(labels, map(text, values))[column.codes]
    if attribute.values is not None:
        values = [value if text(value) in attribute.values else None for value in values]
    if attribute.outside == "clamp":
        values = [_clamped(entry, value) for value in values]
    if attribute.kind == "number":
        kinds = attribute.missing.labels
        values = [value if value in kinds or _on_grid(number(value), attribute) else None for value in values]
    return label_places(labels, masked_values(entry, values))[column.codes]


def _whole(value: Any) -> Any:
    """A column with missing values holds whole numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _on_grid(value: float | None, attribute: Attribute) -> bool:
    """Whether a number is one that the owner declared, up to rounding."""
    place = _steps(value, attribute)
    return place is not None and abs(place - round(place)) <= ROUNDED


def _steps(value: float | None, attribute: Attribute) -> Fraction | None:
    """How many of its declared steps a number is above the lowest; None if there is no number, or no step."""
    step = 1 if attribute.whole else attribute.step
    if value is None or step is None or attribute.range is None:
        return None
    return (Fraction(str(value)) - Fraction(str(attribute.range[0]))) / Fraction(str(step))


def _clamped(entry: Masked, value: Any) -> Any:
    """A value outside the range becomes one inside; only its block matters."""
    if not isinstance(entry, Discretization):
        return value
    read = (day_number if entry.unit == "date" else number)(value)
    if isinstance(read, int) and int(float(read)) != read:
        return None  # a float cannot hold all its digits
    blocks = [block for block in entry.blocks if block.start is not None]
    if read is None or blocks[0].lo <= read < blocks[-1].hi:
        return value
    return (blocks[0] if read < blocks[0].lo else blocks[-1]).start


def check_levels(manifest: WeightsManifest, spec: Spec) -> Iterator[Finding]:
    """What was measured has the bins that n · ε affords, or the finest, and blocks hold all leaves of their bins."""
    records = affordable_records(manifest) if isinstance(manifest, AdditiveManifest) else inf
    for name, bins in manifest.bins.items():
        attribute = spec.attributes.get(name)
        if attribute is None:
            continue  # `check_agreement` reports it
        if list(bins) != (right := bin_labels(attribute, records)):
            message = f"{name!r} has the bins {listed(bins)}, but its domain and n·ε make them {listed(right)}"
            yield Finding("spec-bins", f"{MANIFEST}: {message}.")
            continue
        entry = manifest.masking[name]
        if attribute.taxonomy is not None and isinstance(entry, Generalization):
            values = {block.label: set(block.values) for block in entry.blocks}
            for label, block in bins.items():
                if not set(attribute.taxonomy.leaves_of(label)) <= values[block]:
                    yield Finding(
                        "spec-bins", f"{MANIFEST}: {name!r} has the bin {label!r} outside its block {block!r}."
                    )


def bin_labels(attribute: Attribute, records: float) -> list[str]:
    """The labels of the bins that are measured if n · ε is `records`."""
    if attribute.ordered:
        return _bin_intervals(attribute, 1 if records < 1e4 else 2 if records < 1e6 else 3)
    if attribute.taxonomy is None:
        return list(attribute.values or ())
    most = FEW_BINS if records < 1e5 else MOST_BINS
    levels = [level for level in fronts(attribute.taxonomy) if 1 < len(level) <= MOST_BINS] or [[]]
    return [node.label for node in next((level for level in reversed(levels) if len(level) <= most), levels[0])]


def _bin_intervals(attribute: Attribute, levels: int) -> list[str]:
    """Every place of a small grid; of a larger one an even series, and 1, 2, 5, 10, … steps from its start.

    Missing values follow, each kind by itself.
    """
    from unveil.schema import grid_of, interval_label  # only a comparison with the spec needs it

    grid = grid_of(attribute)
    if grid is None or attribute.range is None:
        return []
    starts = {0, grid.size}
    for series in SERIES[:levels]:
        if grid.size <= series + series // 2:
            starts |= set(range(grid.size))
        else:
            steps = (factor * 10**power for power in range(len(str(grid.size))) for factor in (1, 2, 5))
            starts |= {grid.size * place // series for place in range(series)} | {at for at in steps if at < grid.size}
    bounds = [*(grid.value(place) for place in sorted(starts - {grid.size})), attribute.range[1]]
    return [*(interval_label(lo, hi, attribute.unit) for lo, hi in pairwise(bounds)), *attribute.missing.labels]


def fronts(taxonomy: Taxonomy) -> list[list[Node]]:
    """The taxonomy cut at each depth, from below the root to the leaves."""
    found: list[list[Node]] = []
    nodes = [taxonomy.root]
    while any(node.children for node in nodes):
        nodes = [below for node in nodes for below in (node.children or (node,))]
        found.append(nodes)
    return found
