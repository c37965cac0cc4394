"""The table that a search works on, in codes: held in memory, or read again batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, BoolArray, FloatArray, IntArray
from unveil.errors import TableError
from unveil.progress import Watcher, unwatched
from unveil.schema import Spec
from unveil.tables.coder import Chunk, Recount, Sight, changed
from unveil.tables.columns import Codes
from unveil.tables.domains import Column, Domain, Outline, RawValues, declared_values, survey_weights
from unveil.tables.persons import WORDS, Persons, RowsOfPersons, Withheld, person_numbers, person_words
from unveil.tables.sources import Source, open_source
from unveil.tables.survey import Survey, one_label


@dataclass(frozen=True)
class Table(Outline):
    """A checked table in memory."""

    columns: tuple[Column, ...]
    classes: Column
    weight: IntArray | None
    other_columns: pa.Table
    kept: BoolArray
    """Which of the rows that were read are left after the missing-value policy."""
    person: IntArray | None
    """The number of each row's person."""
    survey: FloatArray | None = None
    """How many people of the population each row represents, if the table is a survey."""
    words: tuple[IntArray, ...] = ()
    """The person of each row as two numbers, the same in every table, where something needs them."""

    @property
    def outline(self) -> Outline:
        """The table without its rows."""
        return self

    @property
    def row_records(self) -> IntArray:
        """How many records each row represents."""
        return np.ones(self.rows, dtype=np.int64) if self.weight is None else self.weight

    def column(self, name: str) -> Column:
        """The column of an attribute."""
        return next(column for column in self.columns if column.name == name)

    def beyond(self, most: int | None) -> int:
        """How many rows are left out if this many of each person are used; none without a bound."""
        if self.person is None or most is None:
            return 0
        return int(np.maximum(np.bincount(self.person) - most, 0).sum())

    def chunks(self, places: Collection[int], *, others: bool = False, persons: bool = False) -> Iterator[Chunk]:
        """All rows at once."""
        codes = {place: column.codes for place, column in enumerate(self.columns)}
        person = self.words or (() if self.person is None else (self.person,))
        yield Chunk(codes, self.classes.codes, self.weight, self.other_columns, person)


def load_table(
    spec: Spec, source: Any = None, progress: Watcher = unwatched, withheld: Withheld | None = None
) -> Table:
    """Reads a table, the spec's own if no other is given, into memory and checks it against the spec.

    Rows of people who are withheld are left out.
    """
    table = _loaded(spec, open_source(spec.source if source is None else source, spec), progress, withheld)
    # Arrow keeps the memory of the raw rows, several times that of their codes.
    pa.default_memory_pool().release_unused()
    return table


def _loaded(spec: Spec, opened: Source, progress: Watcher, withheld: Withheld | None) -> Table:
    survey = Survey(spec, opened.schema, opened.origin, withheld)
    progress(f"reading {opened.origin}", 0, None)
    raw = opened.table([*survey.names, *survey.others])
    progress(f"checking {opened.origin}", 0, None)
    sight = survey.add(raw)
    outline, coder = survey.result()
    chunk = coder.coded(sight, raw, coder.others)
    columns = tuple(_column(domain, chunk.codes[place]) for place, domain in enumerate(outline.columns))
    classes = _column(outline.classes, chunk.classes)
    whose = [sight.columns[name] for name in coder.person]
    person = person_numbers(whose) if whose else None
    wanted = spec.plan is not None or spec.history is not None or spec.learn > 0
    words = person_words(whose) if whose and wanted else ()
    facts = {**vars(outline), "columns": columns, "classes": classes, "persons": _persons(person, words)}
    return Table(
        **facts,
        weight=chunk.weight,
        other_columns=chunk.others,
        kept=sight.kept,
        person=person,
        survey=_survey(sight, raw.schema, spec, opened.origin),
        words=words,
    )


def _survey(sight: Sight, schema: pa.Schema, spec: Spec, origin: str) -> FloatArray | None:
    """The survey weight of each row; a private release does not read it."""
    if spec.survey_weight is None or spec.survey_weight.name not in sight.columns:
        return None
    raw = sight.columns[spec.survey_weight.name]
    rows = np.bincount(raw.places, minlength=len(raw.distinct))
    seen = RawValues(raw.name, raw.distinct, rows, schema.field(raw.name).type)
    weights = np.zeros(len(rows))
    weights[rows > 0] = survey_weights(seen.without(rows == 0), origin)
    return weights[raw.places]


def _persons(person: IntArray | None, words: Sequence[IntArray]) -> Persons | None:
    """How many persons the rows are of, by the numbers of these."""
    if person is None:
        return None
    rows = np.bincount(person)
    return Persons.of(rows[rows > 0], WORDS if words else (len(rows),))


def part_of(table: Table, spec: Spec, rows: IntArray, origin: str) -> Table:
    """Some rows of a checked table, by position, as if `load_table` had read only these."""
    classes = _held(table.classes, rows, observed=spec.table.class_values is None)
    if spec.plan is None and (classes.codes == classes.codes[0]).all():
        raise one_label(origin, classes.name, str(classes.values[int(classes.codes[0])]))
    columns = tuple(
        _held(column, rows, observed=declared_values(attribute) is None)
        for attribute, column in zip(table.attributes, table.columns, strict=True)
    )
    weight = None if table.weight is None else table.weight[rows]
    person = None if table.person is None else table.person[rows]
    words = tuple(word[rows] for word in table.words)
    return replace(
        table,
        columns=columns,
        classes=classes,
        histograms=tuple(_histogram(column, classes, weight) for column in columns),
        read=len(rows),
        dropped=0,
        withheld=0,
        records=len(rows) if weight is None else int(weight.sum()),
        origin=origin,
        weight=weight,
        other_columns=table.other_columns.take(pa.array(rows)) if table.others.names else table.other_columns,
        kept=np.ones(len(rows), dtype=np.bool_),
        person=person,
        persons=_persons(person, words),
        words=words,
        survey=None if table.survey is None else table.survey[rows],
    )


def table_of(outline: Outline, codes: Sequence[Codes], classes: Codes, weight: IntArray) -> Table:
    """Some rows in the codes of a private table, each as often as its weight says, as if only these had been read."""
    held = weight > 0
    rows, counts = np.flatnonzero(held), weight[held]
    columns = tuple(
        _held(_column(domain, column), rows, observed=declared_values(attribute) is None)
        for attribute, domain, column in zip(outline.attributes, outline.columns, codes, strict=True)
    )
    labels = _column(outline.classes, classes[rows])
    facts = {
        **{item.name: getattr(outline, item.name) for item in fields(Outline)},
        "columns": columns,
        "classes": labels,
        "histograms": tuple(_histogram(column, labels, counts) for column in columns),
        "read": len(rows),
        "dropped": 0,
        "records": int(counts.sum()),
        "persons": None,
    }
    kept = np.ones(len(rows), dtype=np.bool_)
    return Table(**facts, weight=counts, other_columns=outline.others.empty_table(), kept=kept, person=None)


def _held(column: Column, rows: IntArray, *, observed: bool) -> Column:
    """A column of some rows; an observed domain has only the values that they hold."""
    if not observed:
        return replace(column, codes=column.codes[rows])
    codes = column.codes[rows]
    found = np.bincount(codes, minlength=len(column)) > 0
    held, values = np.flatnonzero(found), column.values
    kept = tuple(values[code] for code in held) if isinstance(values, tuple) else values[held]
    gone = len(values) - len(column.missing)
    missing = tuple(column.missing[code - gone] for code in held.tolist() if code >= gone)
    places = (np.cumsum(found) - 1).astype(np.int32)
    return replace(column, values=kept, missing=missing, codes=places[codes])


def _histogram(column: Column, classes: Column, weight: IntArray | None) -> IntArray:
    cells = column.codes.astype(np.int64) * len(classes) + classes.codes
    counts = np.bincount(cells, weights=weight, minlength=len(column) * len(classes))
    return counts.astype(np.int64).reshape(len(column), len(classes))


def _column(domain: Domain, codes: Codes) -> Column:
    return Column(domain.name, domain.values, domain.type, domain.missing, codes=codes)


class StreamedTable:
    """A table that is read again for every pass, in batches, so that memory does not grow with its rows."""

    def __init__(
        self, spec: Spec, source: Any = None, progress: Watcher = unwatched, withheld: Withheld | None = None
    ) -> None:
        """Makes the first pass: reads all rows, checks them and counts each attribute."""
        self._progress = progress
        self._source: Source = open_source(spec.source if source is None else source, spec)
        self._stamp = self._source.stamp()
        self._checksums: dict[str, int] = {}
        survey = Survey(spec, self._source.schema, self._source.origin, withheld)
        rows = RowsOfPersons()
        for batch in self._batches(survey.names, self._source.rows()):
            sight = survey.add(batch)
            if spec.table.person:
                rows.add(person_words([sight.columns[name] for name in spec.table.person]))
        outline, self._coder = survey.result()
        self.outline = replace(outline, persons=rows.result()) if spec.table.person else outline

    def chunks(self, places: Collection[int], *, others: bool = False, persons: bool = False) -> Iterator[Chunk]:
        """The codes of these attributes, and the undescribed columns and persons if asked for, batch by batch.

        Refuses a source that is not what it was at the first pass.
        """
        recount = Recount(self._coder, places, others=others, persons=persons)
        chunks = recount.chunks(self._batches(recount.names, self.outline.read))
        yield from self._in_order(chunks)
        if self._source.stamp() != self._stamp:
            raise changed(self._source.origin)
        recount.check()

    def _in_order(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks of a pass; at its end, refuses columns that are not as an earlier pass read them.

        Passes that read different columns see the same rows only if each column has its values at the same rows. Counts
        of values do not show that: rows may have exchanged them. So each column has a checksum.
        """
        seen: dict[str, int] = {}
        for chunk in chunks:
            for name, values in _counted(chunk):
                seen[name] = crc32(np.ascontiguousarray(values).data, seen.get(name, 0))
            yield chunk
        if any(self._checksums.setdefault(name, checksum) != checksum for name, checksum in seen.items()):
            raise TableError(
                f"{self._source.origin}: the source changed while it was being read, or gave its rows in another order "
                "(sort them without ties, or use the engine 'memory', which reads once); nothing was released."
            )

    def _batches(self, names: Sequence[str], total: int) -> Iterator[pa.Table]:
        """One pass. In the first pass over a csv file the total is an estimate, and dropped if it is too low."""
        done = 0
        for batch in self._source.batches(names):
            yield batch
            done += batch.num_rows
            self._progress(f"reading {self._source.origin}", done, total if done <= total else None)


def _counted(chunk: Chunk) -> Iterator[tuple[str, Array]]:
    """What is counted of each row."""
    yield from ((f"attribute {place}", codes) for place, codes in chunk.codes.items())
    yield "class", chunk.classes
    if chunk.weight is not None:
        yield "weight", chunk.weight
    yield from ((f"person {place}", numbers) for place, numbers in enumerate(chunk.persons))


class PartOfRows:
    """Some rows of a table, by position, as the rest of it would be read: in the same codes, batch by batch."""

    def __init__(self, rows: Rows, chosen: BoolArray) -> None:
        """Counts the rows that are chosen, in one pass."""
        self._rows, self._chosen = rows, chosen
        whole, persons = rows.outline, RowsOfPersons()
        places, classes = range(len(whole.columns)), len(whole.classes)
        histograms = [np.zeros((len(column), classes), dtype=np.int64) for column in whole.columns]
        for chunk in self.chunks(places, persons=whole.persons is not None):
            for place in places:
                np.add.at(histograms[place], (chunk.codes[place], chunk.classes), chunk.records)
            if whole.persons is not None:
                persons.add(chunk.persons)
        facts = {item.name: getattr(whole, item.name) for item in fields(Outline)}
        facts["persons"] = None if whole.persons is None else persons.result()
        records = int(histograms[0].sum()) if histograms else int(chosen.sum())
        self.outline: Outline = Outline(**{**facts, "histograms": tuple(histograms), "records": records})

    def chunks(self, places: Collection[int], *, others: bool = False, persons: bool = False) -> Iterator[Chunk]:
        """The chosen rows; refuses other rows than those that were chosen from."""
        done = 0
        for chunk in self._rows.chunks(places, others=others, persons=persons):
            here, done = self._chosen[done : done + len(chunk)], done + len(chunk)
            if len(here) == len(chunk):
                yield replace(chunk, codes={place: chunk.codes[place] for place in places}).filter(here)
        if done != len(self._chosen):
            raise changed(self._rows.outline.origin)


Rows = Table | StreamedTable | PartOfRows
"""Rows of a checked table that can be read repeatedly."""
