"""A picture of a release: cuts, groups and some rows, in plain values for a page to draw. Private as the table is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray
from unveil.evaluation.evaluation import measures
from unveil.evaluation.information import label_records
from unveil.evaluation.reidentification import Whose, group_summaries
from unveil.masking import AsIs, Discretization, Generalization, Suppression, rest_label
from unveil.release import RefinementManifest, Release
from unveil.reports.figures import size_classes
from unveil.schema import Attribute, Node, Spec, value_text
from unveil.tables import Table
from unveil.workflow.evaluate import Rows

BINS = 48
"""Bars of the raw numbers below a number line."""
LABELS = 60
"""This many labels of an attribute are drawn, those that the most records hold."""
CHILDREN = 16
"""This many branches of a label are drawn."""
EXAMPLES = 6


def picture_of(release: Release, rows: Rows, shown: Rows) -> dict[str, Any]:
    """What a page draws of a release as soon as the search has ended; the first of the rows `shown` are examples."""
    manifest, table, spec = release.manifest, rows.checked, rows.spec
    refined = manifest if isinstance(manifest, RefinementManifest) else None
    return {
        "guarantee": " ".join(spec.promises) if refined is None else refined.guarantee,
        "private": spec.plan is not None,
        "steps": None if refined is None else len(release.trace),
        "records": table.records,
        "read": table.read,
        "dropped": table.dropped,
        "released": release.rows.num_rows,
        "left_out": 0 if refined is None or refined.leave_out is None else refined.leave_out.records,
        "attributes": [_attribute(release, name, table, spec) for name in release.masking if name in spec.attributes],
        "groups": _groups(release, spec, table),
        "examples": _examples(release, shown),
    }


def figures_of(release: Release, rows: Rows) -> dict[str, Any] | None:
    """What the release costs and what it risks; None for noisy counts, which have no records to lose or to trace."""
    found = measures(release, rows.spec, rows.checked)
    if found is None:
        return None
    return {
        "kept": 1 - found.loss.global_penalty,
        "penalties": found.loss.penalties,
        "measures": [line._asdict() for line in found.loss.lines()],
        "risks": [
            {
                "names": list(risk.quasi_identifier),
                "highest": risk.prosecutor.highest,
                "average": risk.prosecutor.average,
                "uniques": risk.uniques,
            }
            for risk in found.risks
        ],
        "whole_row": {"uniques": found.whole_row.uniques, "records": found.whole_row.records},
    }


def _attribute(release: Release, name: str, table: Table, spec: Spec) -> dict[str, Any]:
    entry, attribute = release.masking[name], spec.attributes[name]
    facts = {"name": name, "masking": entry.kind, "local": getattr(entry, "local", False), "domain": entry.domain}
    if isinstance(entry, AsIs):
        return {**facts, "sensitive": name in {item.sensitive for item in spec.requirements}}
    records = label_records(release, name)
    column = [item.name for item in table.columns].index(name)
    held = table.histograms[column].sum(axis=1)
    facts |= {"labels": sum(count > 0 for count in records.values()), "records": sum(records.values())}
    if isinstance(entry, Discretization):
        return {**facts, "line": _line(entry, records, table, column, held), "unit": attribute.unit}
    if isinstance(entry, Generalization) and attribute.taxonomy is not None:
        return {**facts, "tree": _branch(attribute.taxonomy.root, records, held)}
    return {**facts, "values": _values(entry, records, held, attribute)}


def _line(
    entry: Discretization, records: Mapping[str, float], table: Table, column: int, held: IntArray
) -> dict[str, Any]:
    """Intervals with their records, the widest first where they overlap, above bars of the raw numbers."""
    scale = entry.scale
    blocks: list[dict[str, Any]] = [
        {"label": block.label, "lo": block.lo, "hi": block.hi, "records": records.get(block.label, 0)}
        for block in entry.blocks
        if block.numbers is not None and records.get(block.label)
    ]
    most = sorted(blocks, key=lambda block: -block["records"])[:LABELS]
    numbers: FloatArray = np.asarray(table.columns[column].values, dtype=np.float64)
    inside = (numbers >= scale.lo) & (numbers < scale.hi)
    bars, _ = np.histogram(numbers[inside], bins=BINS, range=(scale.lo, scale.hi), weights=held[inside])
    gone = sum(records.get(block.label, 0) for block in entry.blocks if block.numbers is None)
    return {
        "lo": scale.lo,
        "hi": scale.hi,
        "blocks": sorted(most, key=lambda block: (block["lo"], -block["hi"])),
        "others": len(blocks) - len(most),
        "bars": bars.tolist(),
        "missing": gone,
    }


def _branch(node: Node, records: Mapping[str, float], held: IntArray) -> dict[str, Any]:
    """A label, how many records are released as it or as what is left of it, and what is below."""
    found = records.get(node.label, 0) + records.get(rest_label(node.label), 0)
    branch: dict[str, Any] = {
        "label": node.label,
        "raw": int(held[node.lo : node.hi].sum()),
        "released": found,
        "leaves": node.hi - node.lo,
    }
    if not node.children or not any(_is_released(child, records) for child in node.children):
        return branch
    shown = sorted(node.children, key=lambda child: -int(held[child.lo : child.hi].sum()))[:CHILDREN]
    kept = [child for child in node.children if child in shown]
    branch["children"] = [_branch(child, records, held) for child in kept]
    branch["more"] = len(node.children) - len(kept)
    return branch


def _is_released(node: Node, records: Mapping[str, float]) -> bool:
    """Whether some record is released as this label or as one below it."""
    return any(records.get(item.label) or records.get(rest_label(item.label)) for item in node.walk())


def _values(
    entry: Generalization | Suppression, records: Mapping[str, float], held: IntArray, attribute: Attribute
) -> dict[str, Any]:
    """Values that are shown, each with its records, and how many are hidden."""
    marker = entry.marker if isinstance(entry, Suppression) else ""
    found = sorted(((label, count) for label, count in records.items() if count), key=lambda item: -item[1])
    return {
        "shown": [{"label": label, "records": count} for label, count in found if label != marker][:LABELS],
        "hidden": records.get(marker, 0),
        "domain": int((held > 0).sum()),
    }


def _groups(release: Release, spec: Spec, table: Table) -> list[dict[str, Any]]:
    asked = {tuple(item.attributes): getattr(item, "k", 1) for item in spec.requirements}
    return [
        {
            "names": list(found.names),
            "unit": found.unit,
            "groups": found.groups,
            "smallest": found.smallest,
            "median": found.median,
            "largest": found.largest,
            "classes": [
                {"text": text, "share": share}
                for text, share in size_classes(found.sizes, asked.get(found.names, 1), found.unit).items()
            ],
        }
        for found in group_summaries(release, Whose.of(release, table))
    ]


def _examples(release: Release, shown: Rows) -> dict[str, Any]:
    """Some rows as they are and as they would be released."""
    rows = shown.known.slice(0, EXAMPLES)
    masked = release.masking.labels(rows, unseen="suppress")
    names = [name for name in masked.column_names if name in shown.spec.attributes]
    return {"names": names, "raw": _texts(rows, names), "released": _texts(masked, names)}


def _texts(rows: pa.Table, names: list[str]) -> list[list[str]]:
    columns = [["" if value is None else value_text(value) for value in rows[name].to_pylist()] for name in names]
    return [list(row) for row in zip(*columns, strict=True)]
