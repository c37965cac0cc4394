"""The verification of a release by its files alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unveil.verifier.batches import open_files
from unveil.verifier.copies import check_copy
from unveil.verifier.cuts import check_cuts, check_disclosed, check_labels, released_labels
from unveil.verifier.data import Data, read_data
from unveil.verifier.files import check_files
from unveil.verifier.findings import BrokenClaimError, Finding, Verdict
from unveil.verifier.manifest import Manifest, check_spelling, read_manifest
from unveil.verifier.notes import reader_notes
from unveil.verifier.private import DiffGenManifest
from unveil.verifier.private.cells import check_cells
from unveil.verifier.private.ledger import check_ledger
from unveil.verifier.private.promise import check_promise
from unveil.verifier.readable import check_texts, check_values
from unveil.verifier.requirements import check_guarantee, check_requirements
from unveil.verifier.rows import check_order, check_rows


def verify_release(folder: Path) -> list[Finding]:
    """The findings of `judge_release` alone."""
    return judge_release(folder).findings


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
        yield from check_labels(released_labels(manifest), data)
        yield from check_disclosed(manifest, data)
        yield from check_requirements(manifest, data)
