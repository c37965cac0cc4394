"""From a problem of the brute-force oracle to what a user of the library would hold: a spec and a table."""

import pyarrow as pa

from oracles.problem import Attribute as OracleAttribute
from oracles.problem import Discretized, Generalized, Problem, Suppressed
from unveil.schema import Attribute, KAnonymity, Spec, TableSpec, Taxonomy

CLASS = "the class"
WEIGHT = "# of Recs."


def spec_of(problem: Problem) -> Spec:
    return Spec(
        table=TableSpec(class_=CLASS, weight=WEIGHT),
        attributes={attribute.name: attribute_of(attribute, problem) for attribute in problem.attributes},
        requirements=tuple(KAnonymity(tuple(qid.attributes), qid.k) for qid in problem.qids),
        criterion=problem.criterion,
    )


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
    columns[CLASS] = pa.array([record.cls for record in problem.records])
    columns[WEIGHT] = pa.array([record.weight for record in problem.records])
    return pa.table(columns)
