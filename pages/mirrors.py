"""Files outside `docs` that are pages of the site too, without a copy of them.

A link in a Markdown file is relative to the file. It is resolved in the checkout here, where a reader of the repository
follows it, and written again relative to the place of the page in the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs/"
MIRRORS = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "LICENSE.txt",
    "src/unveil/data/LICENSE-DATA.md": "data.md",
    "src/unveil/data/adult.toml": "specs/adult.toml",
    "src/unveil/data/adult-templates.toml": "specs/adult-templates.toml",
    "src/unveil/data/adult-private.toml": "specs/adult-private.toml",
}
"""The place of each file in the checkout, and in the site."""
SOURCES = {page: file for file, page in MIRRORS.items()}
LINK = re.compile(r"\]\((?P<path>[^()\s#:]+)(?P<anchor>#[^()\s]*)?\)")


def source_of(page: str) -> str:
    """The file in the checkout that a page of the site comes from."""
    return SOURCES.get(page, DOCS + page)


def page_of(file: str) -> str | None:
    """The place in the site of a file in the checkout; None for a file that is not there."""
    if file.startswith(DOCS):
        return file.removeprefix(DOCS)
    return MIRRORS.get(file)


def relinked(markdown: str, page: str) -> str:
    """The text of a page with its links as the site needs them.

    A link that leads to no page is left as it is, so that the strict build finds it.
    """

    def link(found: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page)), found["path"]))
        target = page_of(file)
        if target is None:
            return found[0]
        path = posixpath.relpath(target.replace(".ipynb", ".md"), posixpath.dirname(page) or ".")
        return f"]({path}{found['anchor'] or ''})"

    return LINK.sub(link, markdown)
