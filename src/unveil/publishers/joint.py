"""From the owner's spec to a joint search, and from its boxes to the masking of a release."""

from __future__ import annotations

import numpy as np

from unveil.arrays import IntArray
from unveil.counting import Engine, Marked
from unveil.counting.boxes import BoxRows
from unveil.errors import BrokenPromiseError, SpecError, braced
from unveil.masking import LEAF, AnyMasking, Block, BoxTree, LeftOut, Split, freeze, vocabulary
from unveil.progress import Tasks, Watcher, unwatched
from unveil.publishers.guards import checked_levels, resolved_requirements
from unveil.publishers.steering import check_kept, goal_of, hierarchy_of, target_columns, targeted
from unveil.refine.blocks import Blocks
from unveil.refine.boxes import Partition
from unveil.refine.joint import JointSearch
from unveil.schema import Attribute, Level, Spec
from unveil.tables import Outline


def start_joint(table: Outline, spec: Spec, engine: Engine, progress: Watcher = unwatched) -> JointSearch:
    """The joint search on the fully masked table, or on what the owner keeps.

    Raises:
        SpecError: Records may be left out, but the requirements or the table do not allow it.
        RequirementError: A requirement does not hold there.
    """
    levels = checked_levels(table, spec, resolved_requirements(table, spec))
    sets = list(dict.fromkeys(columns for columns, _ in levels))
    spare = _spare(table, spec, sets)
    masked = sorted({column for columns in sets for column in columns})
    goal, goals = goal_of(table, spec, masked), target_columns(table, spec)
    targets = len(spec.goal) if isinstance(spec.goal, tuple) else int(spec.goal == "class")
    counted = Tasks(progress, "counting groups", len(sets))
    marked = []
    for columns in sets:
        sensitive = [column for held, column in levels if held == columns and column is not None]
        marked.append(targeted(engine.marked(columns, [*goals, *sensitive]), spec, table.classes.name))
        counted.finish()
    by_box = _by_box(table, spec, sets, marked, targets)
    hierarchies = [hierarchy_of(table, column, spec, by_box.get(column), targets) for column in masked]
    blocks = Blocks(hierarchies, [len(table.columns[column]) for column in masked])
    partitions = []
    for columns, rows in zip(sets, marked, strict=True):
        places = [masked.index(column) for column in columns]
        boxes = BoxRows.of(rows, [blocks.offsets[place] for place in places], blocks.offsets[-1], targets, goal.fine)
        needed = {column: held for (held_columns, column), held in levels.items() if held_columns == columns}
        alone = [column in by_box for column in columns]
        partitions.append(Partition(boxes, _sections(boxes, needed), places, alone, blocks, goal))
    search = JointSearch(blocks, partitions, goal, spare)
    check_kept(search, sets, spec, table)
    return search


def _spare(table: Outline, spec: Spec, sets: list[tuple[int, ...]]) -> int:
    """How many records may be left out."""
    if spec.leave_out and len(sets) > 1:
        named = [braced([table.columns[column].name for column in columns], most=8) for columns in sets[:3]]
        named += [f"{len(sets) - 3} more"] if len(sets) > 3 else []
        every = [table.columns[column].name for column in sorted({column for columns in sets for column in columns})]
        raise SpecError(
            f"{spec.origin}: [publish] leave-out works for requirements on one set of attributes, not on {len(sets)} "
            f"({', '.join(named)}), because a row left out for one could break another. Either give every [[require]] "
            f"the attributes {braced(every, most=8)}, which promises at least as much, or remove leave-out."
        )
    return int(spec.leave_out * table.records)


def _by_box(
    table: Outline, spec: Spec, sets: list[tuple[int, ...]], marked: list[Marked], targets: int
) -> dict[int, IntArray]:
    """The attributes that are refined group by group, each with its counts by the targets."""
    every = [column for columns in sets for column in columns]
    return {
        column: _counts(rows, place, len(table.columns[column]), targets)
        for columns, rows in zip(sets, marked, strict=True)
        for place, column in enumerate(columns)
        if spec.recoding == "local" and every.count(column) == 1
    }


def _counts(rows: Marked, place: int, size: int, targets: int) -> IntArray:
    """The records of each value of an attribute, by each target; without any, the records."""
    codes = rows.codes[place].astype(np.int64)
    marks = [*zip(rows.marks[:targets], rows.widths, strict=False)] or [(np.zeros_like(codes), 1)]
    counts = [np.zeros((size, width), dtype=np.int64) for _, width in marks]
    for (mark, _), counted in zip(marks, counts, strict=True):
        np.add.at(counted, (codes, mark), rows.weight)
    return np.concatenate(counts, axis=1)


def _sections(rows: BoxRows, needed: dict[int | None, list[Level]]) -> list[tuple[Level, slice]]:
    """The levels of a partition with the counts of a piece that each needs."""
    sensitive = [column for column in needed if column is not None]
    section: dict[int | None, slice] = {None: slice(0, 1)}
    section |= zip(sensitive, rows.sections, strict=True)
    return [(level, section[column]) for column, levels in needed.items() for level in levels]


def left_out(search: JointSearch, spec: Spec) -> LeftOut | None:
    """The records that the search left out, if it may leave out any.

    They are released fully masked only if they satisfy every requirement by themselves.
    """
    if not spec.leave_out:
        return None
    partition = search.partitions[0]
    counts = partition.left_out
    if counts[0] > spec.leave_out * partition.records:
        raise BrokenPromiseError(f"the search left out {counts[0]:,} records, more than it may; nothing was released.")
    tree, leaves, _ = _tree(search, 0)
    masked = spec.left_out == "mask" and all(
        bool(level.holds(level.of(counts[None, section]))[0]) for level, section in partition.levels if counts[0]
    )
    roots = partition.blocks.rows[0].tolist()
    labels = {search.blocks.attribute(root).name: search.blocks.label(root) for root in roots}
    return LeftOut((tree,), (leaves,), int(counts[0]), labels if masked else None)


def frozen(search: JointSearch) -> tuple[dict[str, AnyMasking], tuple[BoxTree, ...]]:
    """The entries of the masked attributes, and the trees of boxes if some attribute is refined box by box."""
    entries: dict[str, AnyMasking] = {attribute.name: freeze(attribute, cut) for attribute, cut in search.cuts}
    if not search.local:
        return entries, ()
    trees = []
    for partition in range(len(search.partitions)):
        tree, _, used = _tree(search, partition)
        trees.append(tree)
        for attribute, blocks in used:
            entries[attribute.name] = vocabulary(attribute, blocks)
    return entries, tuple(trees)


def _tree(search: JointSearch, number: int) -> tuple[BoxTree, list[int], list[tuple[Attribute, list[Block]]]]:
    """The tree of a partition, its leaves that are left out, and the blocks of attributes refined box by box."""
    partition, blocks = search.partitions[number], search.blocks
    used = dict.fromkeys(partition.blocks.rows[0].tolist())
    splits: dict[tuple[str, str, tuple[str, ...]], int] = {}
    order: list[int] = []
    leaves, aside = 0, []
    waiting: list[int | None] = [0]
    while waiting:
        box = waiting.pop()
        if box is None or not partition.done.rows[box]:
            order.append(LEAF)
            if box is not None and partition.aside.rows[box]:
                aside.append(leaves)
            leaves += 1
            continue
        column, into = int(partition.choice.rows[box, 0]), search.into(number, box)
        refined = int(partition.blocks.rows[box, column])
        labels = tuple(blocks.label(block) for block in into)
        split = blocks.attribute(refined).name, blocks.label(refined), labels
        order.append(splits.setdefault(split, len(splits)))
        used |= dict.fromkeys(into)
        pieces = partition.pieces_of(box)
        piece_of = dict(zip(partition.blocks.rows[pieces, column].tolist(), pieces, strict=True))
        waiting += [piece_of.get(block) for block in reversed(into)]
    names = tuple(blocks.attribute(block).name for block in partition.blocks.rows[0].tolist())
    entries = tuple(Split(attribute=name, block=block, into=into) for name, block, into in splits)
    tree = BoxTree(attributes=names, splits=entries, order=tuple(order))
    by_box = partition.attributes[partition.by_box].tolist()
    return (
        tree,
        aside,
        [
            (
                blocks.hierarchies[place].attribute,
                [blocks.block(block) for block in used if blocks.owner(block) == place],
            )
            for place in by_box
        ],
    )
