"""Why the groups of a joint search are not finer: for every group and attribute, the way that is nearest to valid.

An attribute that is refined group by group has one reason per group. One that is refined everywhere has one per block,
and the group that breaks it most may be any group with the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unveil.arrays import BoolArray, IntArray, group_numbers
from unveil.counting.scans import ALL, SPLIT, Scan
from unveil.publishers import shared_groups
from unveil.reasons.pieces import Fewest, cost_of
from unveil.reasons.stops import FEW, Break, Cut, Piece, Stop, atom_numbers, break_of
from unveil.refine import JointSearch
from unveil.refine.boxes import NONE, Partition
from unveil.schema import SUPPRESSED, Atom, Level, Requirement, without_redundant
from unveil.tables import Table


@dataclass(frozen=True)
class Tried:
    """A way to refine a group that would break something."""

    partition: int
    box: int
    column: int
    block: int
    way: int
    cells: range
    """The cells at which it would be the same; several for the split of an interval."""
    breaks: tuple[tuple[int, Piece], ...]
    """What it would break, by the place of the atom among those of the partition, and the least private piece."""
    distance: float
    """How far it is from valid, as a share of what is asked."""
    small: int
    """How many records are in the pieces that break something."""
    short: tuple[int, ...]
    """Which these pieces are."""


def group_cuts(
    table: Table, requirements: Sequence[Requirement], search: JointSearch, *, pure_too: bool = False
) -> tuple[Cut, ...]:
    """What prevents each further refinement of a joint search that has come to its end.

    With `pure_too`, groups of one class are refined as well: the goal is not about the class.
    """
    return Groups(table, requirements, search, pure_too=pure_too).cuts()


class Groups:
    """The groups at the end of a joint search, and what every further refinement of them would break."""

    def __init__(
        self, table: Table, requirements: Sequence[Requirement], search: JointSearch, *, pure_too: bool
    ) -> None:
        self._search, self._pure_too = search, pure_too
        self._numbers = atom_numbers(requirements)
        of_columns: dict[tuple[int, ...], list[Atom]] = {}
        for (columns, _), atoms in shared_groups(table, without_redundant(list(self._numbers))).items():
            of_columns.setdefault(columns, []).extend(atoms)
        self._atoms = list(of_columns.values())
        """The atoms of each partition."""
        self._live = [np.flatnonzero(partition.live.rows) for partition in search.partitions]
        self._sizes: list[IntArray] = []
        self._mixed: list[BoolArray] = []
        self._by_group: dict[tuple[int, int, int], Tried] = {}
        self._by_block: dict[int, dict[tuple[int, int], Tried]] = {}
        self._at_once: dict[tuple[int, int, int], Tried] = {}
        """For each group and attribute: to refine it into all parts of its block."""
        self._everywhere: dict[int, list[Tried]] = {}
        """For each block: to refine it into all its parts, the groups in which that breaks something."""
        self._may_leave_out = not any(requirement.of_whole for requirement in requirements)
        self._left = Left(table, search)
        self._open: set[tuple[int, int, int]] = set()
        """The groups and attributes that could be refined, but by nothing that pays."""
        self._ways: dict[int, set[tuple[int, int]]] = {}
        """The ways to refine a block that some group could be refined by, where only those that pay are taken."""
        search.blocks.reopen()
        for number in range(len(search.partitions)):
            self._scan(number)

    def cuts(self) -> tuple[Cut, ...]:
        """The masked attributes, in the order of the table."""
        found = []
        for place, hierarchy in enumerate(self._search.blocks.hierarchies):
            where = [
                (number, int(np.flatnonzero(partition.attributes == place)[0]))
                for number, partition in enumerate(self._search.partitions)
                if place in partition.attributes
            ]
            number, column = where[0]
            local = bool(self._search.partitions[number].by_box[column])
            stops = tuple(self._group_stops(number, column) if local else self._block_stops(place, where))
            attribute = hierarchy.attribute
            blocks = len({stop.block for stop in stops})
            found.append(Cut(attribute.name, attribute.masking, blocks, stops, (), len(stops) if local else None))
        return tuple(found)

    def _scan(self, number: int) -> None:
        partition, live = self._search.partitions[number], self._live[number]
        every = np.ones(len(partition.attributes), dtype=np.bool_)
        for place, (scan, valid, _, sizes, mixed) in enumerate(partition.scan(live, every)):
            if partition.endless:
                self._note_valid(number, scan, valid)
            for tried in _tried(number, partition, live, scan, self._atoms[number]):
                self._note(tried)
            if not place:  # the arrays are of all groups, and are filled as the scan goes on
                self._sizes.append(sizes)
                self._mixed.append(np.ones_like(mixed) if self._pure_too else mixed)

    def _note_valid(self, number: int, scan: Scan, valid: BoolArray) -> None:
        """Keeps what could be refined: a search that is at its end did not, because it does not pay."""
        partition = self._search.partitions[number]
        for candidate in np.flatnonzero(valid & (scan.made > 1)).tolist():
            box, column = int(self._live[number][scan.box[candidate]]), int(scan.column[candidate])
            if partition.by_box[column]:
                self._open.add((number, box, column))
                continue
            block = int(partition.blocks.rows[box, column])
            way, cells = int(scan.way[candidate]), _cells(scan, candidate)
            self._ways.setdefault(block, set()).update((way, cell) for cell in cells)

    def _note(self, tried: Tried) -> None:
        """Keeps the way of a group that is nearest to valid; of a block, every way by the group that is farthest."""
        partition = self._search.partitions[tried.partition]
        if partition.by_box[tried.column]:
            key = tried.partition, tried.box, tried.column
            if tried.way == ALL:
                self._at_once[key] = tried
            if key not in self._by_group or tried.distance < self._by_group[key].distance:
                self._by_group[key] = tried
            return
        if tried.way == ALL:
            self._everywhere.setdefault(tried.block, []).append(tried)
        ways = self._by_block.setdefault(tried.block, {})
        for cell in tried.cells:
            way = tried.way, cell
            if way not in ways or tried.distance > ways[way].distance:
                ways[way] = tried

    def _group_stops(self, number: int, column: int) -> Iterator[Stop]:
        """For each group why it is not refined by an attribute."""
        partition, blocks = self._search.partitions[number], self._search.blocks
        for place, box in enumerate(self._live[number].tolist()):
            block, records = int(partition.blocks.rows[box, column]), int(self._sizes[number][place])
            group = self._search.labels(number, box)
            tried = self._by_group.get((number, box, column))
            if (number, box, column) in self._open and self._mixed[number][place]:
                yield Stop(blocks.label(block), (), "noise", records, group=group)
            elif tried is not None and self._mixed[number][place]:
                stop = self._stop(tried, tried.cells[-1], records, group)
                if (at_once := self._at_once.get((number, box, column))) is not None:
                    stop = replace(stop, fewest=self._fewest(at_once, [at_once], records))
                yield stop
            elif tried is None or not blocks.shapes.cells[block]:
                yield Stop(blocks.label(block), (), "unveiled", records, group=group)
            else:
                yield Stop(blocks.label(block), (), "pure", records, group=group)

    def _block_stops(self, place: int, where: Sequence[tuple[int, int]]) -> Iterator[Stop]:
        """For each block of a cut why it is not refined."""
        blocks = self._search.blocks
        for block in self._search.cut_blocks(place):
            records, mixed = 0, False
            for number, column in where:
                held = self._search.partitions[number].blocks.rows[self._live[number], column] == block
                records, mixed = int(self._sizes[number][held].sum()), mixed or bool(self._mixed[number][held].any())
            ways = self._by_block.get(block, {})
            if not records:
                yield Stop(blocks.label(block), (), "unheld", 0)
            elif mixed and self._ways.get(block, set()) - ways.keys():
                yield Stop(blocks.label(block), (), "noise", records)
            elif ways and mixed:
                (_, cell), nearest = min(ways.items(), key=lambda item: item[1].distance)
                stop = self._stop(nearest, cell, records, None)
                if (every := self._everywhere.get(block)) is not None:
                    stop = replace(stop, fewest=self._fewest(ways[ALL, 0], every, records))
                yield stop
            else:
                yield Stop(blocks.label(block), (), "pure" if ways else "unveiled", records)

    def _fewest(self, shown: Tried, tried: Sequence[Tried], records: int) -> Fewest | None:
        """How many records keep a block from being refined into all its parts, if they are few.

        Of an interval or one part alone it says nothing: to leave out a small piece is always enough to cut it off.
        """
        sizes = np.zeros(len(self._live), dtype=np.int64)
        for item in tried:
            sizes[item.partition] += item.small
        if not self._may_leave_out or sizes.max() > FEW * records:
            return None
        found = self._left.fewest(tried, self._into(shown, 0))
        return found if found.records <= FEW * records else None

    def _stop(self, tried: Tried, cell: int, records: int, group: dict[str, str] | None) -> Stop:
        into = self._into(tried, cell)
        breaks = tuple(self._break(tried, cell, *broken) for broken in tried.breaks)
        return Stop(self._search.blocks.label(tried.block), into, "invalid", records, breaks, group)

    def _into(self, tried: Tried, cell: int) -> tuple[str, ...]:
        """The labels that would take the place of a block; of values disclosed at once, those that are held."""
        blocks = self._search.blocks
        if tried.way == ALL and blocks.hides(tried.block):
            return (*self._pieces(tried), SUPPRESSED)
        return tuple(blocks.label(child) for child in blocks.into(tried.block, tried.way, cell))

    def _pieces(self, tried: Tried) -> list[str]:
        """The labels of the pieces of a group that hold records, if it is refined into all parts at once."""
        blocks = self._search.blocks
        start = int(blocks.lists(np.array([tried.block]), np.array([ALL]), np.array([0]))[0])
        cells = self._search.partitions[tried.partition].occupied(tried.box, tried.column)
        return [blocks.label(int(blocks.members.rows[start + cell])) for cell in cells.tolist()]

    def _break(self, tried: Tried, cell: int, place: int, piece: Piece) -> Break:
        search = self._search
        labels = self._pieces(tried) if tried.way == ALL else self._into(tried, cell)
        name = search.blocks.attribute(tried.block).name
        group = {**search.labels(tried.partition, tried.box), name: labels[piece.child]}
        roots = search.labels(tried.partition, 0)
        telling = tuple(held for held, label in group.items() if held == name or label != roots[held])
        atom = self._atoms[tried.partition][place]
        return break_of(self._numbers[atom], atom, piece, group, telling)


class Left:
    """What is left out of the rows of a table at the end of a joint search, and what else would have to be."""

    def __init__(self, table: Table, search: JointSearch) -> None:
        self._table, self._search = table, search

    def fewest(self, tried: Sequence[Tried], into: tuple[str, ...]) -> Fewest:
        """The records in pieces that break something, each once, though it may be in pieces of several partitions."""
        held = np.zeros(self._table.rows, dtype=np.bool_)
        for item in tried:
            held[self._rows(item)] = True
        return cost_of(self._table, held & ~self._gone, held | self._gone, into)

    def _rows(self, tried: Tried) -> IntArray:
        """The rows in the pieces that break something."""
        partition, shapes = self._search.partitions[tried.partition], self._search.blocks.shapes
        order, starts = self._in_groups[tried.partition]
        rows = order[starts[tried.box] : starts[tried.box + 1]]
        cells = shapes.cell_of[shapes.depth[tried.block], self._codes(int(partition.attributes[tried.column]))[rows]]
        held: IntArray = rows[np.isin(cells, np.unique(cells)[list(tried.short)])]
        return held

    def _codes(self, attribute: int) -> IntArray:
        """The codes of a masked attribute, numbered over all of them as in the search."""
        blocks = self._search.blocks
        codes = self._table.column(blocks.hierarchies[attribute].attribute.name).codes
        numbered: IntArray = codes.astype(np.int64) + blocks.offsets[attribute]
        return numbered

    @cached_property
    def _gone(self) -> BoolArray:
        """The rows that are left out: those in no group of some set of attributes."""
        gone = np.zeros(self._table.rows, dtype=np.bool_)
        for order, starts in self._in_groups:
            gone[order[: starts[0]]] = True
        return gone

    @cached_property
    def _in_groups(self) -> list[tuple[IntArray, IntArray]]:
        """For each set of attributes the rows in the order of their groups, and where each group begins."""
        found = []
        for partition in self._search.partitions:
            group = self._groups(partition)
            order = np.argsort(group, kind="stable")
            found.append((order, np.searchsorted(group[order], np.arange(len(partition.live) + 1))))
        return found

    def _groups(self, partition: Partition) -> IntArray:
        """The group of each row of the table, by its values, if any group has them."""
        known: IntArray = np.full(len(partition.rows), NONE)
        for box in np.flatnonzero(partition.live.rows).tolist():
            known[partition.start.rows[box] : partition.stop.rows[box]] = box
        values = [
            np.concatenate([partition.rows.codes(0, len(known), place), self._codes(attribute)])
            for place, attribute in enumerate(partition.attributes.tolist())
        ]
        number, numbers = group_numbers(values)
        group: IntArray = np.full(numbers, NONE)
        live = known != NONE
        group[number[: len(known)][live]] = known[live]
        return group[number[len(known) :]]


def _tried(number: int, partition: Partition, live: IntArray, scan: Scan, atoms: Sequence[Atom]) -> Iterator[Tried]:
    """The candidates of a scan that would break something."""
    breaks: dict[int, list[tuple[int, Piece]]] = {}
    fails: BoolArray = np.zeros(len(scan.owner), dtype=np.bool_)
    for place, (level, section) in enumerate(partition.levels):
        fails |= ~level.holds(level.of(scan.pieces[:, section]))
        for candidate, piece in _broken(level, scan.pieces[:, section], scan):
            breaks.setdefault(candidate, []).append((place, piece))
    first = np.searchsorted(scan.owner, np.arange(len(scan.box) + 1))
    for candidate, found in breaks.items():
        distance = max(_share(atoms[place], piece.level) for place, piece in found)
        box, column = int(live[scan.box[candidate]]), int(scan.column[candidate])
        block, way, cells = int(partition.blocks.rows[box, column]), int(scan.way[candidate]), _cells(scan, candidate)
        short = first[candidate] + np.flatnonzero(fails[first[candidate] : first[candidate + 1]])
        small, places = int(scan.pieces[short, 0].sum()), tuple((short - first[candidate]).tolist())
        yield Tried(number, box, column, block, way, cells, tuple(found), distance, small, places)


def _cells(scan: Scan, candidate: int) -> range:
    """The cells at which a candidate would be the same; several for the split of an interval."""
    cell = int(scan.cell[candidate])
    return range(int(scan.since[candidate]) if scan.way[candidate] == SPLIT else cell, cell + 1)


def _broken(level: Level, counts: IntArray, scan: Scan) -> Iterator[tuple[int, Piece]]:
    """The candidates that break a level, each with its least private piece; of several the largest."""
    values, sizes = level.of(counts), scan.pieces[:, 0]
    fails = ~level.holds(values)
    first = np.searchsorted(scan.owner, np.arange(len(scan.box)))
    made = np.bincount(scan.owner, minlength=len(scan.box))
    failing = np.bincount(scan.owner[fails], minlength=len(scan.box))
    order = np.lexsort((-sizes, values, scan.owner))
    candidates = np.flatnonzero(failing)
    worst = order[first[candidates]]
    levels = values[worst].astype(np.float64)
    child = worst - first[candidates]
    facts = (scan.box[candidates], child, levels, sizes[worst], failing[candidates], made[candidates])
    yield from zip(candidates.tolist(), map(Piece, *(fact.tolist() for fact in facts)), strict=True)


def _share(atom: Atom, level: float) -> float:
    return abs(atom.bound - atom.in_unit(level)) / atom.scale
