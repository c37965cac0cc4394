"""From the owner's spec to a joint search, and from its boxes to the masking of a release."""

from __future__ import annotations

from functools import partial

import numpy as np

from unveil.counting import Engine
from unveil.counting.boxes import BoxRows
from unveil.masking import LEAF, AnyMasking, Block, BoxTree, Split, freeze, vocabulary
from unveil.progress import Tasks, Watcher, unwatched
from unveil.publishers.guards import checked_levels, resolved_requirements
from unveil.refine.boxes import Partition
from unveil.refine.goals import ClassInformation, steps_per_bit
from unveil.refine.grid import cut_points
from unveil.refine.hierarchies import Blocks, Cutter, Hierarchy, Intervals, Labels, Values
from unveil.refine.joint import JointSearch
from unveil.schema import Attribute, Bounds, Level, Spec, round_split
from unveil.tables import Outline


def start_joint(table: Outline, spec: Spec, engine: Engine, progress: Watcher = unwatched) -> JointSearch:
    """The joint search on the fully masked table."""
    levels = checked_levels(table, spec, resolved_requirements(table, spec))
    sets = list(dict.fromkeys(columns for columns, _ in levels))
    masked = sorted({column for columns in sets for column in columns})
    sharing = {column: sum(column in columns for columns in sets) for column in masked}
    by_box = {column for column in masked if spec.recoding == "local" and sharing[column] == 1}
    hierarchies = [_hierarchy(table, column, spec.bounds, by_box=column in by_box) for column in masked]
    blocks = Blocks(hierarchies, [len(table.columns[column]) for column in masked])
    goal = ClassInformation(
        [hierarchy.attribute.gain_weight for hierarchy in hierarchies], steps_per_bit(table.records)
    )
    partitions = []
    counted = Tasks(progress, "counting groups", len(sets))
    for columns in sets:
        needed = {sensitive: held for (held_columns, sensitive), held in levels.items() if held_columns == columns}
        places = [masked.index(column) for column in columns]
        rows, sections = _rows(engine, columns, needed, blocks, places, goal)
        partitions.append(Partition(rows, sections, places, [column in by_box for column in columns], blocks, goal))
        counted.finish()
    held = [table.histograms[column].sum(axis=1) > 0 for column in masked]
    return JointSearch(blocks, partitions, held, goal)


def frozen(search: JointSearch) -> tuple[dict[str, AnyMasking], tuple[BoxTree, ...]]:
    """The entries of the masked attributes, and the trees of boxes if some attribute is refined box by box."""
    entries: dict[str, AnyMasking] = {attribute.name: freeze(attribute, cut) for attribute, cut in search.cuts}
    if not search.local:
        return entries, ()
    trees = []
    for partition in range(len(search.partitions)):
        tree, used = _tree(search, partition)
        trees.append(tree)
        for attribute, blocks in used:
            entries[attribute.name] = vocabulary(attribute, blocks)
    return entries, tuple(trees)


def _tree(search: JointSearch, number: int) -> tuple[BoxTree, list[tuple[Attribute, list[Block]]]]:
    """The tree of a partition, and the blocks of each attribute that is refined box by box."""
    partition, blocks = search.partitions[number], search.blocks
    used = dict.fromkeys(partition.blocks.rows[0].tolist())
    splits: dict[Split, int] = {}
    order: list[int] = []
    waiting: list[int | None] = [0]
    while waiting:
        box = waiting.pop()
        if box is None or not partition.done.rows[box]:
            order.append(LEAF)
            continue
        column, into = int(partition.choice.rows[box, 0]), search.into(number, box)
        refined = int(partition.blocks.rows[box, column])
        labels = tuple(blocks.label(block) for block in into)
        split = Split(attribute=blocks.attribute(refined).name, block=blocks.label(refined), into=labels)
        order.append(splits.setdefault(split, len(splits)))
        used |= dict.fromkeys(into)
        pieces = partition.pieces_of(box)
        piece_of = dict(zip(partition.blocks.rows[pieces, column].tolist(), pieces.tolist(), strict=True))
        waiting += [piece_of.get(block) for block in reversed(into)]
    names = tuple(blocks.attribute(block).name for block in partition.blocks.rows[0].tolist())
    tree = BoxTree(attributes=names, splits=tuple(splits), order=tuple(order))
    by_box = partition.attributes[partition.by_box].tolist()
    return tree, [
        (blocks.hierarchies[place].attribute, [blocks.block(block) for block in used if blocks.owner(block) == place])
        for place in by_box
    ]


def _rows(
    engine: Engine,
    columns: tuple[int, ...],
    needed: dict[int | None, list[Level]],
    blocks: Blocks,
    places: list[int],
    goal: ClassInformation,
) -> tuple[BoxRows, list[tuple[Level, slice]]]:
    """The rows of a partition, and its levels with the counts that each needs."""
    sensitive = [column for column in needed if column is not None]
    marked = engine.marked(columns, sensitive)
    offsets = [blocks.offsets[place] for place in places]
    rows = BoxRows.of(marked, offsets, blocks.offsets[-1], targets=1, fine=goal.fine)
    section: dict[int | None, slice] = {None: slice(0, 1)}
    section |= zip(sensitive, rows.sections, strict=True)
    return rows, [(level, section[column]) for column, levels in needed.items() for level in levels]


def _hierarchy(table: Outline, column: int, bounds: Bounds, *, by_box: bool) -> Hierarchy:
    """What an attribute can be refined into. All boxes share the few cut points of a number."""
    attribute, values = table.attributes[column], table.columns[column].values
    if attribute.taxonomy is not None:
        return Labels(attribute, attribute.taxonomy)
    if isinstance(values, tuple):
        return Values(attribute, values)
    points = cut_points(table.histograms[column]) if by_box else np.arange(1, len(values))
    return Intervals(attribute, values, table.bounds(column), points, _cutter(attribute, bounds))


def _cutter(attribute: Attribute, bounds: Bounds) -> Cutter:
    if bounds == "round":
        return partial(round_split, attribute=attribute)
    return _upper


def _upper(left: float, right: float) -> float:
    """The upper of two neighbouring values."""
    return right
