"""The commands `taxonomy draft`, `taxonomy show` and `taxonomy convert`, and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from unveil.cli.terminal import Json, Terminal, console, print_json, print_text, watched
from unveil.errors import count_text, listed, rows_text

if TYPE_CHECKING:
    from unveil.drafts import Draft
    from unveil.schema import Node, Taxonomy

Declare = Annotated[
    bool, typer.Option("--declare", help="Say that the values are public knowledge: write no 'observed:' mark.")
]

commands = typer.Typer(
    name="taxonomy", add_completion=False, no_args_is_help=True, help="Draft, draw and convert taxonomies."
)


@commands.command()
def draft(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A table: csv or parquet.")],
    attribute: Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="One of its columns.")],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="WAY", help="dates, bands, diagnoses, countries, prefix, numbers or frequency; guessed if omitted."
        ),
    ] = None,
    above: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column whose values are above it; repeatable, the coarsest first."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write it here: .tree, .csv (ARX) or .hchy.")
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text that means missing, instead of the usual ones; repeatable."),
    ] = None,
    declare: Declare = False,
    as_json: Json = False,
) -> None:
    """Propose a taxonomy for a column."""
    from unveil.drafts import draft as run
    from unveil.release import check_absent
    from unveil.workflow.taxonomy import write_taxonomy

    if to is not None:
        check_absent(to, "taxonomy")
    with watched() as progress:
        progress(f"reading {table.name}", 0, None)
        found = run(table, attribute, by, missing, above or ())
    taxonomy = found.taxonomy.declared() if declare else found.taxonomy
    if to is not None:
        write_taxonomy(taxonomy, to, attribute)
    if as_json:
        print_json({**_draft_facts(found), **_facts(taxonomy)})
    elif to is None:
        print_text(f"{taxonomy}\n")
        _say_guess(Terminal(stderr=True), found)
    else:
        _say_guess(console, found)
        draw(console, taxonomy, whole=False)
        _say_next(console, taxonomy, found, to)


@commands.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A taxonomy: .tree, .csv (ARX) or .hchy.")],
    attribute: Annotated[str | None, typer.Argument(metavar="ATTRIBUTE", help="Which tree of a .hchy file.")] = None,
    whole: Annotated[bool, typer.Option("--all", help="Draw every label of a long tree.")] = False,
    as_json: Json = False,
) -> None:
    """Draw a taxonomy."""
    from unveil.schema import read_taxonomy

    taxonomy = read_taxonomy(file, attribute)
    if as_json:
        print_json(_facts(taxonomy))
        return
    draw(console, taxonomy, whole=whole)
    console.print(f"{taxonomy.origin}: {_size(taxonomy)}.")
    if taxonomy.observed is not None:
        console.print(f"Observed: {taxonomy.observed}.", style="yellow")


@commands.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A taxonomy: .tree, .csv (ARX) or .hchy.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The file to write; must not exist.")],
    attribute: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which tree to read from a .hchy file, or its name in a new one.")
    ] = None,
    declare: Declare = False,
    as_json: Json = False,
) -> None:
    """Write a taxonomy in another format, without loss."""
    from unveil.workflow.taxonomy import convert as run

    taxonomy = run(source, target, attribute, declare=declare)
    if as_json:
        print_json(_facts(taxonomy))
    else:
        name = f" as the attribute {attribute or source.stem!r}" if target.suffix.lower() == ".hchy" else ""
        console.print(f"{source} was written to {target}{name}: {_size(taxonomy)}.")


def draw(console: Console, taxonomy: Taxonomy, *, whole: bool) -> None:
    """Draws a tree, with lines and counts dimmed and inner labels highlighted."""
    from unveil.schema import drawn

    lines = list(drawn(taxonomy, whole=whole))
    for branches, label, count in lines:
        text = Text(branches, style="dim").append(label, "not dim bold cyan" if count and label else "not dim")
        console.print(text.append("  " * bool(label) + count, "dim") if count else text)
    shown = sum(bool(label) for _, label, _ in lines)
    if shown < len(taxonomy.labels):
        console.print(
            f"{shown:,} of {len(taxonomy.labels):,} labels shown; `unveil taxonomy show --all` draws all of them."
        )


def _size(taxonomy: Taxonomy) -> str:
    values, labels = count_text(len(taxonomy.leaves), "value"), count_text(len(taxonomy.inner_labels), "label")
    return f"{values} under {labels}, {taxonomy.depth} levels"


def _say_guess(console: Console, found: Draft) -> None:
    from unveil.schema import printable

    values = found.values
    console.print(printable(f"{values.origin}: {values.attribute!r} is drafted by {found.by}: {found.reason}."))
    if values.missing_rows:
        marks = f" ({listed(values.missing)})" if values.missing else ""
        console.print(f"Left out as missing: {rows_text(values.missing_rows)}{marks}.")


def _say_next(console: Console, taxonomy: Taxonomy, found: Draft, to: Path) -> None:
    console.print(
        f'Written to {to}: {_size(taxonomy)}. In a spec: kind = "category", taxonomy = {json.dumps(to.name)}.'
    )
    if taxonomy.observed is not None:
        console.print(
            f"Its values come from {found.values.origin}, and a release lists the values of every label. The mark "
            "'observed:' in the file says so; differential privacy refuses the file until you remove the mark.",
            style="yellow",
        )


def _draft_facts(found: Draft) -> dict[str, Any]:
    values = found.values
    return {
        "table": values.origin,
        "attribute": values.attribute,
        "by": found.by,
        "reason": found.reason,
        "missing": list(values.missing),
        "missing_rows": values.missing_rows,
    }


def _facts(taxonomy: Taxonomy) -> dict[str, Any]:
    return {
        "observed": taxonomy.observed,
        "values": len(taxonomy.leaves),
        "labels": len(taxonomy.labels),
        "levels": taxonomy.depth,
        "tree": _nested(taxonomy.root),
    }


def _nested(node: Node) -> dict[str, Any]:
    below = {"children": [_nested(child) for child in node.children]} if node.children else {}
    return {"label": node.label, "values": node.hi - node.lo, **below}
