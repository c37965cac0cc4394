"""Random local maskings: trees grown by random refinements, which know what every leaf covers."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from unveil.masking import LEAF, BoxTree, Discretization, Generalization, Masking, Split, Suppression
from unveil.masking.entries import Generalized, Interval

AGES = (0, 64)
JOBS = {
    "Any": ("Office", "Manual", "None"),
    "Office": ("Clerk", "Sales", "Manager", "Temp"),
    "Manual": ("Crafts", "Driver"),
}
LEAVES = ("Clerk", "Sales", "Manager", "Temp", "Crafts", "Driver", "None")
CITIES = ("Bern", "Chur", "Genf", "Sion", "Thun")
NAMES = ("age", "job", "city", "home")
"""A number, a category with a taxonomy, one without, and one that both trees share."""


@dataclass
class Block:
    """A label and the raw values it covers."""

    label: str
    values: frozenset[Any]


@dataclass
class Box:
    blocks: dict[str, Block]
    split: Split | None = None
    children: list["Box"] = field(default_factory=list)

    def leaves(self) -> list["Box"]:
        return [leaf for child in self.children for leaf in child.leaves()] if self.children else [self]


def leaves_of(label: str) -> frozenset[str]:
    children = JOBS.get(label, ())
    return frozenset().union(*(leaves_of(child) for child in children)) if children else frozenset({label})


def root_block(name: str) -> Block:
    if name == "age":
        return Block("[0, 64)", frozenset(range(*AGES)))
    if name == "job":
        return Block("Any", frozenset(LEAVES))
    return Block("⊥", frozenset(CITIES))


def refinements(name: str, block: Block) -> list[list[Block]]:
    """All ways to refine a block; a rest comes last."""
    if name == "age":
        lo, hi = min(block.values), max(block.values) + 1
        return [[_interval(lo, cut), _interval(cut, hi)] for cut in range(lo + 1, hi)]
    if name != "job":
        told = [
            [Block(value, frozenset({value})), Block("⊥", block.values - {value})] for value in sorted(block.values)
        ]
        all_ = [Block(value, frozenset({value})) for value in sorted(block.values)]
        return [] if block.label != "⊥" or not block.values else [*told, [*all_, Block("⊥", frozenset())]]
    node = block.label.removesuffix(", other")
    children = [Block(child, leaves_of(child)) for child in JOBS.get(node, ()) if leaves_of(child) <= block.values]
    if not children:
        return []
    rest = node + ", other"
    peels = [[child, Block(rest, block.values - child.values)] for child in children if child.values < block.values]
    return [children, *peels]


def _interval(lo: int, hi: int) -> Block:
    return Block(f"[{lo}, {hi})", frozenset(range(lo, hi)))


@dataclass
class Grown:
    """A masking, and the boxes that it must be equal to."""

    masking: Masking
    roots: list[Box]

    def labels(self, row: dict[str, Any]) -> dict[str, str]:
        """The labels of the only leaf of each tree whose blocks cover the row."""
        found = {}
        for root in self.roots:
            (leaf,) = [
                leaf for leaf in root.leaves() if all(row[name] in block.values for name, block in leaf.blocks.items())
            ]
            found |= {name: block.label for name, block in leaf.blocks.items()}
        return found


@st.composite
def maskings(draw: DrawFn, steps: int = 12) -> Grown:
    """Two trees over age, job and home, and over city and home. Home is refined in all boxes at once."""
    sets = (("age", "job", "home"), ("city", "home"))
    roots = [Box({name: root_block(name) for name in names}) for names in sets]
    for _ in range(draw(st.integers(0, steps))):
        boxes = [leaf for root in roots for leaf in root.leaves()]
        box = draw(st.sampled_from(boxes))
        name = draw(st.sampled_from(sorted(box.blocks)))
        ways = refinements(name, box.blocks[name])
        if not ways:
            continue
        parts = draw(st.sampled_from(ways))
        refined = box.blocks[name]
        same = [box] if name != "home" else [
            leaf for leaf in boxes if "home" in leaf.blocks and leaf.blocks["home"].label == refined.label
        ]  # fmt: skip
        for leaf in same:
            leaf.split = Split(attribute=name, block=refined.label, into=tuple(part.label for part in parts))
            leaf.children = [Box({**leaf.blocks, name: part}) for part in parts]
    return Grown(frozen(roots), roots)


def frozen(roots: list[Box]) -> Masking:
    """The masking of some trees, written down as a release has it."""
    boxes = tuple(_tree(root) for root in roots)
    homes = {block.blocks["home"].label for root in roots for block in root.leaves()} - {"⊥"}
    labels = {name: _labels(boxes, name) for name in NAMES}
    return Masking(
        {
            "age": Discretization(domain="declared", local=True, whole=True, blocks=_intervals(labels["age"])),
            "job": Generalization(domain="declared", local=True, blocks=_jobs(labels["job"])),
            "city": Suppression(
                domain="declared", local=True, disclosed=tuple(city for city in CITIES if city in labels["city"])
            ),
            "home": Suppression(domain="declared", disclosed=tuple(city for city in CITIES if city in homes)),
        },
        boxes=boxes,
    )


def _labels(boxes: tuple[BoxTree, ...], name: str) -> set[str]:
    splits = [split for tree in boxes for split in tree.splits if split.attribute == name]
    return {root_block(name).label, *(label for split in splits for label in split.into)}


def _intervals(labels: set[str]) -> tuple[Interval, ...]:
    bounds = sorted((tuple(map(int, label.strip("[)").split(", "))) for label in labels), key=lambda b: (b[0], -b[1]))
    return tuple(Interval(label=f"[{lo}, {hi})", from_=lo, to=hi) for lo, hi in bounds)


def _jobs(labels: set[str]) -> tuple[Generalized, ...]:
    blocks = []
    for label in labels:
        node = label.removesuffix(", other")
        values = tuple(leaf for leaf in LEAVES if leaf in leaves_of(node))
        blocks.append(Generalized(label=label, values=values, rest=label != node))
    return tuple(sorted(blocks, key=lambda block: (LEAVES.index(block.values[0]), -len(block.values), block.rest)))


def _tree(root: Box) -> BoxTree:
    numbers: dict[Split, int] = {}
    fresh = count()
    order: list[int] = []
    waiting = [root]
    while waiting:
        box = waiting.pop()
        if box.split is None:
            order.append(LEAF)
            continue
        if box.split not in numbers:
            numbers[box.split] = next(fresh)
        order.append(numbers[box.split])
        waiting += reversed(box.children)
    return BoxTree(attributes=tuple(root.blocks), splits=tuple(numbers), order=tuple(order))


rows = st.fixed_dictionaries(
    {
        "age": st.integers(AGES[0], AGES[1] - 1),
        "job": st.sampled_from(LEAVES),
        "city": st.sampled_from(CITIES),
        "home": st.sampled_from(CITIES),
    }
)
