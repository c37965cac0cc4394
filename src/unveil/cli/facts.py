"""What the commands report with `--json`, as plain values. docs/exit-codes.md documents the keys, which are stable."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.evaluation import GroupSummary, group_summaries
from unveil.masking import AsIs
from unveil.release import RefinementManifest, Release

if TYPE_CHECKING:
    from unveil.tables import TableGuess
    from unveil.workflow.check import Fit
    from unveil.workflow.demo import Demo, Published


def release_facts(release: Release, folder: Path) -> dict[str, Any]:
    """A release: only what its folder holds, so that no row behind a private release is counted here."""
    manifest = release.manifest
    facts = {
        "release": str(folder),
        "method": manifest.method,
        "guarantee": manifest.guarantee,
        "requirements": list(manifest.requirements),
        "files": {name: file.sha256 for name, file in manifest.files.items()},
        "attributes": {
            name: {"masking": entry.kind, "blocks": None if isinstance(entry, AsIs) else len(entry.shown)}
            for name, entry in release.masking.columns.items()
        },
    }
    if not isinstance(manifest, RefinementManifest):
        return {**facts, "cells": manifest.cells, "rows": {"released": release.rows.num_rows}}
    groups = [_group_facts(summary) for summary in group_summaries(release)]
    return {**facts, "records": manifest.records, "rows": manifest.rows.model_dump(), "groups": groups}


def _group_facts(summary: GroupSummary) -> dict[str, Any]:
    return {
        "attributes": list(summary.names),
        "groups": summary.groups,
        "smallest": summary.smallest,
        "median": summary.median,
        "largest": summary.largest,
    }


def fit_facts(fit: Fit) -> dict[str, Any]:
    """What `check` found."""
    return {
        "spec": fit.spec.origin,
        "table": fit.table.origin,
        "records": fit.table.records,
        "rows": {"read": fit.table.read, "dropped": fit.table.dropped},
        "requirements": [requirement.sentence() for requirement in fit.requirements],
        "groups": [asdict(group) for group in fit.groups],
        "inferences": [asdict(risk) for risk in fit.inferences],
        "redundant": [str(atom) for atom in fit.redundant],
        "as_is": list(fit.as_is),
        "observed": list(fit.observed),
        "warnings": list(fit.warnings),
    }


def demo_facts(demo: Demo) -> dict[str, Any]:
    """What the demo made."""
    return {
        "folder": str(demo.folder),
        "accuracy": {"raw": demo.raw, "masked": demo.masked},
        "releases": [_published_facts(published) for published in demo.published],
    }


def _published_facts(published: Published) -> dict[str, Any]:
    return {
        "name": published.name,
        **release_facts(published.release, published.place),
        "accuracy": published.accuracy,
        "findings": [vars(finding) for finding in published.findings],
        "report": None if published.report is None else str(published.report),
    }


def guess_facts(guess: TableGuess, table: str, spec: Path | None) -> dict[str, Any]:
    """What `init` guessed of a table."""
    return {
        "spec": None if spec is None else str(spec),
        "table": table,
        "rows": guess.rows,
        "class": guess.class_,
        "missing": list(guess.marks),
        "columns": [{"name": item.name, "role": item.role, "reason": item.reason} for item in guess.columns],
    }
