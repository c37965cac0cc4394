"""Why a search stopped where it did: for every block of its cuts, what prevents refining it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.masking import Block
from unveil.publishers import shared_groups
from unveil.reasons.pieces import Fewest, Groups, Pieces, Way, cost_of, ways_of
from unveil.refine import Remaining, Search
from unveil.schema import Atom, Level, MaskingKind, Requirement, Worst
from unveil.tables import Table


class Piece(NamedTuple):
    """The least private group that a refinement would make, by one requirement."""

    group: int
    child: int
    level: float
    """Higher is more private, as the search has it."""
    records: int
    broken: int
    """How many groups that it would make fall short."""
    pieces: int
    """How many groups it would make."""


@dataclass(frozen=True)
class Break:
    """A requirement that a refinement would break, and the group by which it would break most."""

    requirement: int
    """The number of the requirement in the spec, from 1."""
    atom: Atom
    group: dict[str, str]
    """The masked values of the group as it would be."""
    telling: tuple[str, ...]
    """Those of its attributes that are not fully masked."""
    records: int
    level: float
    """What the group would have, in the unit of the bound: records, a share, values, a distance."""
    bound: float
    broken: int
    pieces: int

    @property
    def short(self) -> float:
        """How far the group is from the bound, in its unit; always above 0."""
        return abs(self.bound - self.level)

    @property
    def share(self) -> float:
        """The same on a scale that all requirements share: 0 just valid, 1 as far as can be."""
        return self.short / self.atom.scale

    def sentence(self) -> str:
        """Which group would break it, and how far."""
        who = f"{{{', '.join(f'{name} {self.group[name]}' for name in self.telling)}}}"
        return self.atom.break_sentence(Worst(who, self.records, self.level, self.short))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "requirement": self.requirement,
            "asks": str(self.atom),
            "group": self.group,
            "records": self.records,
            "level": self.level,
            "bound": self.bound,
            "short": self.short,
            "groups-made": self.pieces,
            "groups-broken": self.broken,
            "sentence": self.sentence(),
        }


def atom_numbers(requirements: Sequence[Requirement]) -> dict[Atom, int]:
    """What requirements ask for, each with the number of the first one that asks for it."""
    numbers: dict[Atom, int] = {}
    for number, requirement in enumerate(requirements, start=1):
        for atom in requirement.atoms():
            numbers.setdefault(atom, number)
    return numbers


def break_of(number: int, atom: Atom, piece: Piece, group: dict[str, str], telling: tuple[str, ...]) -> Break:
    """A break, with the level of the search turned into the unit of the bound."""
    level = atom.in_unit(piece.level)
    return Break(number, atom, group, telling, piece.records, level, atom.bound, piece.broken, piece.pieces)


Why = Literal["unveiled", "unheld", "pure", "noise", "invalid"]
"""Nothing is below the block; no record holds it; all its records are of one class; a refinement would tell too little
about the class; a requirement would break."""


FEW = 0.05
"""Up to this share of the records of a block, those that hold its refinement back are named."""


@dataclass(frozen=True)
class Stop:
    """A way to refine a block that was not taken, or a block that there is no way to refine."""

    block: str
    into: tuple[str, ...]
    """The labels that would take its place; none where nothing is below it."""
    why: Why
    records: int
    """How many records hold the block."""
    breaks: tuple[Break, ...] = ()
    """The requirements that would break. None for an invalid refinement only if it is so by rounding alone."""
    group: dict[str, str] | None = None
    """The labels of the group that was not refined, where groups are refined one by one."""
    fewest: Fewest | None = None
    """What a few records cost; None where they are many, or where it was not counted."""

    @property
    def distance(self) -> float:
        """How far it is from valid, as a share of what is asked: the farthest of its requirements."""
        return max((item.share for item in self.breaks), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        held = {key: value for key, value in vars(self).items() if key not in ("group", "fewest") or value is not None}
        held |= {} if self.fewest is None else {"fewest": self.fewest._asdict()}
        return {**held, "into": list(self.into), "breaks": [item.to_dict() for item in self.breaks]}


@dataclass(frozen=True)
class Cut:
    """An attribute as the search left it."""

    attribute: str
    masking: MaskingKind
    blocks: int
    """How many blocks records may hold: the empty rest of `⊥` is none."""
    stops: tuple[Stop, ...]
    hidden: tuple[str, ...]
    """The values behind `⊥` that records hold. For the owner's eyes, as everything here."""
    groups: int | None = None
    """How many groups there are, each with its own reason; None where all groups are refined alike."""

    @property
    def invalid(self) -> tuple[Stop, ...]:
        """The ways that a requirement prevents, the nearest to valid first."""
        return tuple(sorted((stop for stop in self.stops if stop.why == "invalid"), key=lambda stop: stop.distance))

    @property
    def against(self) -> dict[int, int]:
        """How many refinements each requirement prevents, by its number in the spec; the most first."""
        numbers = Counter(number for stop in self.stops for number in {item.requirement for item in stop.breaks})
        return dict(sorted(numbers.items(), key=lambda item: (-item[1], item[0])))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "attribute": self.attribute,
            "masking": self.masking,
            "blocks": self.blocks,
            "hidden": list(self.hidden),
            "against": [{"requirement": number, "refinements": count} for number, count in self.against.items()],
            "stops": [stop.to_dict() for stop in self.stops],
        }


def cuts_of(table: Table, requirements: Sequence[Requirement], search: Search) -> tuple[Cut, ...]:
    """What prevents each further refinement of a search that has come to its end.

    Resolved requirements that others imply count too: once those others are relaxed, they may be what breaks.
    """
    left: dict[int, list[Remaining]] = {column: [] for column in search.cuts}
    for item in search.remaining():
        left[item.column].append(item)
    counted = _counted(table, requirements, search)
    omissible = not any(requirement.of_whole for requirement in requirements)
    cuts = []
    for column, items in left.items():
        about = [held for held in counted if column in held.columns]
        ways = [way for item in items if item.beneficial for way in ways_of(item)]
        breaks = _breaks(table, search.cuts, about, column, ways)
        cuts.append(_cut(table, column, items, breaks, about if omissible else ()))
    return tuple(cuts)


class Counted(NamedTuple):
    """The groups on a set of attributes, and the requirements on them."""

    columns: tuple[int, ...]
    groups: Groups
    atoms: Sequence[tuple[int, Atom]]
    """With the number of the requirement of each."""
    levels: Sequence[Level]


def _counted(table: Table, requirements: Sequence[Requirement], search: Search) -> list[Counted]:
    numbers, counted = atom_numbers(requirements), []
    for (columns, sensitive), atoms in shared_groups(table, numbers).items():
        groups = Groups(table, search.cuts, columns, sensitive)
        values = () if sensitive is None else table.columns[sensitive].texts
        levels = [atom.level(values, groups.total()) for atom in atoms]
        counted.append(Counted(columns, groups, [(numbers[atom], atom) for atom in atoms], levels))
    return counted


def _fewest(table: Table, column: int, item: Remaining, counted: Sequence[Counted]) -> Fewest | None:
    """How many records keep a block from being refined into all its parts, if they are few and parts remain."""
    way = Way(item.block, item.parts, False)
    short = np.zeros(table.rows, dtype=np.bool_)
    for held in counted:
        short |= held.groups.short(column, way, held.levels)
    records = int(table.row_records[short].sum())
    kept = set(np.unique(table.columns[column].codes[~short]).tolist())
    if not 0 < records <= FEW * item.records or sum(not kept.isdisjoint(part.codes.tolist()) for part in way.parts) < 2:
        return None
    return cost_of(table, short, short, way.labels)


def _cut(
    table: Table,
    column: int,
    items: Sequence[Remaining],
    breaks: Sequence[Sequence[Break]],
    counted: Sequence[Counted],
) -> Cut:
    in_turn = iter(breaks)
    stops: list[Stop] = []
    for item in items:
        if not len(item.block.codes):
            continue
        if item.beneficial and item.parts:
            held = [_stop(item, "invalid", way.labels, tuple(next(in_turn))) for way in ways_of(item)]
            stops += [replace(held[0], fewest=_fewest(table, column, item, counted)), *held[1:]]
        elif not item.records:
            stops.append(_stop(item, "unheld"))
        else:
            stops.append(_stop(item, "pure" if item.parts else "unveiled"))
    attribute = table.attributes[column]
    return Cut(
        attribute=attribute.name,
        masking=attribute.masking,
        blocks=sum(1 for item in items if len(item.block.codes)),
        stops=tuple(stops),
        hidden=tuple(part.label for item in items if item.discloses for part in item.parts),
    )


def _stop(item: Remaining, why: Why, into: tuple[str, ...] = (), breaks: tuple[Break, ...] = ()) -> Stop:
    return Stop(item.block.label, into, why, item.records, breaks)


def _breaks(
    table: Table, cuts: Mapping[int, Sequence[Block]], counted: Sequence[Counted], refined: int, ways: Sequence[Way]
) -> list[list[Break]]:
    """For each way to refine an attribute the requirements that would break."""
    found: list[list[Break]] = [[] for _ in ways]
    for held in counted:
        worst = [_Worst(level, len(ways)) for level in held.levels]
        for pieces in held.groups.pieces(refined, ways):
            for item in worst:
                item.take(pieces)
        names = {column: table.attributes[column].name for column in held.columns}
        # Fully masked attributes tell nothing.
        telling = tuple(name for column, name in names.items() if column == refined or len(cuts[column]) > 1)
        for (number, atom), item in zip(held.atoms, worst, strict=True):
            for place, piece in item.broken():
                group = {name: held.groups.block(column, piece.group).label for column, name in names.items()}
                group[names[refined]] = ways[place].labels[piece.child]
                found[place].append(break_of(number, atom, piece, group, telling))
    return found


class _Worst:
    """Of the pieces of each refinement the least private one; of several the largest."""

    def __init__(self, level: Level, ways: int) -> None:
        self._level = level
        self._lowest: FloatArray = np.full(ways, np.inf)
        none: IntArray = np.zeros(ways, dtype=np.int64)
        self._size, self._group, self._child, self._pieces, self._broken = (none.copy() for _ in range(5))

    def take(self, pieces: Pieces) -> None:
        """Counts in some more pieces."""
        levels = self._level.of(pieces.counts)
        sizes = pieces.records
        self._pieces += np.bincount(pieces.way, minlength=len(self._pieces))
        self._broken += np.bincount(pieces.way[~self._level.holds(levels)], minlength=len(self._pieces))
        order = np.lexsort((pieces.child, pieces.group, -sizes, levels, pieces.way))
        first = order[np.flatnonzero(np.append(True, np.diff(pieces.way[order]) != 0))]
        way = pieces.way[first]
        worse = (levels[first] < self._lowest[way]) | (
            (levels[first] == self._lowest[way]) & (sizes[first] > self._size[way])
        )
        first, way = first[worse], way[worse]
        self._lowest[way], self._size[way] = levels[first], sizes[first]
        self._group[way], self._child[way] = pieces.group[first], pieces.child[first]

    def broken(self) -> list[tuple[int, Piece]]:
        """The refinements after which the requirement would not hold, each with its worst piece."""
        facts = (self._group, self._child, self._lowest, self._size, self._broken, self._pieces)
        ways = np.flatnonzero(self._broken)
        return list(zip(ways.tolist(), map(Piece, *(fact[ways].tolist() for fact in facts)), strict=True))
