"""Who is held back, so that a release keeps its promise together with earlier ones.

The people whom a history places alike are now released, or left: absent from now on. Both must keep every promise, if
there are any. Masking changes neither, because the earlier labels are out. So people who are released join those who
left, until both hold; at worst, all do, who are then as many as they were in the earlier releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import BoolArray, IntArray, group_numbers
from unveil.counting.earlier import Earlier, Then
from unveil.counting.memory import MemoryEngine
from unveil.errors import RequirementError, SpecError, count_text, listed
from unveil.publishers.guards import level_then, resolved_requirements, shared_groups
from unveil.schema import Atom, Level, Spec, without_redundant
from unveil.tables import Outline

Columns = tuple[int, ...]


@dataclass(frozen=True)
class Check:
    """Levels that groups must hold, and the codes that these count."""

    codes: IntArray
    size: int
    levels: tuple[Level, ...]

    def broken(self, who: IntArray, group: IntArray, groups: int) -> BoolArray:
        """Which groups of some people break a level; empty ones do not."""
        cells = group * self.size + self.codes[who]
        counts = np.bincount(cells, minlength=groups * self.size).reshape(groups, self.size)
        held, broken = counts.any(axis=1), np.zeros(groups, dtype=np.bool_)
        for level in self.levels:
            broken[held] |= ~level.holds(level.of(counts[held]))
        return broken


@dataclass(frozen=True)
class Side:
    """A set of attributes: what its requirements ask of those who are released, and of those who left."""

    history: IntArray
    """By the number of a person."""
    group: IntArray
    """The group of each row in the new release, as far as it is known."""
    now: tuple[Check, ...]
    """By row."""
    then: tuple[Check, ...]
    """By the number of a person."""

    def fewest(self, left: IntArray, others: IntArray) -> int:
        """How many others must join those who left, so that they keep every level; all, if that is what it takes."""
        enough = 1
        while enough < len(others) and not self._kept(left, others[:enough]):
            enough *= 2
        low, high = enough // 2, min(enough, len(others))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._kept(left, others[:middle]) else (middle, high)
        return high

    def _kept(self, left: IntArray, joining: IntArray) -> bool:
        together = np.concatenate([left, joining])
        one = np.zeros(len(together), dtype=np.int64)
        return not any(check.broken(together, one, 1)[0] for check in self.then)


class Withholding:
    """The people of a table and of earlier releases, and who of them is released."""

    def __init__(
        self,
        table: Outline,
        spec: Spec,
        engine: MemoryEngine,
        earlier: Earlier,
        groups: Mapping[Columns, IntArray] | None = None,
    ) -> None:
        """Finds out who is in the table, whose rows the engine has.

        Where the masking is known already, `groups` has the group of each row on the attributes of a requirement.
        """
        check_one_row_each(table, spec)
        self._requirements = resolved_requirements(table, spec)
        atoms = without_redundant([atom for requirement in self._requirements for atom in requirement.atoms()])
        self._table, self._spec, self._earlier = table, spec, earlier
        self._shared = shared_groups(table, atoms)
        sensitive = sorted({column for _, column in self._shared if column is not None})
        self.words, self._codes = engine.people(sensitive)
        self._numbers = earlier.numbers(tuple(self.words.T))
        self._thens = [then for column in sensitive for then in self._then(column)]
        self.released: BoolArray = np.ones(len(self.words), dtype=np.bool_)
        """Which rows are not held back."""
        self._groups = groups or {}
        self._check_earlier()

    def settle(self) -> None:
        """Holds people back until every promise holds."""
        while True:
            before = int(self.released.sum())
            # What is compared with the whole table changes with it.
            sides = [self._side(columns) for columns in dict.fromkeys(columns for columns, _ in self._shared)]
            for side in sides:
                self._hold_back_groups(side)
            lacking = [self._lacking(side) for side in sides]
            # For each row, in how many sets of attributes it would help to hold it back.
            shortages = np.zeros(len(self.words), dtype=np.int64)
            for side, lacks in zip(sides, lacking, strict=True):
                shortages += np.isin(side.history[self._numbers], lacks)
            for side, lacks in zip(sides, lacking, strict=True):
                self._hold_back_others(side, lacks, shortages)
            if not self.released.any() or int(self.released.sum()) == before:
                return

    @property
    def numbers(self) -> IntArray:
        """The number of each released row's person among those of the earlier releases."""
        return self._numbers[self.released]

    @property
    def then(self) -> list[Then]:
        """What earlier releases say about sensitive attributes, where it is not what the table says now."""
        return [then for then in self._thens if self._differs(then)]

    def _differs(self, then: Then) -> bool:
        """Whether somebody has another value now, or the values of the whole table matter."""
        name = self._table.attributes[then.column].name
        if any(item.of_whole for item in self._requirements if item.sensitive == name):
            return True
        place_of = {value: place for place, value in enumerate(then.values)}
        now = np.array([place_of[value] for value in self._table.columns[then.column].texts], dtype=np.int64)
        before = then.codes[self._numbers]
        return bool(((before < len(then.values)) & (before != now[self._codes[then.column]]) & self.released).any())

    def _then(self, column: int) -> Iterator[Then]:
        attribute, values = self._table.attributes[column], self._table.columns[column].texts
        for link in range(len(self._earlier.links)):
            found = self._earlier.then(link, column, attribute.name, values, ordered=attribute.kind == "number")
            if found is not None:
                yield found

    def _side(self, columns: Columns) -> Side:
        names = [self._table.columns[column].name for column in columns]
        asked = [(sensitive, atoms) for (held, sensitive), atoms in self._shared.items() if held == columns]
        now = (check for sensitive, atoms in asked for check in self._checks_now(sensitive, atoms))
        then = (check for sensitive, atoms in asked for check in self._checks_then(sensitive, atoms))
        group = self._groups.get(columns, np.zeros(len(self.words), dtype=np.int64))
        return Side(self._earlier.histories(names), group, tuple(now), tuple(then))

    def _checks_now(self, sensitive: int | None, atoms: Sequence[Atom]) -> Iterator[Check]:
        """What the rows must keep by their values now, and by those of earlier releases."""
        codes = np.zeros(len(self.words), dtype=np.int64) if sensitive is None else self._codes[sensitive]
        values = () if sensitive is None else self._table.columns[sensitive].texts
        size = len(values) or 1
        total = np.bincount(codes[self.released], minlength=size)
        yield Check(codes, size, tuple(atom.level(values, total) for atom in atoms))
        for check in self._checks_then(sensitive, atoms) if sensitive is not None else ():
            yield Check(check.codes[self._numbers], check.size, check.levels)

    def _checks_then(self, sensitive: int | None, atoms: Sequence[Atom]) -> Iterator[Check]:
        """What people must keep by what earlier releases say about them."""
        if sensitive is None:
            total = np.array([len(self._earlier)])
            codes = np.zeros(len(self._earlier) + 1, dtype=np.int64)
            yield Check(codes, 1, tuple(atom.level((), total) for atom in atoms))
        for then in self._thens:
            if then.column == sensitive:
                levels = tuple(level for atom in atoms if (level := level_then(atom, then)))
                yield Check(then.codes, then.size, levels)

    def _left(self) -> IntArray:
        """Who is in an earlier release and not in this one."""
        left = np.ones(len(self._earlier) + 1, dtype=np.bool_)
        left[self._numbers[self.released]] = False
        return np.flatnonzero(left[:-1])

    def _hold_back_groups(self, side: Side) -> None:
        """Holds back groups that break a level: masking can only keep them as they are, or divide them."""
        rows = np.flatnonzero(self.released)
        if not len(rows):
            return
        group, groups = group_numbers([side.history[self._numbers[rows]], side.group[rows]])
        broken = np.zeros(groups, dtype=np.bool_)
        for check in side.now:
            broken |= check.broken(rows, group, groups)
        self.released[rows[broken[group]]] = False

    def _lacking(self, side: Side) -> IntArray:
        """The histories whose people who left break a level."""
        left, histories = self._left(), int(side.history[-1]) + 1
        broken = np.zeros(histories, dtype=np.bool_)
        for check in side.then:
            broken |= check.broken(left, side.history[left], histories)
        return np.flatnonzero(broken)

    def _hold_back_others(self, side: Side, lacking: IntArray, shortages: IntArray) -> None:
        """Lets people join those who left, as few as it takes; first those who are short elsewhere too.

        Among equals the order is that of hashes, which says nothing about anybody.
        """
        rows = np.flatnonzero(self.released & np.isin(side.history[self._numbers], lacking))
        rows = rows[np.lexsort((self._numbers[rows], -shortages[rows], side.history[self._numbers[rows]]))]
        left = self._left()
        left = left[np.argsort(side.history[left], kind="stable")]
        here, gone = side.history[self._numbers[rows]], side.history[left]
        for history in lacking.tolist():
            others = rows[_span(here, history)]
            joining = side.fewest(left[_span(gone, history)], self._numbers[others])
            self.released[others[:joining]] = False

    def _check_earlier(self) -> None:
        """Refuses earlier releases that break a requirement by themselves: no later one can repair that."""
        everybody = np.arange(len(self._earlier))
        for (columns, sensitive), atoms in self._shared.items():
            history = self._earlier.histories([self._table.columns[column].name for column in columns])
            for atom in atoms:
                for check in self._checks_then(sensitive, [atom]):
                    if check.broken(everybody, history[:-1], int(history[-1]) + 1).any():
                        raise RequirementError(self._already_broken(atom))

    def _already_broken(self, atom: Atom) -> str:
        names = listed([link.name for link in self._earlier.links])
        return (
            f"{self._spec.origin}: no release can keep {atom} together with the earlier ones ({names} in "
            f"{self._spec.history}): their own groups do not; ask for no more than they promise."
        )


def check_one_row_each(table: Outline, spec: Spec) -> None:
    """Refuses several rows of a person: which of them a reader knows would decide who looks alike."""
    if table.persons is not None and table.persons.several:
        several = count_text(table.persons.several, "person")
        raise SpecError(
            f"{spec.origin}: [publish] history needs one row per person, but {several} of {table.origin} "
            f"{'has' if table.persons.several == 1 else 'have'} several; make them one row each."
        )


def _span(history: IntArray, wanted: int) -> slice:
    """Where a history lies in ascending ones."""
    return slice(int(np.searchsorted(history, wanted)), int(np.searchsorted(history, wanted, side="right")))
