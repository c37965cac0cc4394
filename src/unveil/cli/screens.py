"""What the commands report: on a screen, and with `--json` as plain values.

docs/exit-codes.md documents the keys of the latter, which are stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unveil.arrays import IntArray
from unveil.errors import braced, count_text, listed, rows_text, shortened
from unveil.evaluation.reidentification import GroupSummary, group_summaries
from unveil.masking import AsIs, Discretization, Generalization, Suppression
from unveil.release import RefinementManifest, Release
from unveil.schema import Atom, Spec

if TYPE_CHECKING:
    from unveil.drafts import TableGuess
    from unveil.evaluation.risk import InferenceRisk
    from unveil.workflow.check import Fit
    from unveil.workflow.demo import Demo

BAR = 40
MOST = 8
"""How many attributes of a set are named next to its figures. A guarantee names all of them."""

CELLS = {"diffgen": "Noisy counts", "additive": "Weights", "statistics": "Weights", "safe": "Sampled rows"}
"""What a private release says of its cells."""


def show_fit(console: Console, fit: Fit) -> None:
    """The result of `check`: the risks of the raw table first, then what a release will promise."""
    table = fit.table
    console.print(f"{fit.spec.origin} fits {table.origin}: {count_text(table.records, 'record')} can be released.")
    _say_dropped(console, table.dropped, "missing or invalid" if fit.spec.table.drops_invalid else "missing")
    for said in (fit.persons, fit.held_back):
        if said is not None:
            console.print(said)
    if (people := fit.population) is not None:
        shares = ", ".join(f"{item.label} {item.people:.1%}" for item in people.classes[:MOST])
        console.print(f"{people.sentence} Of these {fit.spec.table.class_} is {shares}.")
    for group in fit.groups:
        console.print(
            f"Raw, {group.small:,} of {group.groups:,} groups on {braced(group.quasi_identifier, MOST)} are smaller "
            f"than {group.k:,}; they hold {group.people:,} people, {group.unique:,} of them alone."
        )
    for risk in fit.inferences:
        _show_inferences(console, risk)
    for requirement in fit.requirements:
        console.print(f"Can hold: {requirement.sentence()}")
    _say_redundant(console, fit.redundant)
    _say_as_is(console, fit.as_is)
    if fit.observed:
        console.print(f"Domains taken from the data, not declared: {listed(fit.observed, 30)}.")
    for warning in fit.warnings:
        console.print(f"Warning: {warning}.", style="yellow")


def _show_inferences(console: Console, risk: InferenceRisk) -> None:
    counts = ", ".join(f"{count:,} above {share:.0%}" for share, count in risk.above.items())
    console.print(
        f"Raw, inferences from {braced(risk.channel, MOST)} to {risk.sensitive}: {counts}. "
        f"{risk.people:,} people could be exposed above the limit of {risk.limit:.0%}."
    )
    for inference in risk.worst:
        who = ", ".join(f"{name} = {value}" for name, value in inference.channel.items())
        console.print(
            f"  {who} → {inference.value}: {inference.confidence:.0%} ({inference.held:,} of {inference.size:,})",
        )


def show_release(console: Console, release: Release) -> None:
    """The result of `publish`. For a private release this shows only what the release contains."""
    manifest = release.manifest
    if isinstance(manifest, RefinementManifest):
        are = "is" if manifest.records == 1 else "are"
        whose = "" if manifest.persons is None else f" of {count_text(manifest.persons, 'person')}"
        records = f"{count_text(manifest.records, 'record')}{whose}"
        console.print(f"{records} in {rows_text(release.rows.num_rows)} {are} ready.")
        _say_dropped(console, manifest.rows.dropped)
        if held_back := manifest.rows.held_back:
            console.print(f"{rows_text(held_back)} held back to keep the promise together with earlier releases.")
    else:
        cells = count_text(manifest.cells, "cell")
        console.print(f"{CELLS[manifest.method]} of {cells} are ready, in {rows_text(release.rows.num_rows)}.")
    console.print(masking_table(release))
    for summary in group_summaries(release):
        console.print(_group_line(summary))
    _say_redundant(console, release.redundant)
    _say_as_is(console, manifest.as_is)
    console.print(manifest.guarantee, style="bold")


def masking_table(release: Release) -> Table:
    """What each attribute was masked to."""
    table = Table("attribute", "masked by", "blocks", "released as", box=None, header_style="bold", pad_edge=False)
    for name, entry in release.masking.columns.items():
        labels = _labels(entry, release, name)
        shown = entry.words if isinstance(entry, AsIs) else shortened(labels)
        table.add_row(name, entry.kind, "" if isinstance(entry, AsIs) else str(len(labels)), shown)
    return table


def show_demo(console: Console, demo: Demo) -> None:
    """The result of `demo`."""
    console.rule("unveil demo: Adult under three guarantees", style="bold")
    console.print("People from the 1994 US census, and whether they earn more than 50,000 dollars a year.")
    for published in demo.published:
        console.print()
        console.rule(published.name, style="bold")
        console.print(published.release.manifest.guarantee, style="bold")
        console.print()
        console.print(masking_table(published.release))
        _show_groups(console, published.release)
    console.print()
    console.rule("Some people, raw and in the first release", style="bold")
    console.print(_people(*demo.people, demo.published[0].spec))
    console.print()
    console.rule("What a classifier keeps", style="bold")
    console.print("A decision tree trained on each release, tested on people it never saw:")
    lines = [("raw data", demo.raw), *((item.name, item.accuracy) for item in demo.published)]
    for name, value in [*lines, ("everything masked", demo.masked)]:
        console.print(Text(f"  {name:<22}{value:7.1%}  ").append("█" * round(value * BAR), "cyan"))
    console.print()
    console.rule("Verified", style="bold")
    for published in demo.published:
        for finding in published.findings:
            console.print(f"{published.name}: broken: {finding}", style="red")
        if not published.findings:
            console.print(f"{published.name}: every claim holds, recounted from the released files.", style="green")
    console.print(f"\nThe releases are in {demo.folder}/, each with a page about it to open in a browser:")
    for published in demo.published:
        if published.report is not None:
            console.print(f"  {published.report}")
    console.print("Next: write a spec for your own table (see the README).")


def _show_groups(console: Console, release: Release) -> None:
    manifest = release.manifest
    if not isinstance(manifest, RefinementManifest):
        cells = count_text(manifest.cells, "cell")
        console.print(f"{CELLS[manifest.method]} of {cells}, in {rows_text(release.rows.num_rows)}.")
        return
    for summary in group_summaries(release):
        console.print(_group_line(summary))
        console.print(_size_bars(summary.sizes))


def _group_line(summary: GroupSummary) -> str:
    return (
        f"{braced(summary.names, MOST)}: {count_text(summary.groups, 'group')}; the smallest has "
        f"{count_text(summary.smallest, 'record')}, the middle one {summary.median:,}, the largest {summary.largest:,}."
    )


def _size_bars(sizes: IntArray) -> Text:
    """Records by the size of their group, in doubling steps."""
    bars, lo = Text("  records in groups of\n"), int(sizes[0])
    while lo <= sizes[-1]:
        held = sizes[(sizes >= lo) & (sizes < 2 * lo)]
        share = held.sum() / sizes.sum()
        bars.append(f"  {lo:>7,} to {2 * lo - 1:>7,}  {share:6.1%}  ").append("█" * round(share * BAR) + "\n", "cyan")
        lo *= 2
    return bars


def _people(raw: pa.Table, released: pa.Table, spec: Spec) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("attribute", no_wrap=True)
    for number in range(1, raw.num_rows + 1):
        table.add_column(f"person {number}", overflow="fold")
    before, after = raw.to_pylist(), released.to_pylist()
    for name in (attribute.name for attribute in spec.released):
        table.add_row(name, *(_change(one[name], other[name]) for one, other in zip(before, after, strict=True)))
    return table


def _change(raw: object, released: object) -> Text:
    return Text(str(raw)) if str(raw) == str(released) else Text(f"{raw} → ").append(str(released), "cyan")


def _labels(entry: Generalization | Suppression | Discretization | AsIs, release: Release, name: str) -> list[str]:
    labels = list(entry.shown)
    if isinstance(entry, Suppression) and entry.marker not in release.counted[0][name].unique().to_pylist():
        labels.remove(entry.marker)
    return labels


def _say_dropped(console: Console, dropped: int, why: str = "missing") -> None:
    if dropped:
        console.print(f"{rows_text(dropped)} with {why} values left out, as the spec asks.")


def _say_redundant(console: Console, atoms: Sequence[Atom]) -> None:
    for atom in atoms:
        console.print(f"Implied by another requirement, so not searched for: {atom}.")


def _say_as_is(console: Console, names: Iterable[str]) -> None:
    if names := list(names):
        console.print(f"In no requirement, so released as they are: {listed(names, 30)}.", style="yellow")


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
    sizes = ("groups", "smallest", "median", "largest")
    groups = [
        {"attributes": list(summary.names), **{key: getattr(summary, key) for key in sizes}}
        for summary in group_summaries(release)
    ]
    persons = {} if manifest.persons is None else {"persons": manifest.persons}
    return {**facts, "records": manifest.records, **persons, "rows": manifest.rows.model_dump(), "groups": groups}


def fit_facts(fit: Fit) -> dict[str, Any]:
    """What `check` found."""
    return {
        "spec": fit.spec.origin,
        "table": fit.table.origin,
        "records": fit.table.records,
        "rows": {"read": fit.table.read, "dropped": fit.table.dropped, "held_back": fit.table.withheld},
        **_person_facts(fit),
        "requirements": [requirement.sentence() for requirement in fit.requirements],
        "groups": [asdict(group) for group in fit.groups],
        "inferences": [asdict(risk) for risk in fit.inferences],
        "redundant": [str(atom) for atom in fit.redundant],
        "as_is": list(fit.as_is),
        "observed": list(fit.observed),
        "population": None if (people := fit.population) is None else people.to_dict(),
        "warnings": list(fit.warnings),
    }


def _person_facts(fit: Fit) -> dict[str, Any]:
    """How the rows are spread over persons, and how many rows a bound leaves out; nothing without persons."""
    held, plan = fit.table.persons, fit.spec.plan
    if held is None:
        return {}
    facts = {"count": held.count, "several": held.several, "most": held.most}
    bound = {} if plan is None else {"left_out": fit.table.beyond(plan.contributions)}
    return {"persons": {**facts, **bound}}


def demo_facts(demo: Demo) -> dict[str, Any]:
    """What the demo made."""
    return {
        "folder": str(demo.folder),
        "accuracy": {"raw": demo.raw, "masked": demo.masked},
        "releases": [
            {
                "name": published.name,
                **release_facts(published.release, published.place),
                "accuracy": published.accuracy,
                "findings": [vars(finding) for finding in published.findings],
                "report": None if published.report is None else str(published.report),
            }
            for published in demo.published
        ],
    }


def guess_facts(guess: TableGuess, table: str, spec: Path | None) -> dict[str, Any]:
    """What `init` guessed of a table."""
    return {
        "spec": None if spec is None else str(spec),
        "table": table,
        "rows": guess.rows,
        "class": guess.class_.name,
        "missing": list(guess.marks),
        "columns": [
            {"name": item.name, "role": item.role, "reason": item.reason, "risk": item.risk, "known": item.known}
            for item in guess.columns
        ],
        "quasi_identifier": [item.name for item in guess.quasi_identifier],
        "incomplete": guess.incomplete,
        "warnings": guess.warnings,
    }
