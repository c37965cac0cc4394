"""The verification of a release by its files alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unveil.verifier.claims import DiffGenManifest, Manifest, labels
from unveil.verifier.cuts import check_cuts, check_disclosed, check_labels, check_order, check_rows
from unveil.verifier.data import Data, open_files, read_data
from unveil.verifier.files import check_copy, check_files, check_spelling, read_manifest
from unveil.verifier.findings import BrokenClaimError, Finding, Verdict
from unveil.verifier.private import check_cells, check_ledger, check_promise
from unveil.verifier.readers import check_texts, check_values, reader_notes
from unveil.verifier.requirements import check_guarantee, check_requirements


def verify_release(folder: Path) -> list[Finding]:
    """The findings of `judge_release` alone."""
    return judge_release(folder).findings


def judge_release(folder: Path) -> Verdict:
    """Recounts every claim of a release from its files alone.

    Args:
        folder: The release folder.

    Returns:
        One finding per broken claim; if every claim holds, notes on what a reader must judge. Claims that cannot be
        recounted because another is broken, such as those about rows that cannot be read, are left out.

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
        findings += row_findings(manifest, data)
    except BrokenClaimError as broken:
        return Verdict([*findings, *broken.findings])
    return Verdict(findings, [] if findings else list(reader_notes(manifest, data)))


def row_findings(manifest: Manifest, data: Data) -> Iterator[Finding]:
    """What is wrong with the released rows, or with the cells of a private release."""
    yield from check_values(manifest, data)
    if isinstance(manifest, DiffGenManifest):
        yield from check_order(manifest, data)
        yield from check_labels(manifest.labels, data)
        yield from check_cells(manifest, data)
    else:
        yield from check_rows(manifest, data)
        yield from check_labels({name: labels(entry) for name, entry in manifest.masked.items()}, data)
        yield from check_disclosed(manifest, data)
        yield from check_requirements(manifest, data)
