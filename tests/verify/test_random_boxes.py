"""Random local releases, grown by a plain search in this file: every one of them holds, and a moved row is found.

And manifests with random defects: verification ends, and reports each.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import UnveilError
from unveil.schema import load_spec
from verdicts import verify_against_raw, verify_release
from verify.local_releases import JOINT, LOCAL, SHARED, dropped_draft, local_draft, masked_draft, shared_draft
from verify.releases import FITTING, Draft, write_manifest, write_raw

CHILDREN = {
    "Any": ["Office", "Field", "None"],
    "Office": ["Clerk", "Sales", "Temp"],
    "Field": ["Farm", "Mine"],
    "Mine": ["Coal", "Salt"],
    "None": ["Retired"],
}
SEXES = ["a", "b", "c"]
SETS = [[["n", "job", "s"]], [["n", "s"], ["job", "s"]], [["n", "job"], ["job", "s"]], [["n", "job"], ["n", "s"]]]
SPEC = """
[table]
source = "raw.csv"
class = "y"
[attributes.n]
kind = "number"
range = [0, 16]
whole = true
[attributes.job]
kind = "category"
taxonomy = "job.tree"
[attributes.s]
kind = "category"
[publish]
search = "joint"
recoding = "local"
"""


def leaves(label: str) -> list[str]:
    return [leaf for child in CHILDREN[label] for leaf in leaves(child)] if label in CHILDREN else [label]


@dataclass(frozen=True)
class Block:
    """A label and what it covers at its node."""

    label: str
    covers: frozenset[Any]


ROOTS = {
    "n": Block("[0, 16)", frozenset(range(16))),
    "job": Block("Any", frozenset(leaves("Any"))),
    "s": Block("⊥", frozenset(SEXES)),
}


@dataclass
class Node:
    box: dict[str, Block]
    attribute: str = ""
    children: list[Node] = field(default_factory=list)

    def walk(self) -> list[Node]:
        return [self, *(node for child in self.children for node in child.walk())]

    def ends(self) -> list[Node]:
        return [node for node in self.walk() if not node.children]

    def split(self, attribute: str, parts: list[Block]) -> None:
        self.attribute = attribute
        self.children = [Node({**self.box, attribute: part}) for part in parts]


def refinements(attribute: str, block: Block, held: set[Any]) -> list[list[Block]]:
    """All ways to refine a block."""
    if attribute == "n":
        values = sorted(block.covers)
        lo, hi = values[0], values[-1] + 1
        return [
            [Block(f"[{a}, {b})", frozenset(range(a, b))) for a, b in ((lo, point), (point, hi))]
            for point in range(lo + 1, hi)
        ]
    if attribute == "s":
        rests = [[Block(value, frozenset({value})), Block("⊥", block.covers - {value})] for value in sorted(held)]
        return rests if block.label == "⊥" else []
    node = block.label.removesuffix(", other")
    parts = [Block(child, frozenset(leaves(child))) for child in CHILDREN.get(node, ())]
    parts = [part for part in parts if part.covers <= block.covers]
    peeled = [[part, Block(f"{node}, other", block.covers - part.covers)] for part in parts] if parts[1:] else []
    return [*peeled, *([parts] if parts else [])]


def grown(sets: list[list[str]], rows: list[dict[str, Any]], steps: int, draw: random.Random) -> list[Node]:
    trees = [Node({name: ROOTS[name] for name in names}) for names in sets]
    for _ in range(steps):
        tree = draw.choice(trees)
        node = draw.choice(tree.ends())
        name = draw.choice(list(node.box))
        shared = sum(name in names for names in sets) > 1
        inside = [row for row in rows if shared or all(row[key] in block.covers for key, block in node.box.items())]
        held = {row[name] for row in inside if row[name] in node.box[name].covers}
        if ways := refinements(name, node.box[name], held):
            parts, block = draw.choice(ways), node.box[name]
            same = [end for tree in trees for end in tree.ends() if end.box.get(name) == block] if shared else [node]
            for end in same:
                end.split(name, parts)
    return trees


def described(tree: Node) -> dict[str, Any]:
    splits: list[dict[str, Any]] = []
    order = []
    for node in tree.walk():
        if not node.children:
            order.append(-1)
            continue
        into = [child.box[node.attribute].label for child in node.children]
        split = {"attribute": node.attribute, "block": node.box[node.attribute].label, "into": into}
        if split not in splits:
            splits.append(split)
        order.append(splits.index(split))
    return {"attributes": list(tree.box), "splits": splits, "order": order}


def entry(name: str, trees: list[Node], shared: bool) -> dict[str, Any]:
    nodes = [node for tree in trees if name in tree.box for node in (tree.ends() if shared else tree.walk())]
    blocks = {node.box[name].label: node.box[name].covers for node in nodes}
    local = {} if shared else {"local": True}
    if name == "s":
        disclosed = [value for value in SEXES if value in blocks]
        return {"kind": "suppression", "domain": "observed", **local, "disclosed": disclosed, "marker": "⊥"}
    if name == "n":
        ends = sorted((min(held), -max(held) - 1, label) for label, held in blocks.items())
        return {
            "kind": "discretization",
            "domain": "declared",
            **local,
            "whole": True,
            "blocks": [{"label": label, "from": lo, "to": -hi} for lo, hi, label in ends],
        }
    listed = []
    for label in tree_order("Any"):
        held = blocks.get(label, frozenset()) if shared else frozenset(leaves(label.removesuffix(", other")))
        if label in blocks:
            values = [leaf for leaf in leaves("Any") if leaf in held]
            rest = {"rest": True} if label.endswith(", other") and not shared else {}
            listed.append({"label": label, "values": values, **rest})
    if shared:
        listed.sort(key=lambda block: leaves("Any").index(block["values"][0]))
    return {"kind": "generalization", "domain": "declared", **local, "blocks": listed}


def tree_order(label: str) -> list[str]:
    below = [inner for child in CHILDREN.get(label, ()) for inner in tree_order(child)]
    return [label, f"{label}, other", *below]


def release(sets: list[list[str]], trees: list[Node], rows: list[dict[str, Any]]) -> Draft:
    masking = {name: entry(name, trees, sum(name in names for names in sets) > 1) for name in ("n", "job", "s")}
    released = []
    for row in rows:
        labels: dict[str, str] = {}
        for tree in trees:
            [leaf] = [end for end in tree.ends() if all(row[name] in block.covers for name, block in end.box.items())]
            labels |= {name: block.label for name, block in leaf.box.items()}
        released.append((labels["n"], labels["job"], labels["s"], row["y"]))
    requirements = [{"kind": "k-anonymity", "quasi-identifier": names, "k": 1} for names in sets]
    manifest = {
        "schema_version": 1,
        "unveil_version": "0.2.0",
        "method": "refinement",
        "guarantee": FITTING,
        "class": "y",
        "weight": None,
        "requirements": requirements,
        "masking": masking,
        "rows": {"read": len(rows), "dropped": 0, "released": len(rows)},
        "records": len(rows),
        "search": "joint",
        "recoding": "local",
        "boxes": [described(tree) for tree in trees],
        "files": {},
    }
    return Draft(released, manifest)


def written_spec(folder: Path, sets: list[list[str]], rows: list[dict[str, Any]]) -> Path:
    lines = ["n,job,s,y", *(",".join(str(row[name]) for name in ("n", "job", "s", "y")) for row in rows)]
    (folder / "raw.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "job.tree").write_text(drawn("Any", 0), encoding="utf-8")
    asked = "".join(f'[[require]]\nkind = "k-anonymity"\nquasi-identifier = {names!r}\nk = 1\n' for names in sets)
    (folder / "spec.toml").write_text(SPEC + asked, encoding="utf-8")
    return folder / "spec.toml"


def drawn(label: str, depth: int) -> str:
    return f"{'  ' * depth}{label}\n" + "".join(drawn(child, depth + 1) for child in CHILDREN.get(label, ()))


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.integers(0, 15),
            "job": st.sampled_from(leaves("Any")),
            "s": st.sampled_from(SEXES),
            "y": st.sampled_from(["no", "yes"]),
        }
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("sets", SETS, ids=str)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, steps=st.integers(0, 25), draw=st.randoms(use_true_random=True))
def test_every_local_release_holds_and_a_moved_row_is_found(
    sets: list[list[str]], rows: list[dict[str, Any]], steps: int, draw: random.Random
) -> None:
    trees = grown(sets, rows, steps, draw)
    with TemporaryDirectory() as place:
        spec = load_spec(written_spec(Path(place), sets, rows))
        folder = release(sets, trees, rows).write(Path(place) / "release")
        assert verify_release(folder) == []
        assert verify_against_raw(folder, spec) == []

        planted = release(sets, trees, rows)
        column = draw.randrange(3)
        name = ("n", "job", "s")[column]
        known = {node.box[name].label for tree in trees for node in tree.walk() if name in node.box}
        row = draw.randrange(len(rows))
        before = planted.rows[row]
        others = sorted(known - {before[column]})
        if others:
            planted.rows[row] = (*before[:column], draw.choice(others), *before[column + 1 :])
            moved = planted.write(Path(place) / "planted")
            assert [*verify_release(moved), *verify_against_raw(moved, spec)]


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Everything in a JSON value, by its path."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(found for key, value in inner for found in places(value, (*path, key)))]


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


def spoil(manifest: dict[str, Any], draw: random.Random) -> None:
    """Removes, replaces, repeats or shuffles something in what a local release adds to a manifest."""
    parts = ("masking", "boxes", "leave-out", "rows", "recoding")
    paths = [path for path in places(manifest) if path and path[0] in parts]
    path = draw.choice(paths)
    holder, key = at(manifest, path[:-1]), path[-1]
    alike = [value for other in paths if type(value := at(manifest, other)) is type(holder[key])]
    match draw.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, deepcopy(draw.choice(holder)))
        case 2 if isinstance(holder[key], list):
            draw.shuffle(holder[key])
        case _:
            holder[key] = deepcopy(draw.choice(alike))


SPOILT: list[tuple[Callable[[], Draft], str]] = [
    (local_draft, LOCAL),
    (shared_draft, SHARED),
    (dropped_draft, JOINT),
    (masked_draft, JOINT + 'left-out = "mask"\n'),
]


@pytest.mark.parametrize(("make", "asked"), SPOILT)
def test_a_spoiled_manifest_is_found_and_never_stops_the_verifier(
    make: Callable[[], Draft], asked: str, tmp_path: Path
) -> None:
    draw = random.Random(13)  # noqa: S311 - the same cases each time
    folder = make().write(tmp_path / "release")
    spec = load_spec(write_raw(tmp_path, spec=asked))
    assert [*verify_release(folder), *verify_against_raw(folder, spec)] == []
    true = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for _ in range(150):
        spoilt = deepcopy(true)
        spoil(spoilt, draw)
        write_manifest(folder, spoilt)
        with suppress(UnveilError):
            findings = [*verify_release(folder), *verify_against_raw(folder, spec)]
            assert spoilt == true or findings, spoilt
