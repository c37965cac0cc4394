"""From the owner's spec to a joint search, and from its boxes to the masking of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from unveil.arrays import IntArray
from unveil.counting import Engine, Marked
from unveil.counting.boxes import BoxRows
from unveil.counting.far import FarMarked, FarRows, numbered
from unveil.errors import BrokenPromiseError, count_text
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
    """The joint search on the fully masked table, or on what the owner keeps, if the requirements hold there."""
    levels = checked_levels(table, spec, resolved_requirements(table, spec), engine.then)
    sets = list(dict.fromkeys(columns for columns, _ in levels))
    spare = _spare(table, spec)
    together = spare > 0 and len(sets) > 1
    masked = sorted({column for columns in sets for column in columns})
    goal, goals = goal_of(table, spec, masked, engine.histograms()), target_columns(table, spec)
    targets = len(spec.goal) if isinstance(spec.goal, tuple) else int(spec.goal == "class")
    sensitive = {
        columns: [column for held, column in levels if held == columns and column is not None] for columns in sets
    }
    counted: Callable[..., Iterator[Marked | FarMarked]] = _shared_rows if together else _own_rows
    marked = [targeted(rows, spec, table.classes.name) for rows in counted(engine, goals, sensitive, progress)]
    by_box = _by_box(table, spec, sets, marked, targets)
    hierarchies = [hierarchy_of(table, column, spec, by_box.get(column), targets) for column in masked]
    blocks = Blocks(hierarchies, [len(table.columns[column]) for column in masked])
    partitions = []
    for columns, rows in zip(sets, marked, strict=True):
        places = [masked.index(column) for column in columns]
        offsets = [blocks.offsets[place] for place in places]
        boxes = (
            FarRows(rows, offsets, targets, goal.fine)
            if isinstance(rows, FarMarked)
            else BoxRows.of(rows, offsets, blocks.offsets[-1], targets, goal.fine, numbered=together)
        )
        needed = {column: held for (held_columns, column), held in levels.items() if held_columns == columns}
        alone = [column in by_box for column in columns]
        partitions.append(Partition(boxes, _sections(boxes, needed), places, alone, blocks, goal))
    search = JointSearch(blocks, partitions, goal, spare)
    check_kept(search, sets, spec, table)
    return search


def _spare(table: Outline, spec: Spec) -> int:
    """How many persons may be left out, or how many records if the table does not say whose they are."""
    return int(spec.leave_out * (table.records if table.persons is None else table.persons.count))


def _own_rows(
    engine: Engine, goals: list[int], sensitive: Mapping[tuple[int, ...], list[int]], progress: Watcher
) -> Iterator[Marked | FarMarked]:
    """For each set of attributes its distinct rows, marked by the class, by other targets and by sensitive values."""
    counted = Tasks(progress, "counting groups", len(sensitive))
    for columns, private in sensitive.items():
        yield engine.marked(columns, [*goals, *private])
        counted.finish()


def _shared_rows(
    engine: Engine, goals: list[int], sensitive: Mapping[tuple[int, ...], list[int]], progress: Watcher
) -> Iterator[Marked]:
    """The same, but of the distinct rows of all attributes together, so that a row has one number in all sets."""
    counted = Tasks(progress, "counting groups", 1)
    every = sorted({column for columns in sensitive for column in columns})
    private = sorted({column for columns in sensitive.values() for column in columns})
    rows = numbered(engine.marked(every, [*goals, *private]))
    counted.finish()
    targets = 1 + len(goals)
    for columns, mine in sensitive.items():
        marks = [*range(targets), *(targets + private.index(column) for column in mine)]
        yield Marked(
            [rows.codes[every.index(column)] for column in columns],
            [rows.marks[mark] for mark in marks],
            [rows.widths[mark] for mark in marks],
            rows.weight,
            rows.whose,
        )


def _by_box(
    table: Outline, spec: Spec, sets: list[tuple[int, ...]], marked: list[Marked | FarMarked], targets: int
) -> dict[int, IntArray]:
    """The attributes that are refined group by group, each with its counts by the targets."""
    every = [column for columns in sets for column in columns]
    return {
        column: rows.counts(place, len(table.columns[column]), targets)
        for columns, rows in zip(sets, marked, strict=True)
        for place, column in enumerate(columns)
        if spec.recoding == "local" and every.count(column) == 1
    }


def _sections(rows: BoxRows, needed: dict[int | None, list[Level]]) -> list[tuple[Level, slice]]:
    """The levels of a partition with the counts of a piece that each needs."""
    sensitive = [column for column in needed if column is not None]
    section: dict[int | None, slice] = {None: rows.size_section}
    section |= zip(sensitive, rows.sections, strict=True)
    return [(level, section[column]) for column, levels in needed.items() for level in levels]


def check_groups(search: JointSearch) -> None:
    """Counts every group again, without what the search kept about it, before anything is released."""
    for partition in search.partitions:
        if not partition.valid:
            raise BrokenPromiseError("a group does not satisfy its requirements; nothing was released.")


def left_out(search: JointSearch, spec: Spec) -> LeftOut | None:
    """The records that the search left out, if it may leave out any, counted again.

    They are released fully masked only if they satisfy every requirement by themselves.
    """
    if not spec.leave_out:
        return None
    counts = [search.left_out(number) for number in range(len(search.partitions))]
    first, records = search.partitions[0], int(counts[0][0])
    unit = first.rows.unit
    if (found := int(counts[0][unit])) > spec.leave_out * int(first.rows.total(first.everything)[unit]):
        what = count_text(found, "person" if unit else "record")
        raise BrokenPromiseError(f"the search left out {what}, more than it may; nothing was released.")
    masked = spec.left_out == "mask" and all(
        bool(level.holds(level.of(held[None, section]))[0])
        for partition, held in zip(search.partitions, counts, strict=True)
        for level, section in partition.levels
        if records
    )
    labels = {search.blocks.attribute(root).name: search.blocks.label(root) for root in search.blocks.roots}
    trees, leaves, _ = zip(*(_tree(search, number) for number in range(len(search.partitions))), strict=True)
    return LeftOut(trees, leaves, records, labels if masked else None, found if unit else None)


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
    """The tree of a partition, its leaves that are left out, and the blocks of attributes refined box by box.

    A part without records is a leaf, unless the tree must say how the block there was replaced in its cut.
    """
    partition, blocks = search.partitions[number], search.blocks
    held, done, aside = partition.blocks.rows.tolist(), partition.done.rows.tolist(), partition.aside.rows.tolist()
    chosen, unseen = partition.choice.rows[:, 0].tolist(), search.replaced_unseen(number)
    used = dict.fromkeys(held[0])
    splits: dict[tuple[str, str, tuple[str, ...]], int] = {}
    known: dict[tuple[int, ...], int] = {}
    order: list[int] = []
    leaves, out = 0, []
    # A box, and the block that the split above made of its attribute.
    waiting: list[tuple[int | None, int]] = [(0, held[0][0])]
    while waiting:
        box, refined = waiting.pop()
        piece_of: dict[int, int] = {}
        if box is not None and done[box]:
            column, into = chosen[box], search.into(number, box)
            refined = held[box][column]
            piece_of = {held[piece][column]: piece for piece in partition.pieces_of(box)}
        elif box is None and refined in unseen:
            into = unseen[refined]
        else:
            order.append(LEAF)
            if box is not None and aside[box]:
                out.append(leaves)
            leaves += 1
            continue
        if (refined, *into) not in known:
            labels = tuple(blocks.label(block) for block in into)
            split = blocks.attribute(refined).name, blocks.label(refined), labels
            known[refined, *into] = splits.setdefault(split, len(splits))
            used |= dict.fromkeys(into)
        order.append(known[refined, *into])
        waiting += [(piece_of.get(block), block) for block in reversed(into)]
    names = tuple(blocks.attribute(block).name for block in partition.blocks.rows[0].tolist())
    entries = tuple(Split(attribute=name, block=block, into=into) for name, block, into in splits)
    tree = BoxTree(attributes=names, splits=entries, order=tuple(order))
    by_box = partition.attributes[partition.by_box].tolist()
    return tree, out, [(blocks.hierarchies[place].attribute, _labelled(blocks, used, place)) for place in by_box]


def _labelled(blocks: Blocks, used: Iterable[int], place: int) -> list[Block]:
    """One block of an attribute for each label in use: thousands of rests may share theirs."""
    first: dict[str, int] = {}
    for block in used:
        if blocks.owner[block] == place:
            first.setdefault(blocks.label(block), block)
    return [blocks.block(block) for block in first.values()]
