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
from unveil.schema import (
    Attribute,
    BetaLikeness,
    Confidence,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    Recoding,
    Requirement,
    Spec,
    TableSpec,
    Taxonomy,
    TCloseness,
)

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
    if isinstance(attribute, Generalized):
        return Attribute(attribute.name, taxonomy=Taxonomy(attribute.tree))
    if isinstance(attribute, Suppressed):
        return Attribute(attribute.name, values=tuple(attribute.values))
    whole = all(isinstance(record.values[attribute.name], int) for record in problem.records)
    return Attribute(attribute.name, kind="number", range=(attribute.lo, attribute.hi), whole=whole)


def table_of(problem: Problem) -> pa.Table:
    """The compressed table: one row per record of the problem, with its weight."""
    columns = {
        attribute.name: pa.array(
            [record.values[attribute.name] for record in problem.records],
            pa.string() if not isinstance(attribute, Discretized) else None,
        )
        for attribute in problem.attributes
    }
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


def records_of(problem: Problem, records: Iterable[Record]) -> Counter:
    """Masked records as a multiset, with the values that a released table has."""
    counts: Counter = Counter()
    for record in records:
        attributes = [(attribute.name, record.values[attribute.name]) for attribute in problem.attributes]
        as_is = [(name, sensitive_value(name, record.values[name], problem)) for name in problem.sensitive]
        counts[(*attributes, *as_is, (CLASS, record.cls))] += record.weight
    return counts
