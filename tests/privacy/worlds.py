"""Tiny domains, all tables over them up to a size, and their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import pyarrow as pa

from unveil.schema import Attribute, PrivatePlan, Spec, TableSpec, Taxonomy
from unveil.tables import Table, load_table

CLASS = "class"
LABELS = ("Y", "N")
Record = tuple[object, ...]
"""One value per attribute, and the class."""
Records = tuple[Record, ...]


@dataclass(frozen=True)
class World:
    """A schema small enough to list every record that could be."""

    attributes: tuple[Attribute, ...]
    labels: tuple[str, ...] = LABELS
    person: tuple[str, ...] = ()
    """The column that says whose row it is, if any; a record then begins with it."""

    def spec(self, plan: PrivatePlan) -> Spec:
        return Spec(
            table=TableSpec(class_=CLASS, class_values=self.labels, person=self.person),
            attributes={attribute.name: attribute for attribute in self.attributes},
            requirements=(),
            plan=plan,
        )

    def raw(self, records: Records) -> pa.Table:
        """The records as an owner has them."""
        names = [*self.person, *(attribute.name for attribute in self.attributes), CLASS]
        numbers = {attribute.name for attribute in self.attributes if attribute.kind == "number"}
        columns = list(zip(*records, strict=True)) or [()] * len(names)
        types = [pa.float64() if name in numbers else pa.string() for name in names]
        return pa.table([pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)], names=names)

    def table(self, records: Records, plan: PrivatePlan) -> Table:
        """The records as the publisher gets them."""
        return load_table(self.spec(plan), self.raw(records))

    def records(self) -> list[Record]:
        """Every record that could be."""
        return list(product(*(_values(attribute) for attribute in self.attributes), self.labels))

    def neighbours(self, most: int) -> Iterator[tuple[Records, Records]]:
        """Every table of fewer records than `most`, each next to every table with one record more."""
        domain = self.records()
        for size in range(most):
            for held in combinations_with_replacement(range(len(domain)), size):
                for added in range(len(domain)):
                    more = sorted((*held, added))
                    yield tuple(domain[place] for place in held), tuple(domain[place] for place in more)

    def people(self, most: int) -> Iterator[Records]:
        """All that one person can have: up to so many records."""
        for size in range(1, most + 1):
            yield from combinations_with_replacement(self.records(), size)

    def person_neighbours(self, others: Iterable[Records], most: int) -> Iterator[tuple[Records, Records]]:
        """Tables of some others, each next to every table with one person more, of up to so many records."""
        for held in others:
            for rows in self.people(most):
                yield held, (*held, *of_person("anna", rows))


def of_person(name: str, rows: Records) -> Records:
    """The records of somebody."""
    return tuple((name, *row) for row in rows)


def _values(attribute: Attribute) -> tuple[object, ...]:
    if attribute.range is not None:
        return tuple(range(int(attribute.range[0]), int(attribute.range[1])))
    return attribute.taxonomy.leaves if attribute.taxonomy is not None else attribute.values or ()


def number(name: str, size: int) -> Attribute:
    return Attribute(name, kind="number", range=(0, size), whole=True)


def flat(name: str, *values: str) -> Attribute:
    return Attribute(name, values=values)


def tree(name: str) -> Attribute:
    """Two levels: any → {left → {a, b}, c}."""
    return Attribute(name, taxonomy=Taxonomy(("any", [("left", [("a", []), ("b", [])]), ("c", [])])))


WORLDS = {
    "taxonomy and number": World((tree("job"), number("age", 3))),
    "flat and number": World((flat("town", "here", "there"), number("age", 4))),
    "two numbers": World((number("age", 3), number("hours", 3))),
}
