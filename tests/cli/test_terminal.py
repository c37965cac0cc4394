"""Nothing that a file holds can repaint, reorder or hide what a command prints."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from commands import Run
from unveil.characters import hidden_character, is_hidden, look_alikes, visible
from unveil.cli.terminal import Terminal, print_json
from verify.releases import draft, edit_manifest, write_raw

REPAINT = "\x1b[2K\x1b[1Grelease: every claim holds."
HOSTILE = {
    "escape": REPAINT,
    "one-byte control sequence": "\x9b2K",
    "return": "\rrelease: every claim holds.",
    "override": "\u202edloh",
    "isolate": "\u2066x\u2069",
    "zero width": "a\u200bge",
    "tag": "\U000e0041",
    "filler": "\u3164",
    "separator": "a\u2028b",
    "line": "a\nrelease: every claim holds.",
}


def harmless(printed: str) -> bool:
    return not any(is_hidden(character) for line in printed.split("\n") for character in line)


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_verify_prints_a_hostile_key_as_text(run: Run, tmp_path: Path, hostile: str) -> None:
    folder = draft().write(tmp_path / "release")
    edit_manifest(folder, lambda content: content.update({hostile: 1}))
    code, out, err = run("verify", folder)
    assert (code, err) == (1, "")
    assert harmless(out)
    assert all(line.startswith("manifest: ") for line in out.splitlines())
    code, out, _ = run("verify", folder, "--json")
    assert code == 1
    assert harmless(out)
    assert any(hostile in finding["message"] for finding in json.loads(out)["findings"])


@pytest.mark.parametrize("command", ["verify", "report", "check", "publish"])
def test_an_error_is_one_line_of_text(run: Run, tmp_path: Path, command: str) -> None:
    place = tmp_path / f"x{REPAINT}\nunveil: done"
    code, out, err = run(command, place, *(["--to", tmp_path / "r"] if command == "publish" else []))
    assert (code, out) == (2, "")
    assert harmless(err)
    assert err.count("\n") == 1


def test_a_report_of_a_broken_release_is_text(run: Run, tmp_path: Path) -> None:
    folder = draft().write(tmp_path / "release")
    edit_manifest(folder, lambda content: content.update({REPAINT: 1}))
    code, out, _ = run("report", folder)
    assert code == 1
    assert harmless(out)


def test_check_prints_hostile_values_as_text(run: Run, tmp_path: Path) -> None:
    spec = write_raw(tmp_path)
    hostile = tmp_path / "x\x1b[2K.toml"
    hostile.write_text(spec.read_text(encoding="utf-8"), encoding="utf-8")
    code, out, _ = run("check", hostile)
    assert code == 0
    assert harmless(out)
    assert "x\\u001b[2K.toml fits" in out


def test_text_in_tables_and_styles_is_escaped_too() -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    table = Table("name", box=None)
    table.add_row(REPAINT)
    table.add_row(Text(REPAINT, "bold"))
    terminal.print(table)
    terminal.print(Text(REPAINT))
    terminal.print(REPAINT, style="bold")
    assert harmless(terminal.file.getvalue())
    assert terminal.file.getvalue().count("\\u001b[2K") == 4


@given(st.text())
def test_every_text_is_printed_without_hidden_characters(text: str) -> None:
    shown = visible(text)
    assert hidden_character(shown) is None
    assert hidden_character(text) is None or shown != text
    assert visible(shown) == shown


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_reads_back_and_holds_nothing_hidden(facts: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO()
        patch.setattr("sys.stdout", out)
        print_json(facts)
    assert json.loads(out.getvalue()) == facts
    assert harmless(out.getvalue())


def test_no_character_without_ink_is_overlooked() -> None:
    """Format and control characters by their category, and those that Unicode wants ignored though they are letters."""
    by_category = {chr(number) for number in range(0x110000) if unicodedata.category(chr(number)) in ("Cc", "Cf")}
    ignorable = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\ufe0f\uffa0\U000e0100\U000e01ef"
    assert all(map(is_hidden, by_category | set(ignorable)))
    assert not any(map(is_hidden, "aZ0 é漢字ñ⊥·→ǅ\u00a0"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age", "аge"),
        ("HIV", "hiv"),
        ("flu", "fIu"),
        ("flu", "flu "),
        ("a b", "a\u00a0b"),
        ("５", "5"),
        ("corn", "com"),
    ],
)
def test_look_alikes_are_seen(one: str, other: str) -> None:
    assert look_alikes([one, "something else", other]) == [tuple(sorted([one, other]))]


def test_different_words_are_not_look_alikes() -> None:
    assert look_alikes(["male", "female", "[17, 37)", "[37, 91)", "9th", "10th", "11th", "é", "e", "⊥"]) == []
