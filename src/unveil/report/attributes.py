"""One panel per attribute: how it is masked, drawn."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.masking import AsIs, Discretization, Generalization, Suppression
from unveil.release import Release
from unveil.report.drawings import Bar, Bars
from unveil.report.figures import Figure, Share
from unveil.report.labels import label_shares
from unveil.report.lines import NumberLine, number_line
from unveil.report.trees import Branch, CutTree, cut_tree, manifest_branch, suppression_branch, taxonomy_branch
from unveil.schema import Spec

INTERVALS = 40
"""More intervals than these are not listed one by one."""
KINDS = {
    "generalization": "generalized: a value is released as a broader label",
    "suppression": "suppressed: a value is released as it is, or hidden",
    "discretization": "discretized: a number is released as an interval",
    "released": "released as it is: no requirement names it",
}


@dataclass(frozen=True)
class Panel:
    """An attribute of the release."""

    name: str
    kind: str
    domain: str
    type: str
    count: str
    """How many different values can stand in the column."""
    tree: CutTree | None = None
    line: NumberLine | None = None
    bars: Bars | None = None
    sensitive: bool = False
    left_out: int = 0
    """How many intervals are not listed."""


def panels(release: Release, figure: Figure, spec: Spec | None = None) -> list[Panel]:
    """The attributes of a release, in the order of its columns.

    Args:
        release: The release.
        figure: How shares are told.
        spec: The owner's spec, which knows whole taxonomies; a release knows the cuts through them.
    """
    return [_panel(release, name, figure, spec) for name in release.masking]


def _panel(release: Release, name: str, figure: Figure, spec: Spec | None) -> Panel:
    entry = release.masking[name]
    domain = "declared by the owner" if entry.domain == "declared" else "read off the data"
    if isinstance(entry, AsIs):
        sensitive = name in {item.get("sensitive") for item in release.manifest.requirements}
        kind = (
            "released as it is: the requirements protect it by masking the others" if sensitive else KINDS[entry.kind]
        )
        return Panel(name, kind, domain, entry.type, "", sensitive=sensitive)
    shares = {label: figure(share) for label, share in label_shares(release, name).items()}
    if isinstance(entry, Discretization):
        return _number_panel(name, entry, domain, shares, figure)
    if isinstance(entry, Suppression):
        hides = entry.marker in shares
        tree = cut_tree(_title(name), suppression_branch(name, entry, hides=hides), shares)
        count = str(len(entry.disclosed) + hides)
    else:
        tree = cut_tree(_title(name), _generalized(name, entry, spec), shares)
        count = str(len(entry.blocks))
    return Panel(name, KINDS[entry.kind], domain, "text", count, tree=tree)


def _title(name: str) -> str:
    return f"The values of {name} and the cut through them"


def _generalized(name: str, entry: Generalization, spec: Spec | None) -> Branch:
    taxonomy = None if spec is None else spec.attributes[name].taxonomy
    return manifest_branch(name, entry) if taxonomy is None else taxonomy_branch(taxonomy.root, entry)


def _number_panel(name: str, entry: Discretization, domain: str, shares: dict[str, Share], figure: Figure) -> Panel:
    told = entry.blocks[:INTERVALS]
    bars = [Bar(block.label, *shares.get(block.label, figure(0.0))) for block in told]
    return Panel(
        name,
        KINDS[entry.kind],
        domain,
        "text, an interval [from, to) with from inside and to outside",
        str(len(entry.blocks)),
        line=number_line(name, entry),
        bars=Bars.of(f"Share of the records in each interval of {name}", bars),
        left_out=len(entry.blocks) - len(told),
    )
