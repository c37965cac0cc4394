"""Taxonomies: drafted from a table, and converted from one file format to another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unveil.drafts import draft
from unveil.release import check_absent, write_text
from unveil.schema import Taxonomy, read_taxonomy, taxonomy_text


def draft_taxonomy(
    table: Any, attribute: str, by: str | None = None, *, missing: Sequence[str] | None = None
) -> Taxonomy:
    """Proposes a taxonomy whose leaves are the values of a column; its text is that of a `.tree` file.

    The draft is marked as observed: differential privacy refuses it until a person declares its values public.

    Args:
        table: A path to a table, or a pandas, polars or pyarrow table.
        attribute: The column.
        by: `dates`, `bands`, `diagnoses`, `countries`, `prefix`, `numbers` or `frequency`; without, the first of these
            that fits.
        missing: Texts that mean that a value is missing; without, the usual ones, such as `?` and `NA`.
    """
    return draft(table, attribute, by, missing).taxonomy


def write_taxonomy(taxonomy: Taxonomy, target: Path, attribute: str) -> None:
    """Writes a taxonomy in the format of the file's ending, whole or not at all."""
    write_text(target, taxonomy_text(taxonomy, target, attribute), "taxonomy")


def convert(source: Path, target: Path, attribute: str | None = None, *, declare: bool = False) -> Taxonomy:
    """Writes the taxonomy of one file into a new one, in the format of its ending.

    The attribute names the tree to take from a `.hchy` file, and the tree in a new one. If a person declares the values
    public, the mark of a draft is left out.
    """
    check_absent(target, "taxonomy")
    taxonomy = read_taxonomy(source, attribute)
    kept = taxonomy.declared() if declare else taxonomy
    write_taxonomy(kept, target, attribute or source.stem)
    return kept
