"""The comparison of a release with the raw table and the spec: columns, domains and taxonomies, and then all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import listed, records_text, rows_text
from unveil.schema import interval_label
from unveil.verifier import measured_findings, row_findings
from unveil.verifier.boxes import Walk, check_boxes, read_boxes
from unveil.verifier.claims import (
    MANIFEST,
    BrokenClaimError,
    Discretization,
    Entry,
    Finding,
    Generalization,
    Masked,
    Released,
    Suppression,
    Verdict,
    findings_of,
)
from unveil.verifier.coverage import REST, highest
from unveil.verifier.cuts import Key, check_steering, masked_values, released_values
from unveil.verifier.data import Codes, Column, Data, Groups, Tally, missing, plain, read_data, summed
from unveil.verifier.files import open_files, read_manifest
from unveil.verifier.manifests import (
    Claims,
    DrawnManifest,
    Learn,
    LeaveOut,
    PrivateClaims,
    PrivateManifest,
    RefinementManifest,
    SafeManifest,
)
from unveil.verifier.noise import MeasuredTest, NoiseTest, SamplingTest
from unveil.verifier.persons import History, Whose
from unveil.verifier.raw import derived_of, read_raw
from unveil.verifier.records import TOGETHER, MeanTest, mean_of
from unveil.verifier.replay import check_plan, count_cells, measurements
from unveil.verifier.requirements import check_asked

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec, Taxonomy
    from unveil.verifier.raw import Raw


def judge_against_raw(folder: Path, spec: Spec) -> Verdict:
    """Compares a release with the raw table and the spec that it was made from.

    It gives one finding per way in which the release differs from the masked raw table or from the spec, but does not
    repeat the findings of `judge_release`. The counts of a differentially private release are noisy, so their
    differences from the true counts are compared with the law of the noise, and a note says what that can show.

    Raises:
        ReleaseError: The folder is not a release that this version can read.
        TableError: The raw table cannot be read.
    """
    findings: list[Finding] = []
    try:
        manifest = read_manifest(folder)
        method = "refinement" if spec.plan is None else spec.plan.method
        if manifest.method != method:
            message = f"{MANIFEST} has the method {manifest.method!r}, but the spec {method!r}."
            return Verdict([Finding("spec-method", message)])
        findings += check_agreement(manifest, spec)
        if isinstance(manifest, PrivateManifest):
            findings += check_plan(manifest, spec)
        if broken := list(check_boxes(manifest)):
            raise BrokenClaimError(broken)
        files, _ = open_files(folder, manifest)
        data, _ = read_data(files, manifest)
    except BrokenClaimError as error:
        reason = error.findings[0].message
        return Verdict([*findings, Finding("truth", f"the release cannot be compared with the raw table: {reason}")])
    if isinstance(manifest, PrivateManifest):
        return _noise_verdict(findings, manifest, data, spec)
    findings += check_asked(manifest, data, spec)
    findings += check_steering(manifest, data, spec)
    history = None
    if manifest.after or manifest.rows.held_back:
        if spec.history is None:
            message = f"{spec.origin} names no history, so that nothing says who is in which release."
            return Verdict([*findings, Finding(TOGETHER, message)])
        history = History(spec.history, manifest, spec.table.person)
    findings += check_truth(manifest, data, spec, history)
    return Verdict(findings)


def _noise_verdict(findings: list[Finding], manifest: PrivateClaims, data: Data, spec: Spec) -> Verdict:
    """Tests the noise, if nothing is wrong with cells and counts: otherwise there is nothing to compare."""
    if findings or any(True for _ in row_findings(manifest, data)):
        return Verdict(findings)
    test: NoiseTest | MeasuredTest | SamplingTest
    if isinstance(manifest, DrawnManifest):
        cells = count_cells(manifest, data, spec)
        test = SamplingTest(manifest, cells) if isinstance(manifest, SafeManifest) else NoiseTest(manifest, cells)
    elif any(True for _ in measured_findings(manifest)):
        return Verdict(findings)
    else:
        test = MeasuredTest(measurements(manifest, spec))
    findings = list(test.findings())
    return Verdict(findings, [] if findings else [test.note()])


def check_truth(manifest: RefinementManifest, data: Data, spec: Spec, history: History | None) -> Iterator[Finding]:
    """The masked raw rows and the released rows are the same multiset; a history says who is held back."""
    everything = [*manifest.masking, manifest.class_]
    truth = Truth(manifest, data, spec, history)
    read = dropped = 0
    for raw in read_raw(spec):
        if absent := [name for name in everything if name not in raw.columns]:
            yield from (Finding("truth", f"the raw table has no column {name!r} to release.") for name in absent)
            return
        truth.add(raw if history is None else history.kept(raw))
        read, dropped = read + raw.read, dropped + raw.dropped
    yield from _count_findings(manifest, read, dropped)
    yield from truth.findings()


class Truth:
    """The masked raw rows and the released rows, compared over all released columns. Only distinct rows are held.

    Of some columns, values that are to be kept must not be hidden. If columns of the raw table say whose row it is, the
    groups have as many persons as they must.
    """

    def __init__(self, manifest: RefinementManifest, data: Data, spec: Spec, history: History | None) -> None:
        grouped = mean_of(manifest)
        names = [name for name in (*manifest.masking, manifest.class_) if grouped is None or name != grouped[0]]
        self._manifest, self._data, self._history = manifest, data, history
        self._sides = [Sides(manifest.masking.get(name), data.columns[name], _kept(spec, name)) for name in names]
        self._walks = read_boxes(manifest)
        self._means = None if grouped is None else MeanTest(*grouped, names)
        self._whose = Whose(manifest, names, spec.table.person) if spec.table.person else None
        self._released = [side.released() for side in self._sides]
        self._tally = Tally()
        self._tally.add(self._released, data.weights)

    def add(self, raw: Raw) -> None:
        """Takes more raw rows."""
        local = {name: labelled for walk in self._walks for name, labelled in _by_boxes(walk, raw, self._manifest)}
        masked = [side.masked(raw.columns[side.name], local.get(side.name)) for side in self._sides]
        self._tally.add(masked, -raw.weights)
        if self._means is not None:
            self._means.add(masked, raw.columns[self._means.name])
        if self._history is not None:
            for side, codes in zip(self._sides, masked, strict=True):
                if side.name in self._manifest.masked:
                    self._history.compare(side.name, side.column(codes))
        if self._whose is not None:
            self._whose.add(masked, raw.columns, len(raw.weights))

    def findings(self) -> Iterator[Finding]:
        """How the rows differ."""
        for side in self._sides:
            yield from side.findings()
        keys, excess = self._tally.result()
        groups = Groups([side.column(codes) for side, codes in zip(self._sides, keys, strict=True)], keys, excess)
        if self._whose is not None:
            yield from self._whose.findings(groups, self._released)
        if self._means is not None:
            yield from self._means.findings(self._released, self._data.columns[self._means.name])
        if self._history is not None:
            yield from self._history.findings(self._data)
        learn, left_out = self._manifest.learn, self._manifest.leave_out
        if learn is not None:
            yield from _learning_findings(groups, learn)
        elif left_out is None or not left_out.records:
            yield from _difference_findings(groups)
        else:
            yield from _omission_findings(groups, left_out, self._manifest.masked)


def _kept(spec: Spec, name: str) -> frozenset[str]:
    """The values of a category without a taxonomy that the owner wants distinguished."""
    attribute = spec.attributes.get(name)
    keep = attribute.keep if attribute is not None and attribute.masking == "suppression" else None
    return frozenset(keep) if isinstance(keep, tuple) else frozenset()


def _by_boxes(walk: Walk, raw: Raw, manifest: RefinementManifest) -> Iterator[tuple[str, Labelled]]:
    """The labels of raw rows in the columns that are refined group by group."""
    columns = [raw.columns[name] for name in walk.attributes]
    pairs = zip(columns, walk.coverages, strict=True)
    places = [coverage.places(plain(column.values))[column.codes] for column, coverage in pairs]
    codes = walk.masked(places)
    for place, name in enumerate(walk.attributes):
        if manifest.masked[name].local:
            yield name, Labelled(list(walk.codes[place]), codes[:, place], np.isnan(places[place]))


@dataclass(frozen=True)
class Labelled:
    """The labels of raw rows in one column."""

    labels: list[str]
    """The labels by their codes."""
    codes: Codes
    """For every row its label; -1 if it has none, because of this or of another column."""
    lost: NDArray[np.bool_]
    """Which rows have no label because of this column."""


class Sides:
    """A column on both sides: its released values and its masked raw values, numbered alike."""

    def __init__(self, entry: Entry | None, column: Column, kept: frozenset[str]) -> None:
        """Starts with the released side; the class has no entry, and values that are kept must not be hidden."""
        self.name = column.name
        self._entry = entry
        self._column = column
        self._number_of: dict[Key, int] = {}
        self._kept = kept
        self._hidden: str | None = None
        self._lost: str | None = None
        self._lost_rows = 0

    def released(self) -> Codes:
        """The released rows."""
        return self._numbers(released_values(self._entry, plain(self._column.values)))[self._column.codes]

    def masked(self, raw: Column, local: Labelled | None = None) -> Codes:
        """Raw rows, masked. A raw value that is not missing and not released as anything is lost.

        `local` has their labels, if the column is refined group by group.
        """
        if local is not None:
            lost, numbers = local.lost, self._numbers([*local.labels, None])[local.codes]
        else:
            keys = masked_values(self._entry, plain(_in_zone(raw.values, self._column.values.type)))
            lost = np.array([key is None for key in keys], dtype=np.bool_)[raw.codes]
            numbers = self._numbers(keys)[raw.codes]
        lost = lost & ~missing(raw.values)[raw.codes]
        if lost.any():
            self._lost = self._lost or raw.text(int(raw.codes[np.argmax(lost)]))
            self._lost_rows += int(lost.sum())
        if self._kept and isinstance(self._entry, Suppression):
            hidden = raw.rows_with(self._kept) & (numbers == self._number_of.get(self._entry.marker, -1))
            self._hidden = self._hidden or (raw.text(int(raw.codes[np.argmax(hidden)])) if hidden.any() else None)
        return numbers

    def findings(self) -> Iterator[Finding]:
        """A raw value that no block holds, or that is hidden although the owner wants it kept."""
        if self._lost is not None:
            rows = rows_text(self._lost_rows)
            yield Finding("truth", f"the raw value {self._lost} has no place in the release ({rows}).")
        if self._hidden is not None:
            yield Finding("spec-fineness", f"the raw value {self._hidden} is hidden, but the spec says to keep it.")

    def column(self, codes: Codes) -> Column:
        """Rows of either side as they read in a finding."""
        values = pa.array([None if key is None else str(key) for key in self._number_of], pa.string())
        return Column(self.name, values, codes)

    def _numbers(self, keys: Sequence[Key]) -> Codes:
        numbers = self._number_of
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)


def _in_zone(values: pa.Array, released: pa.DataType) -> pa.Array:
    """Raw times in the zone of the released ones: a parquet file stores all times in UTC."""
    zoned = pa.types.is_timestamp(values.type) and pa.types.is_timestamp(released) and released.tz is not None
    return pc.cast(values, pa.timestamp(values.type.unit, released.tz)) if zoned else values


def _count_findings(manifest: RefinementManifest, read: int, dropped: int) -> Iterator[Finding]:
    for name, claimed, counted in (("read", manifest.rows.read, read), ("dropped", manifest.rows.dropped, dropped)):
        if claimed != counted:
            message = f"{MANIFEST} says that rows.{name} is {claimed:,}, but the raw table gives {counted:,}."
            yield Finding("raw-rows", message)


def _omission_findings(groups: Groups, left_out: LeaveOut, masked: Mapping[str, Masked]) -> Iterator[Finding]:
    """As many records are lost as were left out. If they are fully masked, each is there with its other values."""
    lost = int(-groups.sizes[groups.sizes < 0].sum())
    gained = groups.sizes > 0
    if left_out.how == "mask":
        for column, key in zip(groups.columns, groups.keys, strict=True):
            if column.name in masked:
                gained &= np.array(column.texts())[key] == left_out.labels.get(column.name)
    moved = (gained | (groups.sizes < 0)) & (left_out.how == "mask")
    others = [place for place, column in enumerate(groups.columns) if column.name not in masked]
    keys, sizes = summed([groups.keys[place][moved] for place in others], groups.sizes[moved])
    yield from _difference_findings(Groups([groups.columns[place] for place in others], keys, sizes))
    strange = (groups.sizes > 0) & ~moved
    yield from _difference_findings(groups.chosen(strange))
    if lost > left_out.records or (left_out.how == "drop" and lost < left_out.records):
        message = f"{records_text(lost)} of the raw table are not released under their labels"
        yield Finding("left-out", f"{message}, but {MANIFEST} says that {left_out.records:,} were left out.")


def _learning_findings(groups: Groups, learn: Learn) -> Iterator[Finding]:
    """As many records are lost as were set aside, and none is gained. Which ones they are was drawn, so none tells."""
    gained = groups.sizes > 0
    yield from _difference_findings(groups.chosen(gained))
    if (lost := int(-groups.sizes[~gained].sum())) != learn.records:
        message = f"{records_text(lost)} of the raw table are not released"
        yield Finding("learn", f"{message}, but {MANIFEST} says that {learn.records:,} were set aside.")


def _difference_findings(groups: Groups) -> Iterator[Finding]:
    """Sizes are released records minus raw ones, so they are 0 if the release is true."""
    for sign, verb in ((-1, "lost"), (1, "gained")):
        excess = sign * groups.sizes
        if (excess > 0).any():
            worst = int(np.argmax(excess))
            yield Finding(
                "truth",
                f"the release {verb} {records_text(int(excess[worst]))} of {groups.text(worst)} "
                f"({records_text(int(excess[excess > 0].sum()))} in all, "
                f"of {(excess > 0).sum():,} kinds of rows).",
            )


def check_agreement(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    """The columns, domains and taxonomies of any manifest are those of the spec."""
    yield from findings_of("spec-columns", f"{MANIFEST} ", _role_problems(manifest, spec))
    if leaked := [name for name in manifest.names if name in _identifiers(spec)]:
        problem = f"has the column {listed(leaked)}, which the spec says is never released"
        yield Finding("identifier", f"{MANIFEST} {problem}.")
    yield from findings_of("spec-columns", f"{MANIFEST} ", _column_problems(manifest, spec))
    for name, entry in manifest.masking.items():
        yield from findings_of(
            "spec-domain", f"{MANIFEST}: {name!r} ", _entry_problems(entry, spec.attributes.get(name))
        )
    yield from findings_of("spec-domain", f"{MANIFEST}: ", _box_problems(manifest, spec))


def _box_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    """The parts of a label in a tree of boxes are its children in the taxonomy."""
    covered = {name: item for walk in read_boxes(manifest) for name, item in walk.covered.items()}
    for name, coverage in covered.items():
        attribute = spec.attributes.get(name)
        taxonomy = None if attribute is None else attribute.taxonomy
        if taxonomy is None:
            continue
        if coverage.root != taxonomy.root.label:
            yield f"{name!r} is split from {coverage.root!r}, but its taxonomy begins with {taxonomy.root.label!r}"
        parent = {child.label: node.label for node in taxonomy.root.walk() for child in node.children}
        for part, node in coverage.parent.items():
            if parent.get(part) != node:
                yield f"{name!r} has {part!r} as a part of {node!r}, but its taxonomy does not"


def _role_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    roles: dict[str, tuple[str | None, str | None]] = {"class": (manifest.class_, spec.table.class_)}
    if isinstance(manifest, RefinementManifest):  # noisy counts have no weight
        roles["weight"] = (manifest.weight, spec.table.weight)
        if (manifest.persons is not None) != bool(spec.table.person):
            said = "does not say" if manifest.persons is None else "says"
            whose = listed(spec.table.person) if spec.table.person else "no column"
            yield f"{said} how many persons there are, but the spec has {whose}"
    if manifest.class_missing != {kind: list(marks) for kind, marks in spec.table.class_missing.kinds}:
        yield "does not keep rows without a class as the spec does"
    for role, (claimed, declared) in roles.items():
        if claimed != declared:
            yield f"has the {role} {claimed!r}, but the spec has {declared!r}"


def _identifiers(spec: Spec) -> set[str]:
    return {*spec.table.person, *(name for name, attribute in spec.attributes.items() if not attribute.shown)}


def _column_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    """All described attributes but identifiers, in order; others only if the owner releases them."""
    identifiers = _identifiers(spec)
    expected = [name for name in spec.attributes if name not in identifiers]
    names = [name for name in manifest.masking if name not in identifiers]
    if names[: len(expected)] != expected:
        yield f"has the columns {listed(names)}; the spec says {listed(expected)}"
    others = [name for name in names if name not in expected]
    if others and spec.table.others != "release":
        yield f"has the column {listed(others)}, which the spec does not describe"
    asked = derived_of(spec)
    for name in sorted({*asked, *manifest.derived}):
        if manifest.derived.get(name) != asked.get(name):
            yield f"does not derive {name!r} as the spec does"


def _entry_problems(entry: Entry, attribute: Attribute | None) -> Iterator[str]:
    if attribute is None:
        if not isinstance(entry, Released):
            yield f"is masked by {entry.kind}, but the spec does not describe it"
        return
    if not attribute.shown:
        return  # an identifier, which is a finding already
    domain = "declared" if attribute.declared else "observed"
    if entry.domain != domain:
        yield f"has a domain called {entry.domain}, but by the spec it is {domain}"
    if dict(entry.missing) != {label: list(marks) for label, marks in attribute.missing.kinds}:
        yield f"keeps the missing values {listed(entry.missing)}, but by the spec {listed(attribute.missing.labels)}"
    if isinstance(entry, Released):
        if entry.type != attribute.kind:
            yield f"is released as a {entry.type}, but by the spec it is a {attribute.kind}"
        asked = None if attribute.weighting is None else astuple(attribute.weighting)
        shown = entry.survey_weight
        if asked != (None if shown is None else (shown.release, shown.step, tuple(shown.groups))):
            yield "is not released as the spec says about a survey weight"
    elif entry.kind != attribute.masking:
        yield f"is masked by {entry.kind}, but by the spec it takes {attribute.masking}"
    elif isinstance(entry, Discretization):
        yield from _range_problems(entry, attribute)
    elif isinstance(entry, Generalization) and attribute.taxonomy is not None:
        yield from _taxonomy_problems(entry, attribute.taxonomy)
    elif isinstance(entry, Suppression):
        known = entry.disclosed if attribute.values is None else attribute.values
        if strange := [value for value in entry.disclosed if value not in known]:
            yield f"discloses {listed(strange)}, which is not among its declared values"


def _range_problems(entry: Discretization, attribute: Attribute) -> Iterator[str]:
    first, last = entry.blocks[0], highest(entry)
    if entry.unit != attribute.unit:
        yield f"has intervals of the unit {entry.unit}, but by the spec it is a {attribute.kind}"
    elif attribute.range is not None and (first.lo, last) != tuple(attribute.range):
        label = interval_label(*attribute.range, attribute.unit)
        end = max(entry.blocks, key=lambda block: (block.end is not None, block.hi)).end
        yield f"has intervals from {first.start} to {end}, but its declared range is {label}"
    if entry.whole != attribute.whole:
        yield f"has whole = {entry.whole}, but the spec has {attribute.whole}"


def _taxonomy_problems(entry: Generalization, taxonomy: Taxonomy) -> Iterator[str]:
    blocks_of = Counter(value for block in entry.blocks for value in block.values)
    for block in entry.blocks:
        rest = block.label not in taxonomy
        node = block.label.removesuffix(REST)
        if node not in taxonomy or block.rest > rest:
            yield f"has the block {block.label!r}, which is not in its taxonomy"
            continue
        leaves = list(taxonomy.leaves_of(block.label if not rest else node))
        if rest and not entry.local:  # what the blocks split off leave of the node
            own = set(block.values)
            leaves = [leaf for leaf in leaves if blocks_of[leaf] == (leaf in own)]
        if block.values != leaves or (rest and not taxonomy.node(node).children):
            values = listed(block.values)
            yield f"has the block {block.label!r} with {values}, but its leaves are {listed(leaves)}"
    if uncovered := [leaf for leaf in taxonomy.leaves if leaf not in blocks_of]:
        yield f"has a cut that leaves out {listed(uncovered)}"
