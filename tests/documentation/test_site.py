"""The site: it builds without a warning and without a network, needs nothing from elsewhere, and misses nothing."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer

import unveil
from decisions import with_decisions
from mirrors import MIRRORS, relinked
from sites import ROOT, build
from unveil.cli.app import app


class Sources(HTMLParser):
    """What a browser fetches to show a page: scripts, styles, images, fonts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.fetched.append(values.get("src") or "")
        if tag == "link" and values.get("rel") != "canonical":
            self.fetched.append(values.get("href") or "")


def elsewhere(text: str) -> list[str]:
    return [source for source in Sources(text).fetched if re.match(r"(https?:)?//", source)]


def test_what_comes_from_elsewhere_is_seen() -> None:
    style, script = (
        '<link rel="stylesheet" href="https://fonts.example/x.css">',
        '<script src="//cdn.example/x.js"></script>',
    )
    assert elsewhere(f'{style}{script}<img src="a">') == ["https://fonts.example/x.css", "//cdn.example/x.js"]


def test_pages_need_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert {page.name: found for page in pages if (found := elsewhere(page.read_text(encoding="utf-8")))} == {}
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_a_broken_link_and_a_forgotten_page_stop_the_build(tmp_path: Path) -> None:
    """A copy of the documentation with planted defects; that the original builds is shown above."""
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs)
    with (docs / "glossary.md").open("a", encoding="utf-8") as page:
        page.write("\n[x](nowhere.md), [y](spec.md#no-such-heading)\n")
    (docs / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    config = tmp_path / "mkdocs.yml"
    moved = f"docs_dir: {docs}\nhooks: [{ROOT / 'pages' / 'hooks.py'}]\nwatch: []\n"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\n{moved}", encoding="utf-8")
    done = build(tmp_path / "site", config)
    assert done.returncode == 1
    for defect in ("'nowhere.md'", "'#no-such-heading'", "forgotten.md"):
        assert defect in done.stderr
    assert done.stderr.count("WARNING") == 3


def below(command: Any) -> list[tuple[str, Any]]:
    """The commands below a command, by name."""
    if not hasattr(command, "list_commands"):
        return []
    context = typer.Context(command)
    return [(name, command.get_command(context, name)) for name in command.list_commands(context)]


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    page = (site / "commands.html").read_text(encoding="utf-8")
    commands = [(f"unveil {name}", command) for name, command in below(typer.main.get_command(app))]
    assert len(commands) >= 8
    while commands:
        name, command = commands.pop()
        assert f"<code>{name}</code>" in page, name
        for option in (option for parameter in command.params for option in parameter.opts if option.startswith("--")):
            assert option in page, (name, option)
        commands += [(f"{name} {word}", one) for word, one in below(command)]


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    names = set(unveil.__all__) - {"__version__"}
    assert {name for name in names if not re.search(rf'id="unveil\.[\w.]*\b{name}"', page)} == set()


def test_every_decision_is_in_the_index_and_in_no_sidebar(site: Path) -> None:
    index, home = ((site / page).read_text(encoding="utf-8") for page in ("decisions/index.html", "index.html"))
    pages = [file.stem for file in (ROOT / "docs" / "decisions").glob("0*.md")]
    assert len(pages) > 20
    assert [page for page in pages if f'<a href="{page}.html">' not in index] == []
    assert "decisions/index.html" in home
    assert "decisions/0" not in home


def test_a_decision_without_its_number_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "0007-x.md").write_text("# 0007: X\n", encoding="utf-8")
    assert "| 0007 | [X](0007-x.md) |" in with_decisions("<!-- decisions: here -->", tmp_path)
    (tmp_path / "0008-y.md").write_text("# 0007: Y\n", encoding="utf-8")
    with pytest.raises(ValueError, match="0008-y"):
        with_decisions("<!-- decisions: here -->", tmp_path)


def test_every_notebook_has_a_page(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    for file in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        assert f"notebooks/{file.stem}.html" in home
    assert (site / "notebooks" / "k-anonymity.ipynb").exists()


def test_links_lead_somewhere_in_the_checkout_too() -> None:
    """Pages are also read in the repository, where nothing is mirrored or generated."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / file for file in MIRRORS if file.endswith(".md"))]
    missing = [
        (page.name, target)
        for page in pages
        for target in re.findall(r"\]\(([^()\s#:]+)(?:#[^()\s]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("guarantees.md", "../SECURITY.md", "security.md"),
        ("security.md", "docs/guarantees.md#known-weaknesses", "guarantees.md#known-weaknesses"),
        ("index.md", "src/unveil/data/adult.toml", "specs/adult.toml"),
        ("how-to/train.md", "../notebooks/k-anonymity.ipynb", "../notebooks/k-anonymity.md"),
        ("decisions/0001-x.md", "0002-x.md", "0002-x.md"),
        ("index.md", "https://example.org/docs/x.md", "https://example.org/docs/x.md"),
        ("index.md", "pyproject.toml", "pyproject.toml"),
    ],
)
def test_links_fit_the_site(page: str, link: str, expected: str) -> None:
    assert relinked(f"see [it]({link}).", page) == f"see [it]({expected})."
