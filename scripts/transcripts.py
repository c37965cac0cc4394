"""Run the commands that the documentation shows, and compare what they print, or write it down.

    python scripts/transcripts.py                    compares all pages; exit code 1 and a diff where one is stale
    python scripts/transcripts.py --write            runs them and writes down what they print
    python scripts/transcripts.py docs/tutorial.md   only these pages

A transcript is a page with fenced blocks of the kind `console`: lines that begin with `$ ` are commands, lines right
after one that begin with `> ` continue it, and what follows is what it prints. All blocks of a page run one after the
other in a folder of their own. A block of another kind with a title, such as `toml title="people.toml"`, is a file: it
is written into that folder when the page comes to it.

A comment on the line before a `console` block says what is special about it, several things with commas between them:

    <!-- transcript: drawn -->        it is run, but what it prints is random, so it is not compared
    <!-- transcript: figures -->      numbers and hashes depend on versions of other libraries: only words are compared
    <!-- transcript: needs NAME -->   it reads data that is not bundled: it is run only where DATA has a file or folder
                                      of this name, which is then found in the folder of the page under the same name

DATA is the folder that `--data` names; by default `shared/data` next to the checkout.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
BLOCK = re.compile(
    r"(?:^<!-- transcript: (?P<mark>[^\n]*?) -->\n)?^```(?P<kind>[\w-]+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MARKS = ("drawn", "figures")
FIGURE = re.compile(r"\b[0-9a-f]{64}\b|[\d.,]+")
"""Numbers and the hashes of files."""
WIDTH = "100"
"""How many characters a line of a table may have."""


class TranscriptError(Exception):
    """A page that cannot be run as it is."""


@dataclass(frozen=True)
class Spoken:
    """A command of a block as the page has it, with its marks of a prompt."""

    lines: tuple[str, ...]

    @property
    def command(self) -> str:
        """What a shell gets."""
        return "\n".join(line[2:] for line in self.lines)


def main() -> int:
    """Compares or writes the pages that are named."""
    parser = argparse.ArgumentParser(description="Run the commands that the documentation shows.")
    parser.add_argument("pages", nargs="*", type=Path, help="Markdown files; all of docs if none is named.")
    parser.add_argument("--write", action="store_true", help="Write down what the commands print.")
    parser.add_argument("--data", type=Path, default=DATA, help="Where data lies that is not bundled.")
    arguments = parser.parse_args()
    stale = False
    for page in arguments.pages or transcripts():
        before = page.read_text(encoding="utf-8")
        try:
            after = rerun(before, arguments.data, keep=not arguments.write)
        except TranscriptError as error:
            print(f"{page}: {error}", file=sys.stderr)
            return 2
        if arguments.write and after != before:
            page.write_text(after, encoding="utf-8")
        elif after != before:
            stale = True
            sys.stdout.writelines(_difference(before, after, str(page)))
    return int(stale)


def transcripts() -> list[Path]:
    """The pages of the documentation that show commands."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in pages if "```console\n" in page.read_text(encoding="utf-8")]


def rerun(text: str, data: Path, *, keep: bool) -> str:
    """The text of a page with what its commands print today.

    Args:
        text: The page.
        data: Where data lies that is not bundled.
        keep: Keep what the page has where it may differ: random output, and figures whose words are the same.
    """
    with tempfile.TemporaryDirectory(prefix="transcript-") as name:
        folder = Path(name)

        def block(found: re.Match[str]) -> str:
            if found["kind"] != "console":
                if found["title"]:
                    (folder / found["title"]).write_text(found["body"], encoding="utf-8")
                return found[0]
            body = _console(found["body"], found["mark"] or "", folder, data, keep)
            return found[0].replace(found["body"], body, 1) if found["body"] else found[0]

        return BLOCK.sub(block, text)


def _console(body: str, mark: str, folder: Path, data: Path, keep: bool) -> str:
    """A block run again."""
    marks = [word.strip() for word in mark.split(",") if word]
    for word in marks:
        if word.startswith("needs "):
            if not _found(word.removeprefix("needs "), folder, data):
                return body
        elif word not in MARKS:
            raise TranscriptError(f"a transcript cannot be {word!r}.")
    after = "".join(_spoken_and_printed(body, folder))
    same = "drawn" in marks or ("figures" in marks and _words(after) == _words(body))
    return body if keep and same else after


def _found(name: str, folder: Path, data: Path) -> bool:
    """Whether data that is not bundled is here; then it is linked into the folder of the page."""
    if not (data / name).exists():
        return False
    if not (folder / name).exists():
        (folder / name).symlink_to((data / name).resolve())
    return True


def _spoken_and_printed(body: str, folder: Path) -> Iterator[str]:
    commands = list(_commands(body))
    for place, spoken in enumerate(commands):
        yield "\n".join(spoken.lines) + "\n"
        printed = _run(spoken.command, folder)
        yield printed
        if printed and place + 1 < len(commands):
            yield "\n"


def _commands(body: str) -> Iterator[Spoken]:
    lines = body.splitlines()
    if not lines or not lines[0].startswith("$ "):
        raise TranscriptError("a block of the kind 'console' begins with a command: a line that begins with '$ '.")
    current: list[str] = []
    for line in lines:
        if line.startswith("$ "):
            if current:
                yield Spoken(tuple(current))
            current, open_ = [line], True
        elif open_ and (line == ">" or line.startswith("> ")):
            current.append(line)
        else:
            open_ = False
    yield Spoken(tuple(current))


def _run(command: str, folder: Path) -> str:
    """What a command prints on a terminal without colours, errors with the rest."""
    paths = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(paths),
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": WIDTH,
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(  # noqa: S603 - the commands are those of our own pages
        ["bash", "-c", command],  # noqa: S607
        cwd=folder,
        env=environment,
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def _words(text: str) -> list[str]:
    """What a page says apart from its figures."""
    return FIGURE.sub("0", text).split()


def _difference(before: str, after: str, page: str) -> Iterator[str]:
    return difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), page, f"{page}, run again"
    )


if __name__ == "__main__":
    sys.exit(main())
