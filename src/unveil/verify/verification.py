"""The two verifications: of a release by its files alone, and of its truth against the raw table."""

from __future__ import annotations

from pathlib import Path

from unveil.schema import Spec
from unveil.verify.agreement import check_agreement
from unveil.verify.asked import check_asked
from unveil.verify.cuts import check_cuts, check_labels
from unveil.verify.data import read_data
from unveil.verify.files import check_copy, check_files
from unveil.verify.findings import BrokenClaimError, Finding
from unveil.verify.manifest import read_manifest
from unveil.verify.raw import read_raw
from unveil.verify.requirements import check_requirements
from unveil.verify.rows import check_rows
from unveil.verify.truth import check_truth


def verify_release(folder: Path) -> list[Finding]:
    """Recounts every claim of a release from its files alone.

    Args:
        folder: The release folder.

    Returns:
        One finding per broken claim; none when every claim holds. Where a claim is broken so that
        others cannot be counted, such as a data file that cannot be read, those others are left out.

    Raises:
        ReleaseError: The folder is not a release that this version can read.
    """
    findings: list[Finding] = []
    try:
        manifest = read_manifest(folder)
        findings += check_files(folder, manifest)
        findings += check_cuts(manifest)
        data, beside = read_data(folder, manifest)
        findings += beside
        findings += check_copy(folder, manifest, data)
        findings += check_rows(manifest, data)
        findings += check_labels(manifest, data)
        findings += check_requirements(manifest, data)
    except BrokenClaimError as broken:
        findings += broken.findings
    return findings


def verify_against_raw(folder: Path, spec: Spec) -> list[Finding]:
    """Checks the truth of a release against the raw table and the spec it was made from.

    It stands beside `verify_release`, whose findings it does not repeat.

    Args:
        folder: The release folder.
        spec: The owner's spec, which names the raw table.

    Returns:
        One finding per way in which the release differs from the masked raw table or from the spec.

    Raises:
        ReleaseError: The folder is not a release that this version can read.
        TableError: The raw table cannot be read.
    """
    findings: list[Finding] = []
    try:
        manifest = read_manifest(folder)
        findings += check_agreement(manifest, spec)
        data, _ = read_data(folder, manifest)
    except BrokenClaimError as broken:
        reason = broken.findings[0].message
        return [*findings, Finding("truth", f"the release cannot be compared with the raw table: {reason}")]
    findings += check_asked(manifest, data, spec)
    findings += check_truth(manifest, data, read_raw(spec))
    return findings
