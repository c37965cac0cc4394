"""The comparison of a release with the raw table and the spec that it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import records_text, rows_text
from unveil.schema import Spec
from unveil.verifier.agreement import check_agreement, check_asked, check_plan
from unveil.verifier.claims import MANIFEST, DiffGenManifest, Entry, RefinementManifest
from unveil.verifier.columns import Codes, Column, Groups, Tally, missing, plain
from unveil.verifier.cuts import Key, masked_values, released_values
from unveil.verifier.data import Data, open_files, read_data
from unveil.verifier.files import read_manifest
from unveil.verifier.findings import BrokenClaimError, Finding, Verdict
from unveil.verifier.noise import NoiseTest, count_cells
from unveil.verifier.raw import Raw, read_raw
from unveil.verifier.verification import row_findings


def verify_against_raw(folder: Path, spec: Spec) -> list[Finding]:
    """The findings of `judge_against_raw` alone."""
    return judge_against_raw(folder, spec).findings


def judge_against_raw(folder: Path, spec: Spec) -> Verdict:
    """Compares a release with the raw table and the spec that it was made from.

    It does not repeat the findings of `judge_release`. The counts of a differentially private release are noisy, so
    their differences from the true counts are compared with the law of the noise.

    Args:
        folder: The release folder.
        spec: The owner's spec, which names the raw table.

    Returns:
        One finding per way in which the release differs from the masked raw table or from the spec; for a
        private release also a note on what its noise can show.

    Raises:
        ReleaseError: The folder is not a release that this version can read.
        TableError: The raw table cannot be read.
    """
    findings: list[Finding] = []
    try:
        manifest = read_manifest(folder)
        if isinstance(manifest, DiffGenManifest) != (spec.plan is not None):
            method = "refinement" if spec.plan is None else "diffgen"
            message = f"{MANIFEST} has the method {manifest.method!r}, but the spec {method!r}."
            return Verdict([Finding("spec-method", message)])
        findings += check_agreement(manifest, spec)
        if isinstance(manifest, DiffGenManifest):
            findings += check_plan(manifest, spec)
        files, _ = open_files(folder, manifest)
        data, _ = read_data(files, manifest)
    except BrokenClaimError as broken:
        reason = broken.findings[0].message
        return Verdict([*findings, Finding("truth", f"the release cannot be compared with the raw table: {reason}")])
    if isinstance(manifest, DiffGenManifest):
        return _noise_verdict(findings, manifest, data, spec)
    findings += check_asked(manifest, data, spec)
    findings += check_truth(manifest, data, read_raw(spec))
    return Verdict(findings)


def _noise_verdict(findings: list[Finding], manifest: DiffGenManifest, data: Data, spec: Spec) -> Verdict:
    """Tests the noise, if nothing is wrong with cells and counts: otherwise there is nothing to compare."""
    if findings or any(True for _ in row_findings(manifest, data)):
        return Verdict(findings)
    test = NoiseTest(manifest, count_cells(manifest, data, spec))
    findings = list(test.findings())
    return Verdict(findings, [] if findings else [test.note()])


def check_truth(manifest: RefinementManifest, data: Data, batches: Iterable[Raw]) -> Iterator[Finding]:
    """The masked raw rows and the released rows are the same multiset, over all released columns.

    Only the distinct masked rows are kept.

    Args:
        manifest: How they are masked.
        data: The released rows.
        batches: The raw rows.
    """
    names = [*manifest.masking, manifest.class_]
    sides = [Sides(manifest.masking.get(name), data.columns[name]) for name in names]
    tally = Tally()
    tally.add([side.released() for side in sides], data.weights)
    read = dropped = 0
    for raw in batches:
        if absent := [name for name in names if name not in raw.columns]:
            yield from (Finding("truth", f"the raw table has no column {name!r} to release.") for name in absent)
            return
        tally.add([side.masked(raw.columns[side.name]) for side in sides], -raw.weights)
        read, dropped = read + raw.read, dropped + raw.dropped
    yield from _count_findings(manifest, read, dropped)
    for side in sides:
        yield from side.findings()
    keys, excess = tally.result()
    columns = [side.column(codes) for side, codes in zip(sides, keys, strict=True)]
    yield from _difference_findings(Groups(columns, keys, excess))


class Sides:
    """A column on both sides: its released values and its masked raw values, numbered alike."""

    def __init__(self, entry: Entry | None, column: Column) -> None:
        """Starts with the released side.

        Args:
            entry: The masking of the column; None for the class.
            column: The released column.
        """
        self.name = column.name
        self._entry = entry
        self._column = column
        self._number_of: dict[Key, int] = {}
        self._lost: str | None = None
        self._lost_rows = 0

    def released(self) -> Codes:
        """The released rows."""
        return self._numbers(released_values(self._entry, plain(self._column.values)))[self._column.codes]

    def masked(self, raw: Column) -> Codes:
        """Raw rows, masked. A raw value that is not missing and not released as anything is lost."""
        values = plain(_in_zone(raw.values, self._column.values.type))
        keys = masked_values(self._entry, values)
        unplaced = np.array([key is None for key in keys], dtype=np.bool_) & ~missing(raw.values)
        lost = unplaced[raw.codes]
        if lost.any():
            self._lost = self._lost or raw.text(int(raw.codes[np.argmax(lost)]))
            self._lost_rows += int(lost.sum())
        return self._numbers(keys)[raw.codes]

    def findings(self) -> Iterator[Finding]:
        """A raw value that no block holds."""
        if self._lost is not None:
            rows = rows_text(self._lost_rows)
            yield Finding("truth", f"the raw value {self._lost} has no place in the release ({rows}).")

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
    claims = {"read": (manifest.rows.read, read), "dropped": (manifest.rows.dropped, dropped)}
    for name, (claimed, counted) in claims.items():
        if claimed != counted:
            message = f"{MANIFEST} says that rows.{name} is {claimed:,}, but the raw table gives {counted:,}."
            yield Finding("raw-rows", message)


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
