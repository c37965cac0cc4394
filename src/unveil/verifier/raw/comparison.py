"""The comparison of a release with the raw table: all rows, masked by the manifest, and what their differences show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import records_text, rows_text
from unveil.verifier import measured_findings, row_findings
from unveil.verifier.boxes import Walk, check_boxes, read_boxes
from unveil.verifier.claims import (
    MANIFEST,
    BrokenClaimError,
    Entry,
    Finding,
    Masked,
    Suppression,
    SurveyWeight,
    Verdict,
)
from unveil.verifier.cuts import Key, masked_values, released_values
from unveil.verifier.data import Codes, Column, Data, Groups, Tally, by_row, read_data, summed
from unveil.verifier.files import open_files, read_manifest
from unveil.verifier.manifests import (
    DrawnManifest,
    LeaveOut,
    PrivateClaims,
    PrivateManifest,
    RefinementManifest,
    SafeManifest,
    SetAside,
)
from unveil.verifier.private.noise import MeasuredTest, NoiseTest, SamplingTest
from unveil.verifier.private.places import used_raw
from unveil.verifier.private.replay import check_plan, count_cells, measurements
from unveil.verifier.raw import read_raw
from unveil.verifier.raw.agreement import check_agreement, check_asked, check_steering
from unveil.verifier.raw.persons import Whose
from unveil.verifier.records import TOGETHER, weight_of
from unveil.verifier.succession import History
from unveil.verifier.values import number, number_text, plain

if TYPE_CHECKING:
    from unveil.schema import Spec
    from unveil.verifier.raw import Raw


def judge_against_raw(folder: Path, spec: Spec, rows: Data | None = None) -> Verdict:
    """Compares a release with the raw table and the spec that it was made from.

    It gives one finding per way in which the release differs from the masked raw table or from the spec, but does not
    repeat the findings of `judge_release`. The counts of a differentially private release are noisy, so their
    differences from the true counts are compared with the law of the noise, and a note says what that can show. The
    rows of the release are read unless they are given. It is a `ReleaseError` if the folder is not a release that this
    version can read, and a `TableError` if the raw table cannot be read.
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
        data = read_data(open_files(folder, manifest)[0], manifest)[0] if rows is None else rows
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
        test = SamplingTest(manifest, *cells) if isinstance(manifest, SafeManifest) else NoiseTest(manifest, *cells)
    elif any(True for _ in measured_findings(manifest)):
        return Verdict(findings)
    else:
        test = MeasuredTest(measurements(manifest, spec, used_raw(spec)))
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
    for name, claimed, counted in (("read", manifest.rows.read, read), ("dropped", manifest.rows.dropped, dropped)):
        if claimed != counted:
            message = f"{MANIFEST} says that rows.{name} is {claimed:,}, but the raw table gives {counted:,}."
            yield Finding("raw-rows", message)
    yield from truth.findings()


class Truth:
    """The masked raw rows and the released rows, compared over all released columns. Only distinct rows are held.

    Of some columns, values that are to be kept must not be hidden. If columns of the raw table say whose row it is, the
    groups have as many persons as they must.
    """

    def __init__(self, manifest: RefinementManifest, data: Data, spec: Spec, history: History | None) -> None:
        weight = weight_of(manifest)
        grouped = weight if weight is not None and weight[1].groups else None
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


MaskedRows = tuple[Sequence[Key], Codes, NDArray[np.bool_]]
"""What some values are released as, for every row the position of its own, and which rows are released as nothing."""


def _kept(spec: Spec, name: str) -> frozenset[str]:
    """The values of a category without a taxonomy that the owner wants distinguished."""
    attribute = spec.attributes.get(name)
    keep = attribute.keep if attribute is not None and attribute.masking == "suppression" else None
    return frozenset(keep) if isinstance(keep, tuple) else frozenset()


def _by_boxes(walk: Walk, raw: Raw, manifest: RefinementManifest) -> Iterator[tuple[str, MaskedRows]]:
    """Raw rows, masked, in the columns that are refined group by group. A row in no box has no label in any of them."""
    columns = [raw.columns[name] for name in walk.attributes]
    pairs = zip(columns, walk.coverages, strict=True)
    places = [coverage.places(plain(column.values))[column.codes] for column, coverage in pairs]
    codes = walk.masked(places)
    for place, name in enumerate(walk.attributes):
        if manifest.masked[name].local:
            yield name, ([*walk.codes[place], None], codes[:, place], np.isnan(places[place]))


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

    def masked(self, raw: Column, rows: MaskedRows | None) -> Codes:
        """Raw rows, masked, unless they are already. A value that is not missing nor released as anything is lost."""
        if rows is None:
            values = masked_values(self._entry, plain(_in_zone(raw.values, self._column.values.type)))
            rows = values, raw.codes, np.array([key is None for key in values], dtype=np.bool_)[raw.codes]
        keys, codes, lost = rows
        numbers = self._numbers(keys)[codes]
        lost = lost & ~raw.missing()
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


def _learning_findings(groups: Groups, learn: SetAside) -> Iterator[Finding]:
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


UNIT = Decimal("0.000001")
"""Weights are added up to this many decimals."""


class MeanTest:
    """Compares released means of groups with those of the raw weights."""

    def __init__(self, name: str, shown: SurveyWeight, names: Sequence[str]) -> None:
        """Starts without rows, for the weights, what a release shows of them, and its other columns in order."""
        self.name = name
        self._step = Fraction(str(shown.step))
        self._places = [names.index(held) for held in shown.groups]
        self._sums, self._sizes = Tally(), Tally()

    def add(self, masked: Sequence[Codes], weights: Column) -> None:
        """Adds raw rows, by the numbers of their masked values."""
        keys = [masked[place] for place in self._places]
        self._sums.add(keys, weights.mapped(_millionths, np.int64))
        self._sizes.add(keys, np.ones(len(weights.codes), dtype=np.int64))

    def findings(self, released: Sequence[Codes], column: Column) -> Iterator[Finding]:
        """The first group whose released mean is another one."""
        weights = column.mapped(lambda value: float(number(value) or 0), np.float64)
        said = by_row([released[place] for place in self._places], weights)
        sizes = by_row(*self._sizes.result())
        for key, total in by_row(*self._sums.result()).items():
            mean = Fraction(total, sizes[key] * 10**6)
            true = float(round(mean / self._step) * self._step)
            if key in said and said[key] != true:
                message = f"a group of {sizes[key]:,} records has the mean survey weight {number_text(said[key])}"
                yield Finding("truth", f"{message}, but the raw weights of {self.name!r} give {number_text(true)}.")
                return


def _millionths(value: object) -> int:
    weight = number(value)
    return 0 if weight is None else int((Decimal(str(weight)) / UNIT).to_integral_value(ROUND_HALF_EVEN))
