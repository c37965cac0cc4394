"""From a problem of the brute-force oracle to what a user of the library would hold: a spec and a table."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from oracles.problem import (
    QID,
    Closeness,
    Discretized,
    Diversity,
    Generalized,
    Gone,
    Headcount,
    Likeness,
    Problem,
    Record,
    Spread,
    Suppressed,
    Template,
)
from oracles.problem import Attribute as OracleAttribute
from oracles.problem import Requirement as OracleRequirement
from oracles.strategies import NUMBERS
from unveil.release import Release
from unveil.schema import Attribute, Missing, Recoding, Requirement, Spec, TableSpec, Taxonomy
from unveil.schema.requirements import BetaLikeness, Confidence, KAnonymity, KEAnonymity, LDiversity, TCloseness

CLASS = "the class"
WEIGHT = "# of Recs."
PERSON = "whose"


def spec_of(problem: Problem) -> Spec:
    persons = has_persons(problem)
    return Spec(
        table=TableSpec(class_=CLASS, person=(PERSON,)) if persons else TableSpec(class_=CLASS, weight=WEIGHT),
        attributes={
            **{attribute.name: attribute_of(attribute, problem) for attribute in problem.attributes},
            **{name: sensitive_of(name, tuple(values)) for name, values in problem.sensitive.items()},
        },
        requirements=tuple(requirement_of(requirement) for requirement in problem.requirements),
        search="paper",
        recoding="global",
        criterion=problem.criterion,
        bounds="observed",
    )


def has_persons(problem: Problem) -> bool:
    """Whether its records say whose they are; then they have no weights."""
    return bool(problem.records[0].person)


def joint_spec(problem: Problem, recoding: Recoding) -> Spec:
    return replace(spec_of(problem), search="joint", recoding=recoding, criterion="score")


def requirement_of(requirement: OracleRequirement) -> Requirement:
    match requirement:
        case QID():
            return KAnonymity(quasi_identifier=tuple(requirement.attributes), k=requirement.k)
        case Headcount():
            return KAnonymity(quasi_identifier=tuple(requirement.attributes), k=requirement.k).of_persons()
        case Template():
            return Confidence(
                channel=tuple(requirement.channel),
                sensitive=requirement.sensitive,
                values=(requirement.value,),
                limit=float(requirement.limit),
            )
        case Diversity():
            return LDiversity(
                quasi_identifier=tuple(requirement.qid),
                sensitive=requirement.sensitive,
                l=requirement.l,
                variant=requirement.variant,
            )
        case Closeness():
            return TCloseness(
                quasi_identifier=tuple(requirement.qid),
                sensitive=requirement.sensitive,
                t=requirement.t,
                distance=requirement.distance,
            )
        case Likeness():
            qid, beta = tuple(requirement.qid), float(requirement.beta)
            return BetaLikeness(quasi_identifier=qid, sensitive=requirement.sensitive, beta=beta)
        case Spread():
            qid, e = tuple(requirement.qid), float(requirement.e)
            return KEAnonymity(quasi_identifier=qid, k=requirement.k, sensitive=requirement.sensitive, e=e)


def sensitive_of(name: str, values: tuple[str, ...]) -> Attribute:
    return Attribute(name, kind="number", range=(-1, 1)) if values == NUMBERS else Attribute(name, values=values)


def sensitive_value(name: str, value: object, problem: Problem) -> object:
    """A value as the table has it."""
    return float(str(value)) if problem.sensitive[name] == NUMBERS else value


def attribute_of(attribute: OracleAttribute, problem: Problem) -> Attribute:
    missing = missing_of(attribute)
    if isinstance(attribute, Generalized):
        return Attribute(attribute.name, taxonomy=Taxonomy(attribute.tree), missing=missing)
    if isinstance(attribute, Suppressed):
        return Attribute(attribute.name, values=tuple(attribute.values), missing=missing)
    bounds = (attribute.lo, attribute.hi)
    values = (record.values[attribute.name] for record in problem.records)
    whole = all(bound == int(bound) for bound in bounds) and all(isinstance(value, int | Gone) for value in values)
    return Attribute(attribute.name, kind="number", range=bounds, whole=whole, missing=missing)


MARKS = ("N/A", "")
"""The texts of missing values of the first and the second kind, which is that of nulls."""


def missing_of(attribute: OracleAttribute) -> Missing:
    """The policy for missing values of an attribute: they are kept if it has any."""
    labels = [known(raw) for raw in attribute.missing]
    if not labels:
        return Missing()
    marks = MARKS[-len(labels) :]
    return Missing(marks, "keep", tuple((str(label), (mark,)) for label, mark in zip(labels, marks, strict=True)))


def known(raw: object) -> object:
    """A value as a masking knows it: the label of a missing number."""
    return raw.label if isinstance(raw, Gone) else raw


def cells_of(attribute: OracleAttribute, problem: Problem) -> pa.Array:
    """A column of the raw table: the last kind of missing values is null, the first a text."""
    labels = [known(raw) for raw in attribute.missing]
    mark_of = {label: mark or None for label, mark in zip(labels, MARKS[-len(labels) :], strict=bool(labels))}
    values = [
        mark_of.get(known(record.values[attribute.name]), record.values[attribute.name]) for record in problem.records
    ]
    if not isinstance(attribute, Discretized) or len(labels) > 1:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values, pa.float64() if labels else None)


def table_of(problem: Problem) -> pa.Table:
    """The compressed table: one row per record of the problem, with its weight."""
    columns = {attribute.name: cells_of(attribute, problem) for attribute in problem.attributes}
    for name in problem.sensitive:
        values = [sensitive_value(name, record.values[name], problem) for record in problem.records]
        columns[name] = pa.array(values, None if problem.sensitive[name] == NUMBERS else pa.string())
    columns[CLASS] = pa.array([record.cls for record in problem.records])
    if has_persons(problem):
        columns[PERSON] = pa.array([record.person for record in problem.records])
    else:
        columns[WEIGHT] = pa.array([record.weight for record in problem.records])
    return pa.table(columns)


def released_records(release: Release) -> Counter:
    """The released records as a multiset."""
    counts: Counter = Counter()
    for row in release.table.to_pylist():
        weight = row.pop(WEIGHT, 1)
        counts[tuple(row.items())] += weight
    return counts


def released_as(value: object) -> object:
    """A value that is not masked: a missing number is null."""
    return None if isinstance(value, Gone) else value


def records_of(problem: Problem, records: Iterable[Record]) -> Counter:
    """Masked records as a multiset, with the values that a released table has."""
    counts: Counter = Counter()
    for record in records:
        attributes = [(attribute.name, released_as(record.values[attribute.name])) for attribute in problem.attributes]
        as_is = [(name, sensitive_value(name, record.values[name], problem)) for name in problem.sensitive]
        counts[(*attributes, *as_is, (CLASS, record.cls))] += record.weight
    return counts
