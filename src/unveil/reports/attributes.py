"""One panel per attribute: how it is masked, drawn."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.masking import AsIs, Discretization, Generalization, Suppression
from unveil.release import Release
from unveil.reports.drawings import Bar, Bars, NumberLine, number_line
from unveil.reports.figures import Figure, Share, label_shares
from unveil.reports.trees import Branch, CutTree, cut_tree, manifest_branch, suppression_branch, taxonomy_branch
from unveil.schema import Spec

INTERVALS = 16
"""More intervals than these are not listed one by one."""
KINDS = {
    "generalization": "generalized to broader labels",
    "suppression": "suppressed: shown as it is, or hidden",
    "discretization": "discretized into intervals",
    "released": "released as it is: no requirement protects it",
}
SENSITIVE = "released as it is: sensitive, protected by masking other columns"
EVERY = "every record"
"""The share of a label that is the only one."""


@dataclass(frozen=True)
class Panel:
    """An attribute of the release."""

    name: str
    kind: str
    domain: str
    holds: str
    """What is in the column."""
    tree: CutTree | None = None
    line: NumberLine | None = None
    bars: Bars | None = None
    left_out: int = 0
    """How many intervals are not listed."""

    @property
    def drawn(self) -> bool:
        """Whether there is something to draw: of a column that is released as it is there is not."""
        return self.tree is not None or self.line is not None


def panels(release: Release, figure: Figure, spec: Spec | None = None) -> list[Panel]:
    """The attributes of a release. Only the owner's spec knows whole taxonomies; a release knows the cuts."""
    return [_panel(release, name, figure, spec) for name in release.masking]


@dataclass(frozen=True)
class Untouched:
    """Columns that are released as they are, for the same reason and with the same kind of values."""

    kind: str
    holds: str
    names: list[str]


def untouched(panels: list[Panel]) -> list[Untouched]:
    """The columns of which nothing is drawn, folded: one entry for all that hold the same."""
    folded: dict[tuple[str, str], list[str]] = {}
    for panel in panels:
        if not panel.drawn:
            folded.setdefault((panel.kind, panel.holds), []).append(panel.name)
    return [Untouched(kind, holds, names) for (kind, holds), names in folded.items()]


def _panel(release: Release, name: str, figure: Figure, spec: Spec | None) -> Panel:
    entry = release.masking[name]
    domain = "declared by the owner" if entry.domain == "declared" else "read off the data"
    if isinstance(entry, AsIs):
        sensitive = name in {item.get("sensitive") for item in release.manifest.requirements}
        holds = {"number": "numbers", "date": "dates", "category": "text"}[entry.type]
        return Panel(name, SENSITIVE if sensitive else KINDS[entry.kind], domain, holds)
    shares = _shares(release, name, figure)
    if isinstance(entry, Discretization):
        return _number_panel(name, entry, domain, shares, figure)
    if isinstance(entry, Suppression):
        root, labels = suppression_branch(name, entry, hides=entry.marker in shares), len(shares)
    else:
        root, labels = _generalized(name, entry, spec), len(entry.blocks)
    tree = cut_tree(f"The values of {name} and the cut through them", root, shares)
    return Panel(name, KINDS[entry.kind], domain, _one_of(labels, "label"), tree=tree)


def _shares(release: Release, name: str, figure: Figure) -> dict[str, Share]:
    if len(release.masking[name].shown) == 1:
        return {str(label): Share(1.0, EVERY) for label in release.counted[0][name].unique().to_pylist()}
    return {label: figure(share) for label, share in label_shares(release, name).items()}


def _one_of(count: int, what: str) -> str:
    return f"the same {what} in every row" if count == 1 else f"one of {count:,} {what}s"


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
        _one_of(len(entry.blocks), "interval"),
        line=number_line(name, entry),
        bars=Bars.of(f"Share of the records in each interval of {name}", bars),
        left_out=len(entry.blocks) - len(told),
    )
