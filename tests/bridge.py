"""From a problem of the brute-force oracle to what a user of the library would hold: a spec and a table."""

import pyarrow as pa

from oracles.problem import QID, Closeness, Discretized, Diversity, Generalized, Problem, Suppressed, Template
from oracles.problem import Attribute as OracleAttribute
from unveil.schema import (
    Attribute,
    Confidence,
    KAnonymity,
    LDiversity,
    Requirement,
    Spec,
    TableSpec,
    Taxonomy,
    TCloseness,
)

CLASS = "the class"
WEIGHT = "# of Recs."


def spec_of(problem: Problem) -> Spec:
    return Spec(
        table=TableSpec(class_=CLASS, weight=WEIGHT),
        attributes={
            **{attribute.name: attribute_of(attribute, problem) for attribute in problem.attributes},
            **{name: Attribute(name, values=tuple(values)) for name, values in problem.sensitive.items()},
        },
        requirements=tuple(requirement_of(requirement) for requirement in problem.requirements),
        criterion=problem.criterion,
    )


def requirement_of(requirement: QID | Template | Diversity | Closeness) -> Requirement:
    match requirement:
        case QID():
            return KAnonymity(tuple(requirement.attributes), requirement.k)
        case Template():
            values = (requirement.value,)
            return Confidence(tuple(requirement.channel), requirement.sensitive, values, float(requirement.limit))
        case Diversity():
            return LDiversity(tuple(requirement.qid), requirement.sensitive, requirement.l, requirement.variant)
        case Closeness():
            return TCloseness(tuple(requirement.qid), requirement.sensitive, requirement.t, requirement.distance)


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
        columns[name] = pa.array([record.values[name] for record in problem.records], pa.string())
    columns[CLASS] = pa.array([record.cls for record in problem.records])
    columns[WEIGHT] = pa.array([record.weight for record in problem.records])
    return pa.table(columns)
