"""The page: what a release is, promises and keeps, in one HTML file that loads nothing."""

from __future__ import annotations

from typing import Any

from unveil.evaluate import quasi_identifiers
from unveil.masking import AsIs, Discretization
from unveil.release import DiffGenManifest, RefinementManifest, Release
from unveil.report.attributes import panels
from unveil.report.figures import Figure, about, coarse, exact, named, number
from unveil.report.guarantee import LIMITS, promise
from unveil.report.labels import kept_chart
from unveil.report.noise import private_facts
from unveil.report.owner import Owner, accuracy_charts, group_summaries
from unveil.report.sizes import groups
from unveil.schema import COUNT, Spec

DATA = "data.parquet"


def handout_page(release: Release) -> str:
    """The page to hand out. It tells what follows from the release folder, in coarse shares and no exact count."""
    return _render({**_facts(release, coarse, None), "owner": None})


def owner_page(release: Release, owner: Owner) -> str:
    """The owner's page, which is private: exact figures, steps, risks and what classifiers keep."""
    told = {
        "owner": owner,
        "accuracy": accuracy_charts(owner.evaluation),
        "summaries": group_summaries(release, _identifying(release)),
    }
    return _render({**_facts(release, exact, owner.spec), **told})


def _facts(release: Release, figure: Figure, spec: Spec | None) -> dict[str, Any]:
    """What both pages tell."""
    manifest = release.manifest
    private = isinstance(manifest, DiffGenManifest)
    numbers = {name: entry for name, entry in manifest.columns.items() if isinstance(entry, Discretization)}
    return {
        "manifest": manifest,
        "title": "Noisy counts" if private else "A masked table",
        "private": private_facts(manifest) if isinstance(manifest, DiffGenManifest) else None,
        "records": about(manifest.records) if isinstance(manifest, RefinementManifest) else None,
        "promises": [] if private else [promise(entry) for entry in manifest.requirements],
        "limits": LIMITS,
        "panels": panels(release, figure, spec),
        "groups": [] if private else groups(release, figure),
        "kept": kept_chart(release, figure),
        "sized": [(item["quasi-identifier"], item["k"]) for item in manifest.requirements if item.get("k", 1) > 1],
        "as_is": _as_is(release),
        "numbers": list(numbers),
        "interval": next((entry.blocks[0] for entry in numbers.values()), None),
        "count": COUNT,
        "sha256": manifest.files[DATA].sha256 if DATA in manifest.files else None,
    }


def _identifying(release: Release) -> tuple[tuple[str, ...], ...]:
    return quasi_identifiers(release) if isinstance(release.manifest, RefinementManifest) else ()


def _as_is(release: Release) -> list[str]:
    """Columns that no requirement names, neither as known to a stranger nor as sensitive."""
    sensitive = {item.get("sensitive") for item in release.manifest.requirements}
    return [
        name for name, entry in release.masking.columns.items() if isinstance(entry, AsIs) and name not in sensitive
    ]


def _render(facts: dict[str, Any]) -> str:
    # Only this verb needs templates, so the others do not wait for them.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("unveil.report"),
        autoescape=True,  # labels are data
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"named": named, "number": number}
    return environment.get_template("page.html").render(facts)
