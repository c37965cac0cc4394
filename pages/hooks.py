"""What the site has beyond the files in `docs`: hooks that MkDocs calls while it builds (`mkdocs.yml`)."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from decisions import INDEX, with_decisions
from mirrors import MIRRORS, ROOT, relinked
from notebook import notebook_page
from reference import command_page

COMMANDS = "commands.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are outside `docs` and those that are made from code and notebooks."""
    for file, page in MIRRORS.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / file)))
    files.append(File.generated(config, COMMANDS, content=command_page()))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = file.src_uri.replace(".ipynb", ".md")
        files.append(File.generated(config, page, content=notebook_page(Path(str(file.abs_src_path)))))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lists the decisions in their index, and makes links fit the site."""
    if page.file.src_uri == INDEX:
        markdown = with_decisions(markdown, Path(config.docs_dir, INDEX).parent)
    return relinked(markdown, page.file.src_uri)
