"""The reference of the command line, written from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import typer

HEAD = """\
# The command line

What `unveil --help` and the help of each command say. [Exit codes, errors and JSON](exit-codes.md) says how they end.
"""


def command_page() -> str:
    """The page: every command with all that can be said to it."""
    from unveil.cli.app import app

    root = typer.main.get_command(app)
    return "\n".join([HEAD, *_section(root, typer.Context(root, info_name="unveil"))])


def _section(command: Any, context: typer.Context) -> Iterator[str]:
    """A command, and after it the commands below it."""
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    yield f"## `{context.command_path}`\n"
    yield f"{(command.help or '').strip()}\n"
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```\n"
    yield from _parameters(command, context)
    for name in names:
        if not (one := command.get_command(context, name)).hidden:
            yield from _section(one, typer.Context(one, info_name=name, parent=context))


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    yield "| argument or option | meaning |"
    yield "|---|---|"
    for names, meaning in filter(None, records):
        yield f"| `{_cell(names)}` | {escape(_cell(meaning), quote=False)} |"
    yield ""


def _cell(text: str) -> str:
    """A text in one line, without the sign that parts cells."""
    return " ".join(text.split()).replace("|", "\\|")
