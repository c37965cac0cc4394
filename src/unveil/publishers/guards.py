"""From the owner's requirements to the guards of a search, after checking that they can hold at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.characters import hidden_character, hidden_in_value
from unveil.counting import Engine
from unveil.counting.earlier import Then
from unveil.errors import RequirementError, TableError, did_you_mean, rows_text
from unveil.noise import Source, below
from unveil.progress import Tasks, Watcher, unwatched
from unveil.refine import Guard
from unveil.schema import Atom, Domain, KAnonymity, Level, Requirement, Spec, without_redundant
from unveil.tables import Outline

SECRET = 32
"""How many bytes say which rows the masking is learned from."""
Sharing = tuple[tuple[int, ...], int | None]
"""The attributes and the sensitive attribute of an index."""


def resolved_requirements(table: Outline, spec: Spec) -> tuple[Requirement, ...]:
    """The requirements with what depends on the data filled in: all values, and their order."""
    return tuple(_resolved(requirement, table, spec) for requirement in spec.requirements)


def _resolved(requirement: Requirement, table: Outline, spec: Spec) -> Requirement:
    if requirement.sensitive is None:
        return requirement
    column = [attribute.name for attribute in table.attributes].index(requirement.sensitive)
    domain = table.columns[column].texts
    for value in getattr(requirement, "values", None) or ():
        if value not in domain:
            hint = did_you_mean(value, domain) or "."
            raise TableError(
                f"{spec.origin}: the value {value!r} of the sensitive attribute {requirement.sensitive!r} "
                f"is not one that {table.origin} has{hint}"
            )
    held = np.flatnonzero(table.histograms[column].sum(axis=1))
    category = table.attributes[column].kind == "category"
    return requirement.resolved(Domain(domain, tuple(domain[code] for code in held), category))


def redundant_atoms(requirements: Sequence[Requirement]) -> tuple[Atom, ...]:
    """Requirements that others imply, so that the search need not know them."""
    atoms = [atom for requirement in requirements for atom in requirement.atoms()]
    kept = {id(atom) for atom in without_redundant(atoms)}
    return tuple(atom for atom in atoms if id(atom) not in kept)


def check_readable(table: Outline, spec: Spec) -> None:
    """Refuses values with invisible characters where a release shows or counts them.

    Tabs and line breaks are data in a masked category, but not in what is counted, named or predicted.
    """
    counted = {requirement.sensitive for requirement in spec.requirements}
    pairs = zip(table.attributes, table.columns, strict=True)
    texts = {attr.name: column.values for attr, column in pairs if attr.name in {*spec.masked, *counted}}
    for name, values in {**texts, table.classes.name: table.classes.values, "its header": table.others.names}.items():
        find = hidden_in_value if name in texts and name not in counted else hidden_character
        for value in values:
            if isinstance(value, str) and (found := find(value)):
                place = f"{table.origin}: {name!r} holds {value!r}"
                raise TableError(f"{place}, with the character {found}, which is invisible.")


def shared_groups(table: Outline, atoms: Iterable[Atom]) -> dict[Sharing, list[Atom]]:
    """The atoms that are about the same groups, counted by the same sensitive attribute."""
    place = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    shared: dict[Sharing, list[Atom]] = {}
    for atom in atoms:
        columns = tuple(sorted(place[name] for name in atom.attributes))
        sensitive = None if atom.sensitive is None else place[atom.sensitive]
        shared.setdefault((columns, sensitive), []).append(atom)
    return shared


def checked_levels(
    table: Outline, spec: Spec, requirements: Sequence[Requirement], then: Sequence[Then] = ()
) -> dict[Sharing, list[Level]]:
    """The levels of the requirements that others do not imply, by their attributes and their sensitive attribute.

    What earlier releases say about a sensitive attribute must hold too; it follows the columns of the table. Refuses a
    requirement that does not hold even if everything is masked, so that no release can satisfy it.
    """
    check_readable(table, spec)
    needed = without_redundant([atom for requirement in requirements for atom in requirement.atoms()])
    levels: dict[Sharing, list[Level]] = {}
    for (columns, sensitive), atoms in shared_groups(table, needed).items():
        total = np.array([table.size]) if sensitive is None else table.histograms[sensitive].sum(axis=1)
        values = () if sensitive is None else table.columns[sensitive].texts
        held = [atom.level(values, total) for atom in atoms]
        for atom, level in zip(atoms, held, strict=True):
            if not level.holds(level.of(total[None, :]))[0]:
                raise RequirementError(_cannot_hold(atom, level.shortfall(), table, spec))
        levels[columns, sensitive] = [
            _with_surplus(level, spec.surplus or 0, total) if isinstance(atom, KAnonymity) else level
            for atom, level in zip(atoms, held, strict=True)
        ]
    return {**levels, **_levels_then(table, needed, then)}


def _levels_then(table: Outline, atoms: Iterable[Atom], then: Sequence[Then]) -> dict[Sharing, list[Level]]:
    """The levels by what earlier releases say about sensitive attributes."""
    shared = shared_groups(table, atoms)
    found: dict[Sharing, list[Level]] = {}
    for number, values in enumerate(then):
        for (columns, sensitive), held in shared.items():
            levels = [level for atom in held if (level := level_then(atom, values))]
            if sensitive == values.column and levels:
                found[columns, len(table.columns) + number] = levels
    return found


def level_then(atom: Atom, then: Then) -> Level | None:
    """The level of an atom in an earlier release; None if it has no such value.

    People who are absent from it do not count: those with the same history are absent as a whole, or not at all.
    """
    value = getattr(atom, "value", None)
    if value is not None and value not in then.values:
        return None
    level = atom.level(then.values, then.total)

    def of_present(counts: IntArray) -> FloatArray:
        held = counts[:, :-1].any(axis=1)
        levels = np.full(len(counts), np.inf)
        levels[held] = level.of(counts[held, :-1])
        return levels

    return replace(level, of=of_present)


def hardened(spec: Spec, source: Source) -> Spec:
    """The spec of one release, with what is secret about it drawn, unless it is there already.

    That is what says which rows the masking is learned from, and the surplus of its margin: geometric, so that a reader
    can never exclude 0. A reader who sees what the search did not do then cannot tell whether k forbade it, or the
    surplus.
    """
    if spec.learn and spec.secret is None:
        spec = replace(spec, secret=source.bytes(SECRET))
    if spec.surplus is not None:
        return spec
    surplus = 0
    while spec.margin and below(source, spec.margin + 1):
        surplus += 1
    return replace(spec, surplus=surplus)


def _with_surplus(level: Level, surplus: int, total: IntArray) -> Level:
    """The level of a group size with a surplus, as far as the whole table has it."""
    return replace(level, least=min(level.least + surplus, float(level.of(total[None, :])[0])))


def make_guards(
    table: Outline,
    spec: Spec,
    requirements: Sequence[Requirement],
    engine: Engine,
    progress: Watcher = unwatched,
) -> list[Guard]:
    """One guard for each set of attributes and sensitive attribute, over all requirements on it."""
    guards = []
    shared = checked_levels(table, spec, requirements, engine.then)
    counted = Tasks(progress, "counting groups", len(shared))
    for (columns, sensitive), levels in shared.items():
        guards.append(Guard(levels, engine.index(columns, sensitive), columns))
        counted.finish()
    return guards


def _cannot_hold(atom: Atom, reason: str, table: Outline, spec: Spec) -> str:
    dropped = f" ({rows_text(table.dropped)} with missing values left out)" if table.dropped else ""
    return f"{spec.origin}: no release of {table.origin} can satisfy {atom}: {reason}{dropped}."
