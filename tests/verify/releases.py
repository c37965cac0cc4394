"""Releases made by hand, so that the tests of the verifier need nothing of the engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unveil.verifier import Finding

Row = tuple[Any, ...]

YOUNG, OLD = "[17, 37)", "[37, 91)"
RAW_HEADER = ("name", "age", "education", "sex", "hours", "income")
RAW_ROWS = [
    ("Ann", "17", "Bachelors", "M", "40", "low"),
    ("Bob", "25", "Masters", "M", "40", "low"),
    ("Cid", "36", "Bachelors", "M", "35.5", "high"),
    ("Dan", "36", "Masters", "M", "8", "high"),
    ("Eve", "37", "Masters", "M", "40", "high"),
    ("Fay", "50", "Bachelors", "M", "40", "high"),
    ("Gus", "90", "Masters", "M", "12", "low"),
    ("Hal", "37", "9th", "F", "40", "low"),
    ("Ivy", "41", "9th", "X", "40", "low"),
    ("Jon", "88", "9th", "F", "0", "high"),
    ("Kim", "?", "10th", "F", "40", "low"),
]
RELEASED_ROWS: list[Row] = [
    (YOUNG, "University", "M", 8.0, "high"),
    (YOUNG, "University", "M", 35.5, "high"),
    (YOUNG, "University", "M", 40.0, "low"),
    (YOUNG, "University", "M", 40.0, "low"),
    (OLD, "9th", "⊥", 0.0, "high"),
    (OLD, "9th", "⊥", 40.0, "low"),
    (OLD, "9th", "⊥", 40.0, "low"),
    (OLD, "University", "M", 12.0, "low"),
    (OLD, "University", "M", 40.0, "high"),
    (OLD, "University", "M", 40.0, "high"),
]
TAXONOMY = "Any\n  University\n    Bachelors\n    Masters\n  School\n    9th\n    10th\n"
SPEC = """
[table]
source = "raw.csv"
class = "income"
missing = { values = ["?"], rows = "drop" }

[attributes.name]
role = "identifier"

[attributes.age]
kind = "number"
range = [17, 91]
whole = true

[attributes.education]
kind = "category"
taxonomy = "education.tree"

[attributes.sex]
kind = "category"

[attributes.hours]
kind = "number"

[[require]]
kind = "k-anonymity"
quasi-identifier = ["age", "education", "sex"]
k = 2
"""


FITTING = "A sentence that fits the requirements is put here."


def promised(requirements: Any) -> str:
    """The requirements as sentences. Those that a test has spoilt are left out."""
    sentences = []
    for stated in requirements if isinstance(requirements, list) else ():
        with suppress(KeyError, TypeError, ValueError, IndexError, ArithmeticError):
            sentences.append(PROMISES[stated["kind"]](stated))
    return " ".join(sentences) or "Nothing."


def omitted(manifest: dict[str, Any]) -> str:
    """The sentence about records that were left out, with a space before it."""
    left_out = manifest.get("leave-out") or {"records": 0, "as": "drop"}
    records, dropped = left_out["records"], left_out["as"] == "drop"
    if not records:
        return ""
    total = manifest["records"] + (records if dropped else 0)
    verb, done = "was" if records == 1 else "were", "left out" if dropped else "fully masked"
    return f" {records:,} of {total:,} records {verb} {done}."


def _set(names: list[str]) -> str:
    return "{" + ", ".join(names) + "}"


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _shares(stated: dict[str, Any], share: str) -> str:
    values = ", ".join(map(repr, stated["values"]))
    which = f"each of the values {values}" if stated["values"][1:] else f"the value {values}"
    percent = f"{Decimal(repr(stated[share])) * 100:f}"
    percent = percent.rstrip("0").rstrip(".") if "." in percent else percent
    return f"{which} of {stated['sensitive']} is held by at most {percent}%"


SHARING = "records that share a combination of released values of"
VARIANTS = {"distinct": "different values", "entropy": "well represented values (entropy)"}
PROMISES: dict[str, Callable[[dict[str, Any]], str]] = {
    "k-anonymity": lambda stated: (
        f"Every combination of released values of {_set(stated['quasi-identifier'])} is shared by at least "
        f"{stated['k']:,} records."
    ),
    "confidence": lambda stated: f"Among the {SHARING} {_set(stated['channel'])}, {_shares(stated, 'limit')}.",
    "l-diversity": lambda stated: (
        f"The {SHARING} {_set(stated['quasi-identifier'])} hold at least {_number(stated['l'])} "
        f"{VARIANTS[stated['variant']]} of {stated['sensitive']}."
    ),
    "t-closeness": lambda stated: (
        f"Among the {SHARING} {_set(stated['quasi-identifier'])}, {stated['sensitive']} is distributed as in the "
        f"whole release up to a distance ({stated['distance']}) of {_number(stated['t'])}."
    ),
    "alpha-k-anonymity": lambda stated: (
        f"{PROMISES['k-anonymity'](stated)} {_capital(_shares(stated, 'alpha'))} of them."
    ),
    "beta-likeness": lambda stated: (
        f"Among the {SHARING} {_set(stated['quasi-identifier'])}, the share of every value of {stated['sensitive']} is "
        f"at most 1 + {_number(stated['beta'])} times its share in the whole release."
    ),
    "k-e-anonymity": lambda stated: (
        f"The {SHARING} {_set(stated['quasi-identifier'])} hold at least {stated['k']:,} different values of "
        f"{stated['sensitive']}, and these span at least {_number(stated['e'])}."
    ),
}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def manifest() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "unveil_version": "0.2.0",
        "method": "refinement",
        "guarantee": FITTING,
        "class": "income",
        "weight": None,
        "requirements": [{"kind": "k-anonymity", "quasi-identifier": ["age", "education", "sex"], "k": 2}],
        "masking": {
            "age": {
                "kind": "discretization",
                "domain": "declared",
                "whole": True,
                "blocks": [
                    {"label": YOUNG, "from": 17, "to": 37},
                    {"label": OLD, "from": 37, "to": 91},
                ],
            },
            "education": {
                "kind": "generalization",
                "domain": "declared",
                "blocks": [
                    {"label": "University", "values": ["Bachelors", "Masters"]},
                    {"label": "9th", "values": ["9th"]},
                    {"label": "10th", "values": ["10th"]},
                ],
            },
            "sex": {"kind": "suppression", "domain": "observed", "disclosed": ["M"], "marker": "⊥"},
            "hours": {"kind": "released", "domain": "observed", "type": "number"},
        },
        "rows": {"read": 11, "dropped": 1, "released": 10},
        "records": 10,
        "files": {},
    }


@dataclass
class Draft:
    """A release before it is written: edit it, then write it with hashes that fit."""

    rows: list[Row]
    manifest: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        weight = self.manifest["weight"]
        return [*self.manifest["masking"], self.manifest["class"], *([weight] if weight else [])]

    def recount(self) -> None:
        """Makes the counts of the manifest fit the rows, as a release with lost or doubled rows would."""
        dropped = self.manifest["rows"]["dropped"]
        count = len(self.rows)
        self.manifest["rows"] = {"read": count + dropped, "dropped": dropped, "released": count}
        self.manifest["records"] = sum(row[-1] for row in self.rows) if self.manifest["weight"] else count

    def weigh(self, weights: list[int]) -> None:
        """Adds a weight column."""
        self.manifest["weight"] = "n"
        self.rows = [(*row, weight) for row, weight in zip(self.rows, weights, strict=True)]
        self.recount()

    def table(self) -> pa.Table:
        return pa.table([list(values) for values in zip(*self.rows, strict=True)], names=self.columns)

    def write(
        self,
        folder: Path,
        *,
        sort: bool = True,
        with_csv: bool = False,
        table: pa.Table | None = None,
        parts: Sequence[int] = (),
    ) -> Path:
        """Writes the release: one data file, or parts of so many rows."""
        if sort:
            self.rows.sort(key=_order)
        if self.manifest.get("guarantee") == FITTING:
            self.manifest["guarantee"] = promised(self.manifest.get("requirements")) + omitted(self.manifest)
        folder.mkdir()
        written = self.table() if table is None else table
        if parts:
            (folder / "data.parquet").mkdir()
        else:
            write_parquet(written, folder / "data.parquet")
        for number, size in enumerate(parts):
            path = folder / "data.parquet" / f"part-{number:05}.parquet"
            write_parquet(written.slice(sum(parts[:number]), size), path)
        if with_csv:
            lines = [",".join(map(_in_csv, row)) for row in [tuple(self.columns), *self.rows]]
            (folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            self.manifest["files"][path.relative_to(folder).as_posix()] = {"sha256": sha256(path)}
        write_manifest(folder, self.manifest)
        return folder


Plant = Callable[[Draft], None]
"""Plants a defect."""

Verify = Callable[..., list[Finding]]
"""Verifies a release with a planted defect."""


def draft() -> Draft:
    """A true release of the raw rows above."""
    return Draft(list(RELEASED_ROWS), manifest())


def write_manifest(folder: Path, content: Any) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    edit(content)
    write_manifest(folder, content)


def write_parquet(table: pa.Table, path: Path, groups: Sequence[int] = (), **others: Any) -> None:
    """Writes rows in the form of a release, or in groups of so many rows; other options plant a defect."""
    texts = [
        field.name for field in table.schema if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)
    ]
    form = {"compression": "zstd", "store_schema": False, "write_statistics": False, "use_dictionary": texts or False}
    with pq.ParquetWriter(path, table.schema, **{**form, **others}) as writer:
        for number, size in enumerate(groups or [table.num_rows] * bool(table.num_rows)):
            writer.write_table(table.slice(sum(groups[:number]), size))


def rehash(folder: Path, name: str = "data.parquet") -> None:
    """Makes the manifest fit a data file that was written again."""
    edit_manifest(folder, lambda content: content["files"][name].update(sha256=sha256(folder / name)))


def _in_csv(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return "" if value is None else str(value).removesuffix(".0")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_raw(
    folder: Path, rows: Sequence[tuple[str, ...]] | None = None, spec: str = SPEC, header: Row = RAW_HEADER
) -> Path:
    """Writes the raw table, its taxonomy and its spec; gives the path of the spec."""
    lines = [", ".join(row) for row in [header, *(RAW_ROWS if rows is None else rows)]]
    (folder / "raw.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "education.tree").write_text(TAXONOMY, encoding="utf-8")
    path = folder / "spec.toml"
    path.write_text(spec, encoding="utf-8")
    return path


def _order(row: Row) -> list[Any]:
    return [value.encode() if isinstance(value, str) else value for value in row]
