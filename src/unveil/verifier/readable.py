"""No name or label of a release holds characters that a reader cannot see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from unveil.characters import hidden_character, hidden_in_value
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.holdings import value_texts
from unveil.verifier.manifest import Manifest
from unveil.verifier.parts import MANIFEST, PARQUET, Generalization, Masked, Released, Suppression
from unveil.verifier.private import DiffGenManifest


def check_texts(manifest: Manifest) -> Iterator[Finding]:
    """What the manifest says: the names of columns, the labels of cuts, the classes and what requirements name."""
    yield from _hidden(MANIFEST, "the column", manifest.names)
    for name, entry in manifest.masking.items():
        if isinstance(entry, Released):
            continue
        labels, raw = _labels(entry), _raw(entry)
        yield from _hidden(MANIFEST, f"the cut of {name!r} has", [label for label in labels if label not in raw])
        yield from _hidden(MANIFEST, f"the cut of {name!r} has", sorted(raw), hidden_in_value)
    if isinstance(manifest, DiffGenManifest):
        yield from _hidden(MANIFEST, "the class label", manifest.classes)
        return
    for number, stated in enumerate(manifest.requirements, start=1):
        yield from _hidden(MANIFEST, f"requirement {number} names", _texts(stated))


def check_values(manifest: Manifest, data: Data) -> Iterator[Finding]:
    """The values of the class and of sensitive columns, which are counted as different where they look the same."""
    if isinstance(manifest, DiffGenManifest):
        return
    named = {str(stated.get("sensitive")) for stated in manifest.requirements}
    for name in [*(name for name in manifest.masking if name in named), manifest.class_]:
        yield from _hidden(PARQUET, f"the column {name!r} holds", filter(None, value_texts(data.columns[name])))


def _labels(entry: Masked) -> list[str]:
    return [entry.marker] if isinstance(entry, Suppression) else [block.label for block in entry.blocks]


def _raw(entry: Masked) -> frozenset[str]:
    """The raw values that a cut lists. Tabs and line breaks are data in these."""
    if isinstance(entry, Suppression):
        return frozenset(entry.disclosed)
    if isinstance(entry, Generalization):
        return frozenset(value for block in entry.blocks for value in block.values)
    return frozenset()


def _hidden(
    file: str, what: str, texts: Iterable[str], find: Callable[[str], str | None] = hidden_character
) -> Iterator[Finding]:
    """The first text with a hidden character."""
    for text in texts:
        if found := find(text):
            yield Finding("characters", f"{file}: {what} {text!r}, with the character {found}, which is not seen.")
            return


def _texts(content: object) -> Iterator[str]:
    """All texts in a requirement, whatever its shape."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)
