"""Taxonomy files: ARX csv, the papers' `.hchy`, and the project's own indented trees, read and written without loss.

A `.hchy` file of the papers' authors has an entry for each attribute: a header, such as `name:discrete`, and a tree in
braces. A bar starts a comment; one that begins with `observed:` after a header marks a tree that was drafted from data.
Only the trees of categories are read here, not numbers, class labels (`classes`) and quasi-identifiers (`vid`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from unveil.errors import TaxonomyError, count_text, did_you_mean, listed
from unveil.schema.files import read_text
from unveil.schema.taxonomy import OBSERVED, Branch, Node, Taxonomy

INDENT = 2
NOT_ATTRIBUTES = ("classes", "vid")
"""Entries of a `.hchy` file that are not about an attribute."""
_HEADER = re.compile(r"^\s*([^:{}]+?)\s*:\s*(discrete|continuous)?\s*(?::\s*(\w+))?\s*$")
_TOKEN = re.compile(r"[{}]|[^{}]+")
LINES = 60
"""How many lines a shortened drawing has at most, unless one level alone has more."""
CHILDREN = 12
"""How many branches of a label a shortened drawing shows."""
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]")


def read_taxonomy(path: Path, attribute: str | None = None) -> Taxonomy:
    """Reads the taxonomy of one attribute from `.csv` (ARX), `.hchy` (the papers), or anything else (an indented tree).

    Only a `.hchy` file holds a tree for each of several attributes; if it has only one, the attribute may be omitted.
    """
    return taxonomy_of(read_text(path, "taxonomy", TaxonomyError), path, attribute)


def taxonomy_of(text: str, path: Path, attribute: str | None = None) -> Taxonomy:
    """The taxonomy in a text that is, or may become, the file at this path; its ending says in which format it is."""
    if path.suffix.lower() == ".csv":
        return Taxonomy(_arx_branch(text, path), path.name)
    if path.suffix.lower() == ".hchy":
        return _chosen(text, path, attribute)
    first = text.partition("\n")[0]
    mark = _mark(first.removeprefix("#").strip()) if first.startswith("#") else None
    return Taxonomy(_indented_branch(text, path.name), path.name, mark)


def tree_file(name: str) -> str:
    """The file that a taxonomy drafted for a column has."""
    return "".join(character if character.isalnum() or character in "-_." else "_" for character in name) + ".tree"


class HchyEntry(NamedTuple):
    """An entry of a `.hchy` file."""

    name: str
    number: bool
    """Whether it is about a number; the label of its root is then a range."""
    mark: str | None
    """How the tree was drafted from data, if it was."""
    branch: Branch


def hchy_entries(text: str, path: Path) -> Iterator[HchyEntry]:
    """The entries of a `.hchy` file, by its text."""
    for name, kind, comment, body in _entries(text, path.name):
        yield HchyEntry(name, kind == "continuous", _mark(comment), _braced_branch(body, path.name))


def _chosen(text: str, path: Path, attribute: str | None) -> Taxonomy:
    """The tree of an attribute out of a `.hchy` file; the only one where none is named."""
    entries: dict[str, HchyEntry] = {}
    for entry in hchy_entries(text, path):
        if entry.name in entries:
            raise TaxonomyError(f"{path.name}: the attribute {entry.name!r} appears twice.")
        if entry.name not in NOT_ATTRIBUTES:
            entries[entry.name] = entry
    trees = [name for name, entry in entries.items() if not entry.number]
    name = _name(trees, attribute, path.name)
    return Taxonomy(entries[name].branch, path.name, entries[name].mark)


def _name(trees: list[str], attribute: str | None, origin: str) -> str:
    if attribute is None and len(trees) == 1:
        return trees[0]
    if attribute is None:
        found = f"trees for {listed(trees, 30)}; name one of these attributes." if trees else "no tree."
        raise TaxonomyError(f"{origin}: it has {found}")
    if attribute not in trees:
        hint = did_you_mean(attribute, trees)
        raise TaxonomyError(f"{origin}: it has no tree for the attribute {attribute!r}{hint or '.'}")
    return attribute


def _entries(text: str, origin: str) -> Iterator[tuple[str, str | None, str, str]]:
    """Names and kinds, the comments after them, and the braces that follow them without comments."""
    entries: list[tuple[re.Match[str], str, list[str]]] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        content, _, comment = raw.partition("|")
        line = content.rstrip()
        header = _HEADER.match(line)
        if header:
            entries.append((header, comment.strip(), []))
        elif line and not entries:
            raise TaxonomyError(f"{origin}: line {number}: {line.strip()!r} comes before the first attribute.")
        elif line:
            entries[-1][2].append(line)
    for header, comment, lines in entries:
        yield header[1], header[2], comment, " ".join(lines)


def _braced_branch(body: str, origin: str) -> Branch:
    """The tree in braces. A node without a label, as `vid` has them, gets an empty one."""
    top: Branch = ("", [])
    stack = [top]
    for token in _TOKEN.findall(body):
        if token == "{":  # noqa: S105 - a brace, not a password
            branch: Branch = ("", [])
            stack[-1][1].append(branch)
            stack.append(branch)
        elif token == "}":  # noqa: S105
            if len(stack) == 1:
                raise TaxonomyError(f"{origin}: a closing brace has no opening one, in {body[:40]!r}.")
            stack.pop()
        elif token.strip():
            label, below = stack[-1]
            if label or len(stack) == 1:
                raise TaxonomyError(f"{origin}: {token.strip()!r} is not in its own braces.")
            parent = stack[-2][1]
            stack[-1] = parent[-1] = (token.strip(), below)
    if len(stack) > 1 or len(top[1]) != 1:
        raise TaxonomyError(f"{origin}: the braces of {body[:40]!r} do not make one tree.")
    return top[1][0]


def _mark(comment: str) -> str | None:
    """How a tree was drafted from data, if a comment says so."""
    return comment.removeprefix(OBSERVED).strip() if comment.startswith(OBSERVED) else None


def _arx_branch(text: str, path: Path) -> Branch:
    """ARX csv: one line per leaf, from the leaf to the root."""
    paths: dict[str, list[str]] = {}
    for number, row in enumerate(_rows(text, path.name), start=1):
        # A value that does not change on the next level is the same block; ARX repeats it, a tree does not.
        labels = [label for label, _ in groupby(cell.strip() for cell in row)]
        if not any(labels):
            continue
        if labels[0] in paths:
            raise TaxonomyError(f"{path.name}: line {number}: the leaf {labels[0]!r} appears twice.")
        paths[labels[0]] = labels
    return _joined(list(paths.values()), path.name)


def _rows(text: str, origin: str) -> Iterator[list[str]]:
    try:
        first = next((row for row in csv.reader(io.StringIO(text), delimiter=";") if any(row)), [])
        yield from csv.reader(io.StringIO(text), delimiter=";" if len(first) > 1 else ",")
    except csv.Error as error:
        raise TaxonomyError(f"{origin}: the taxonomy is not csv: {error}.") from error


def _joined(paths: list[list[str]], origin: str) -> Branch:
    """One tree from leaf-to-root paths, in the order of the lines."""
    if not paths:
        raise TaxonomyError(f"{origin}: the taxonomy is empty.")
    roots = list(dict.fromkeys(path[-1] for path in paths))
    if len(roots) > 1:
        raise TaxonomyError(f"{origin}: there are two roots, {roots[0]!r} and {roots[1]!r}.")
    tree: Branch = (roots[0], [])
    branches: dict[tuple[str, ...], Branch] = {(roots[0],): tree}
    for path in paths:
        descent = path[::-1]
        for depth in range(2, len(descent) + 1):
            key = tuple(descent[:depth])
            if key not in branches:
                branches[key] = (key[-1], [])
                branches[key[:-1]][1].append(branches[key])
    return tree


def _indented_branch(text: str, origin: str) -> Branch:
    """The project's own format: a label per line, two spaces of indentation per level, `#` for comments."""
    stack: list[Branch] = []
    root: Branch | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        label = _unquoted(content, f"{origin}: line {number}")
        spaces = len(line) - len(line.lstrip(" "))
        depth, odd = divmod(spaces, INDENT)
        if odd or line[spaces].isspace() or depth > len(stack):
            raise TaxonomyError(f"{origin}: line {number}: {label!r} is not indented by two spaces per level.")
        branch: Branch = (label, [])
        if depth:
            stack[depth - 1][1].append(branch)
        elif root is not None:
            raise TaxonomyError(f"{origin}: there are two roots, {root[0]!r} and {label!r}.")
        else:
            root = branch
        stack[depth:] = [branch]
    if root is None:
        raise TaxonomyError(f"{origin}: the taxonomy is empty.")
    return root


def _unquoted(content: str, place: str) -> str:
    """The label on a line; one that begins with a quote is JSON text."""
    if not content.startswith('"'):
        return content
    try:
        return str(json.loads(content))
    except json.JSONDecodeError as error:
        raise TaxonomyError(f"{place}: {content} begins with a quote but is not a label in JSON quotes.") from error


def with_comments(text: str, before: str) -> str:
    """An edited tree with the comments of the file that it replaces, each above the label it was above.

    A comment whose label is gone moves to the end: somebody wrote it for a reason.
    """
    above: dict[str, list[str]] = {}
    waiting: list[str] = []
    for number, line in enumerate(before.split("\n")):
        content = line.strip()
        if content.startswith("#"):
            waiting += [line] if number or _mark(content.removeprefix("#").strip()) is None else []
        elif content:
            above[content], waiting = waiting, []
    found: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        found += [*above.pop(line.strip(), ()), line]
    return "\n".join([*found, *chain.from_iterable(above.values()), *waiting, ""])


def arx_text(taxonomy: Taxonomy) -> str:
    """ARX csv: one line per leaf, from the leaf to the root. A short path repeats its leaf, as ARX does."""
    if taxonomy.observed is not None:
        raise TaxonomyError(
            f"{taxonomy.origin}: ARX csv cannot hold the mark that the values come from the data; write "
            "a .tree or .hchy file, or declare the values public (--declare)."
        )
    for label in taxonomy.labels:
        if label != label.strip() or "\r" in label or label.startswith("\ufeff"):
            raise TaxonomyError(f"{taxonomy.origin}: the label {label!r} cannot be written in ARX csv.")
    paths = list(_paths(taxonomy.root, ()))
    longest = max(len(path) for path in paths)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for path in paths:
        writer.writerow([path[0]] * (longest - len(path)) + path)
    return text.getvalue()


def hchy_text(taxonomy: Taxonomy, attribute: str) -> str:
    """The papers' format, one entry."""
    for label in taxonomy.labels:
        if label != label.strip() or set(label) & set("{}|\r\n"):
            raise TaxonomyError(f"{taxonomy.origin}: the label {label!r} cannot be written between braces of .hchy.")
    if attribute != attribute.strip() or set(attribute) & set("{}|:\r\n\ufeff") or attribute in ("", "vid", "classes"):
        raise TaxonomyError(f"{taxonomy.origin}: {attribute!r} cannot be the name of an attribute in a .hchy file.")
    mark = "" if taxonomy.observed is None else f" | {OBSERVED} {taxonomy.observed}"
    return f"{attribute}:discrete{mark}\n{_braces(taxonomy.root)}\n"


WRITERS: dict[str, Callable[[Taxonomy, str], str]] = {
    ".tree": lambda taxonomy, attribute: f"{taxonomy}\n",  # the project's own format, which can hold every label
    ".csv": lambda taxonomy, attribute: arx_text(taxonomy),
    ".hchy": hchy_text,
}
"""The writers, by file extension."""


def taxonomy_text(taxonomy: Taxonomy, path: Path, attribute: str) -> str:
    """The text of a taxonomy file in the format that its extension names."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise TaxonomyError(f"{path}: a taxonomy file must end in one of {', '.join(WRITERS)}.")
    return writer(taxonomy, attribute)


def drawn(taxonomy: Taxonomy, *, whole: bool = True) -> Iterator[tuple[str, str, str]]:
    """The tree drawn line by line: the branches, the label, and the number of values below it.

    If not `whole`, only the first of many branches and the levels that fit are drawn, and the rest is counted.
    """
    if whole:
        return _drawn(taxonomy.root, "", "", taxonomy.depth, len(taxonomy.leaves))
    levels = taxonomy.depth
    while levels > 2 and _length(taxonomy.root, levels) > LINES:
        levels -= 1
    return _drawn(taxonomy.root, "", "", levels, CHILDREN)


def _drawn(node: Node, first: str, rest: str, levels: int, most: int) -> Iterator[tuple[str, str, str]]:
    values = node.hi - node.lo
    cut = " …" if node.children and levels == 1 else ""
    yield first, printable(node.label), f"({values:,}){cut}" if node.children else ""
    if levels == 1:
        return
    shown = node.children[: most if len(node.children) > most + 1 else None]
    left = node.children[len(shown) :]
    for child in shown:
        last = child is shown[-1] and not left
        below = rest + ("    " if last else "│   ")
        yield from _drawn(child, rest + ("└── " if last else "├── "), below, levels - 1, most)
    if left:
        yield rest + "└── ", "", f"… {len(left):,} more with {count_text(node.hi - left[0].lo, 'value')}"


def _length(node: Node, levels: int) -> int:
    """How many lines a drawing of this many levels and the first branches takes."""
    if levels == 1:
        return 1
    return 1 + sum(_length(child, levels - 1) for child in node.children[: CHILDREN + 1])


def printable(label: str) -> str:
    """A label with control characters escaped, which could move the cursor or end the line."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", label)


def _paths(node: Node, above: tuple[str, ...]) -> Iterator[list[str]]:
    if not node.children:
        yield [node.label, *above]
    for child in node.children:
        yield from _paths(child, (node.label, *above))


def _braces(node: Node) -> str:
    return "{" + " ".join([node.label, *(_braces(child) for child in node.children)]) + "}"
