"""Rows under trees of boxes, in plain Python: from raw values to labels, as `docs/release.md` says it.

Reads the JSON of a manifest and shares no code with the package. Numbers and categories only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

REST = ", other"


def labels(manifest: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str | None]:
    """The label of every masked attribute of one row; None where nothing covers its value."""
    masking = {name: entry for name, entry in manifest["masking"].items() if entry["kind"] != "released"}
    found = {name: _cut_label(entry, row[name]) for name, entry in masking.items() if not entry.get("local")}
    for tree in manifest.get("boxes", ()):
        held = end(tree, masking, row)[1]
        found |= {
            name: held.get(name, _root(masking[name])) for name in tree["attributes"] if masking[name].get("local")
        }
    return found


def end(tree: Mapping[str, Any], masking: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[int, dict[str, str]]:
    """The node where a row ends, and the labels that were given on the way."""
    node, given = 0, {}
    while tree["order"][node] >= 0:
        split = tree["splits"][tree["order"][node]]
        name = split["attribute"]
        held = [covers(tree, name, masking[name], split, part, row[name]) for part in split["into"]]
        if held.count(True) != 1:
            break
        node = _child(tree, node, held.index(True))
        given[name] = split["into"][held.index(True)]
    return node, given


def covers(
    tree: Mapping[str, Any], name: str, entry: Mapping[str, Any], split: Mapping[str, Any], part: str, value: Any
) -> bool:
    """Whether a part of a split covers a value that its block covers."""
    if part == split["into"][-1] and part in (split["block"], split["block"] + REST):
        others = split["into"][:-1]
        return _known(entry, value) and not any(covers(tree, name, entry, split, other, value) for other in others)
    if entry.get("local"):
        return _covers_alone(entry, part, value)
    return _cut_label(entry, value) in _below(tree, name, part)


def _below(tree: Mapping[str, Any], name: str, label: str) -> set[str]:
    """The labels that a label is refined into, itself among them."""
    found, waiting = {label}, [label]
    while waiting:
        block = waiting.pop()
        for split in tree["splits"]:
            if (split["attribute"], split["block"]) == (name, block):
                fresh = set(split["into"]) - found
                found |= fresh
                waiting += fresh
    return found


def _covers_alone(entry: Mapping[str, Any], label: str, value: Any) -> bool:
    if entry["kind"] == "suppression":
        return bool(value == label)
    block = next(block for block in entry["blocks"] if block["label"] == label)
    return block["from"] <= value < block["to"] if "from" in block else value in block["values"]


def _known(entry: Mapping[str, Any], value: Any) -> bool:
    if entry["kind"] == "suppression":
        return value is not None
    return any(_covers_alone(entry, block["label"], value) for block in entry["blocks"])


def _cut_label(entry: Mapping[str, Any], value: Any) -> str | None:
    if entry["kind"] == "suppression":
        return value if value in entry["disclosed"] else entry["marker"]
    return next((block["label"] for block in entry["blocks"] if _covers_alone(entry, block["label"], value)), None)


def _root(entry: Mapping[str, Any]) -> str:
    return str(entry["marker"] if entry["kind"] == "suppression" else entry["blocks"][0]["label"])


def _child(tree: Mapping[str, Any], node: int, part: int) -> int:
    """The node after `part` whole subtrees that follow a node."""
    node += 1
    for _ in range(part):
        node = after(tree["order"], tree["splits"], node)
    return node


def after(order: Sequence[int], splits: Sequence[Mapping[str, Any]], node: int) -> int:
    """The node that follows a subtree in preorder."""
    open_ = 1
    while open_:
        open_ += len(splits[order[node]]["into"]) - 1 if order[node] >= 0 else -1
        node += 1
    return node
