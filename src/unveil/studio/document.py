"""The document behind a page: the text of a spec, the taxonomies that it names, and what was undone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

from unveil.errors import SpecError, TaxonomyError, UnveilError
from unveil.schema import (
    Branch,
    Node,
    Spec,
    Taxonomy,
    read_taxonomy,
    spec_of,
    taxonomy_of,
    toml_of,
    tree_file,
    with_comments,
)
from unveil.schema.files import read_text
from unveil.studio.edits import OPERATIONS, is_guess
from unveil.studio.paths import fresh
from unveil.workflow.bundle import PAGE, PRIVATE_PAGE, RELEASE

UNDONE = 200
"""This many edits can be undone."""


@dataclass(frozen=True)
class Version:
    """A spec as it is at one moment, with the taxonomies that are not in files yet."""

    text: str
    trees: Mapping[str, Taxonomy] = field(default_factory=dict)
    """By the column that each belongs to."""


class Document:
    """A spec that is edited. Nothing of it is written here."""

    def __init__(self, text: str, path: Path, *, saved: bool = True) -> None:
        """Takes the text of a spec; the path is where it is, or would be if it is not `saved`."""
        self.path = path
        self._held: dict[Path, str | None] = {path: text if saved else None}
        """What the files that publishing replaces said when they were read; None for one that did not exist."""
        self._versions, self._place = [Version(text)], 0
        self._gesture: str | None = None
        self._named = set(_paths(toml_of(text, path)))
        """Files that it named when it was opened, wherever they are."""
        self._tree: tuple[Version, tomlkit.TOMLDocument] | None = None
        """The parsed text of a version: to parse it takes longer than to edit it."""
        self._spec: tuple[Version, Spec] | None = None

    @property
    def version(self) -> Version:
        """The spec as it is now."""
        return self._versions[self._place]

    @property
    def undoable(self) -> int:
        """How many edits can be undone."""
        return self._place

    @property
    def redoable(self) -> int:
        """How many undone edits can be done again."""
        return len(self._versions) - 1 - self._place

    def edit(self, operation: Mapping[str, Any], gesture: str | None = None) -> None:
        """Performs an edit, or refuses it. Those of one gesture, such as the way of a slider, are undone together."""
        words = dict(operation)
        name = words.pop("do", None)
        try:
            version = self._edited(str(name), words)
        except (TypeError, KeyError, ValueError, TOMLKitError) as error:
            raise SpecError(f"{self.path.name}: the edit {name!r} cannot be made: {error}.") from error
        self._check_paths(version)
        if gesture is None or gesture != self._gesture:
            self._versions = self._versions[max(0, self._place - UNDONE) : self._place + 1]
            self._versions.append(version)
            self._place = len(self._versions) - 1
        else:
            self._versions[self._place :] = [version]
        self._gesture = gesture

    @contextmanager
    def whole(self) -> Iterator[Document]:
        """Edits that are made all or not at all."""
        before = list(self._versions), self._place, self._gesture
        try:
            yield self
        except UnveilError:
            self._versions, self._place, self._gesture = before
            raise

    def undo(self) -> None:
        """Goes back by an edit."""
        self._place, self._gesture = max(0, self._place - 1), None

    def redo(self) -> None:
        """Does again what was undone."""
        self._place, self._gesture = min(len(self._versions) - 1, self._place + 1), None

    def spec(self) -> Spec:
        """The spec, if it breaks no rule."""
        if self._spec is not None and self._spec[0] is self.version:
            return self._spec[1]
        content = self.content()
        sections = content.get("attributes")
        for column, tree in self.version.trees.items():
            if isinstance(sections, dict) and "taxonomy" in sections.get(column, {}):
                sections[column]["taxonomy"] = tree
        checked = spec_of(content, self.path)
        self._spec = self.version, checked
        return checked

    def content(self) -> dict[str, Any]:
        """What the text says."""
        return toml_of(self.version.text, self.path)

    def guesses(self) -> list[str]:
        """The columns whose section, or whose part as the class, is marked as a guess."""
        parsed = self._parsed()
        table, sections = parsed.get("table", {}), parsed.get("attributes", {})
        found = [name for name in sections if is_guess(sections, name)]
        found += [str(table["class"])] if "class" in table and is_guess(table, "class") else []
        people = table.get("person", ())
        found += [people] if isinstance(people, str) and is_guess(table, "person") else []
        return found

    def tree(self, column: str) -> Taxonomy | None:
        """The taxonomy of a column, edited or as its file has it."""
        named = self.content().get("attributes", {}).get(column, {}).get("taxonomy")
        if not isinstance(named, str):
            return None
        return self.version.trees.get(column) or read_taxonomy(self.path.parent / named, column)

    def files(self) -> dict[Path, str]:
        """What publishing writes before it makes a release: the taxonomies that changed, and the spec."""
        sections = self.content().get("attributes", {})
        trees = {
            path: with_comments(f"{tree}\n", self._held.get(path) or "")
            for column, tree in self.version.trees.items()
            if isinstance(sections.get(column, {}).get("taxonomy"), str)
            and (path := self.path.parent / sections[column]["taxonomy"])
        }
        return {**trees, self.path: self.version.text}

    def before(self) -> dict[Path, str | None]:
        """What these files must still say when they are written: another text is somebody else's work."""
        return {path: self._held.get(path) for path in self.files()}

    def saved(self, files: Mapping[Path, str]) -> None:
        """Takes note of what these files say now."""
        self._held.update(files)

    def commands(self, to: str) -> list[str]:
        """The command line that makes the same release, with both pages about it."""
        spec, folder = self.path.name, f"{to}/{RELEASE}"
        return [
            shlex.join(words)
            for words in (
                ("mkdir", to),
                ("unveil", "publish", spec, "--to", folder),
                ("unveil", "verify", folder, "--raw", spec),
                ("unveil", "report", folder, "--to", f"{to}/{PAGE}"),
                ("unveil", "report", folder, "--owner", spec, "--to", f"{to}/{PRIVATE_PAGE}"),
            )
        ]

    def _edited(self, name: str, words: dict[str, Any]) -> Version:
        trees = dict(self.version.trees)
        if name == "text":
            return Version(str(words["text"]), trees)
        parsed = self._parsed()
        self._tree = None  # an edit that fails leaves it half-edited
        if name == "taxonomy":
            column, tree = str(words["column"]), words["tree"]
            trees.pop(column, None)
            if tree is None:
                OPERATIONS["unset"](parsed, path=["attributes", column, "taxonomy"])
            else:
                OPERATIONS["kind"](parsed, column=column, word="category")
                OPERATIONS["unset"](parsed, path=["attributes", column, "values"])
                trees[column] = tree if isinstance(tree, Taxonomy) else _taxonomy(tree, column, words.get("observed"))
                file = self._file_of(column, parsed)
                self._hold(self.path.parent / file)
                OPERATIONS["set"](parsed, path=["attributes", column, "taxonomy"], value=file)
        elif name in OPERATIONS:
            OPERATIONS[name](parsed, **words)
        else:
            raise SpecError(f"{self.path.name}: there is no edit {name!r}.")
        version = Version(tomlkit.dumps(parsed), trees)
        self._tree = version, parsed
        return version

    def _hold(self, path: Path) -> None:
        """Remembers what a taxonomy file says before it is edited for the first time."""
        if path not in self._held:
            self._held[path] = read_text(path, "taxonomy", TaxonomyError) if path.exists() else None

    def _parsed(self) -> tomlkit.TOMLDocument:
        if self._tree is None or self._tree[0] is not self.version:
            try:
                self._tree = self.version, tomlkit.parse(self.version.text)
            except ParseError as error:
                raise SpecError(f"{self.path.name}: the spec is not TOML: {error}.") from error
        return self._tree[1]

    def _file_of(self, column: str, parsed: Mapping[str, Any]) -> str:
        """Where the taxonomy of a column goes: its own `.tree` file, or a new one that nothing else has."""
        sections = parsed["attributes"]
        named = sections[column].get("taxonomy")
        if isinstance(named, str) and named.endswith(".tree"):
            return str(named)
        taken = {str(item.get("taxonomy")) for name, item in sections.items() if name != column}
        return fresh(self.path.parent / tree_file(column), taken).name

    def _check_paths(self, version: Version) -> None:
        """Refuses a file outside the folder of the spec, unless the spec named it when it was opened."""
        folder = self.path.parent.resolve()
        try:
            content = toml_of(version.text, self.path)
        except SpecError:
            return  # a text that is not TOML names no file; reading it says what is wrong
        for name in _paths(content):
            if name not in self._named and not (folder / name).resolve().is_relative_to(folder):
                raise SpecError(f"{self.path.name}: {name!r} is outside the folder {folder.name!r} of the spec.")


def branch_of(node: Node) -> dict[str, Any]:
    """A tree for a page."""
    return {"label": node.label, "children": [branch_of(child) for child in node.children]}


def imported(text: str, name: str, column: str) -> Taxonomy:
    """The taxonomy in the text of a file; its name says in which format it is."""
    return taxonomy_of(text, Path(Path(name).name or "taxonomy.tree"), column)


def _taxonomy(tree: Any, column: str, observed: Any) -> Taxonomy:
    """A tree from a page."""
    return Taxonomy(_branch(tree, 0), column, str(observed) if observed else None)


def _branch(tree: Any, depth: int) -> Branch:
    if not isinstance(tree, Mapping) or not isinstance(tree.get("label"), str) or depth > 200:
        raise TaxonomyError("a tree has a label and branches below it.")
    return tree["label"], [_branch(child, depth + 1) for child in tree.get("children") or ()]


def _paths(content: Mapping[str, Any]) -> Iterator[str]:
    """The files that a spec names."""
    table, sections = content.get("table"), content.get("attributes")
    if isinstance(table, Mapping) and isinstance(table.get("source"), str):
        yield table["source"]
    for section in sections.values() if isinstance(sections, Mapping) else ():
        for key in ("taxonomy", "labels"):
            if isinstance(section, Mapping) and isinstance(section.get(key), str):
                yield section[key]
