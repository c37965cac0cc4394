"""The two verifications: of a release by its files alone, and against the raw table and the spec it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unveil.schema import Spec
from unveil.verify.agreement import check_agreement
from unveil.verify.batches import open_files
from unveil.verify.copies import check_copy
from unveil.verify.cuts import check_cuts, check_disclosed, check_labels, released_labels
from unveil.verify.data import Data, read_data
from unveil.verify.files import check_files
from unveil.verify.findings import BrokenClaimError, Finding, Verdict
from unveil.verify.manifest import Manifest, check_spelling, read_manifest
from unveil.verify.notes import reader_notes
from unveil.verify.parts import MANIFEST
from unveil.verify.private import DiffGenManifest
from unveil.verify.private.cells import check_cells
from unveil.verify.private.counts import count_cells
from unveil.verify.private.ledger import check_ledger
from unveil.verify.private.noise import NoiseTest
from unveil.verify.private.plan import check_plan
from unveil.verify.private.promise import check_promise
from unveil.verify.raw import read_raw
from unveil.verify.readable import check_texts, check_values
from unveil.verify.requirements import check_asked, check_guarantee, check_requirements
from unveil.verify.rows import check_order, check_rows
from unveil.verify.truth import check_truth


def verify_release(folder: Path) -> list[Finding]:
    """The findings of `judge_release` alone."""
    return judge_release(folder).findings


def verify_against_raw(folder: Path, spec: Spec) -> list[Finding]:
    """The findings of `judge_against_raw` alone."""
    return judge_against_raw(folder, spec).findings


def judge_release(folder: Path) -> Verdict:
    """Recounts every claim of a release from its files alone.

    Args:
        folder: The release folder.

    Returns:
        One finding per broken claim; none when every claim holds, and then notes on what a reader must judge. Where a
        claim is broken so that others cannot be counted, such as a data file that cannot be read, those others are
        left out.

    Raises:
        ReleaseError: The folder is not a release that this version can read.
    """
    findings: list[Finding] = []
    try:
        manifest = read_manifest(folder)
        findings += check_spelling(folder)
        findings += check_files(folder, manifest)
        findings += check_cuts(manifest)
        findings += check_texts(manifest)
        if isinstance(manifest, DiffGenManifest):
            findings += check_promise(manifest)
            findings += check_ledger(manifest)
        else:
            findings += check_guarantee(manifest)
        files, needless = open_files(folder, manifest)
        findings += needless
        data, unused = read_data(files, manifest)
        findings += unused
        findings += check_copy(folder, manifest, files)
        findings += _row_findings(manifest, data)
    except BrokenClaimError as broken:
        return Verdict([*findings, *broken.findings])
    return Verdict(findings, [] if findings else list(reader_notes(manifest, data)))


def _row_findings(manifest: Manifest, data: Data) -> Iterator[Finding]:
    yield from check_values(manifest, data)
    if isinstance(manifest, DiffGenManifest):
        yield from check_order(manifest, data)
        yield from check_labels(manifest.labels, data)
        yield from check_cells(manifest, data)
    else:
        yield from check_rows(manifest, data)
        yield from check_labels(released_labels(manifest), data)
        yield from check_disclosed(manifest, data)
        yield from check_requirements(manifest, data)


def judge_against_raw(folder: Path, spec: Spec) -> Verdict:
    """Checks the truth of a release against the raw table and the spec it was made from.

    It comes after `judge_release`, whose findings it does not repeat. The counts of a differentially private release
    are noisy, so there the differences from the true counts are compared with the law of the noise.

    Args:
        folder: The release folder.
        spec: The owner's spec, which names the raw table.

    Returns:
        One finding per way in which the release differs from the masked raw table or from the spec; of a private
        release also a note on what its noise can show.

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
    """Tests the noise, where cells and counts are what they should be: otherwise there is nothing to compare."""
    if findings or any(True for _ in _row_findings(manifest, data)):
        return Verdict(findings)
    test = NoiseTest(manifest, count_cells(manifest, data, spec))
    findings = list(test.findings())
    return Verdict(findings, [] if findings else [test.note()])
