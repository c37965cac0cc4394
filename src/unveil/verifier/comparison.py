"""The verification of a release against the raw table and the spec it was made from."""

from __future__ import annotations

from pathlib import Path

from unveil.schema import Spec
from unveil.verifier.agreement import check_agreement
from unveil.verifier.batches import open_files
from unveil.verifier.data import Data, read_data
from unveil.verifier.findings import BrokenClaimError, Finding, Verdict
from unveil.verifier.manifest import read_manifest
from unveil.verifier.parts import MANIFEST
from unveil.verifier.private import DiffGenManifest
from unveil.verifier.private.counts import count_cells
from unveil.verifier.private.noise import NoiseTest
from unveil.verifier.private.plan import check_plan
from unveil.verifier.raw import read_raw
from unveil.verifier.requirements import check_asked
from unveil.verifier.truth import check_truth
from unveil.verifier.verification import row_findings


def verify_against_raw(folder: Path, spec: Spec) -> list[Finding]:
    """The findings of `judge_against_raw` alone."""
    return judge_against_raw(folder, spec).findings


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
    if findings or any(True for _ in row_findings(manifest, data)):
        return Verdict(findings)
    test = NoiseTest(manifest, count_cells(manifest, data, spec))
    findings = list(test.findings())
    return Verdict(findings, [] if findings else [test.note()])
