"""How likely the records of a table are traced to their people: prosecutor, journalist and marketer risk.

f is the size of a record's group on a quasi-identifier in the table, F its size in the population that the attacker
looks the person up in, n the number of records. The measures are those of El Emam, *Guide to the De-Identification of
Personal Health Information* (2013). With weights, sizes are sums of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import IntArray, group_numbers
from unveil.errors import ReleaseError, TableError, did_you_mean
from unveil.frames import arrow_table, first_line, is_number, value_type
from unveil.masking import Masking, dictionary_of
from unveil.release import RefinementManifest, Release
from unveil.tables import Table

THRESHOLD = 0.2
"""A risk of one in five, that of a group of five."""

SIZE = "size"
NONE = -1


@dataclass(frozen=True)
class AttackerRisk:
    """The chance that an attacker picks the right record for a person, over the records of the table."""

    highest: float
    """That of the record at most risk."""
    average: float
    """The mean over the records."""
    above: float
    """The share of the records whose risk lies above the threshold."""


@dataclass(frozen=True)
class ReidentificationRisk:
    """What a quasi-identifier gives away about who is who."""

    quasi_identifier: tuple[str, ...]
    records: int
    groups: int
    uniques: int
    """How many records are alone in their group."""
    smallest: dict[int, int]
    """The smallest sizes in ascending order, and how many groups have each."""
    threshold: float
    prosecutor: AttackerRisk
    """Of an attacker who knows that the person is in the table: 1 / f."""
    journalist: AttackerRisk
    """Of an attacker who only knows that the person is in the population: 1 / F."""
    unit: Literal["record", "person"] = "record"
    """What the sizes of groups count; a person counts in every group that has some of their records."""

    @property
    def marketer(self) -> float:
        """The share of the records that come out right if all are matched with the population: (1/n) Σ f/F over groups.

        Where the population is the table itself, this is groups / records.
        """
        return self.journalist.average


def reidentification_risk(
    rows: Release | Table,
    quasi_identifier: Sequence[str],
    *,
    whose: Whose | None = None,
    population: Any = None,
    population_weight: str | None = None,
    threshold: float = THRESHOLD,
    smallest: int = 5,
) -> ReidentificationRisk:
    """Measures the risk of a release, or of the raw table before it.

    Args:
        rows: A release of masked rows, or a checked raw table.
        quasi_identifier: What the attacker knows of a person.
        whose: Whose records the release has: then groups are as large as they have persons. Not with a population.
        population: The raw rows of everybody whom the attacker may think of, as a pandas, polars or pyarrow table with
            the columns of the quasi-identifier; for a release they are masked like it. Without, the population is the
            table itself. The people of the table are among it, so a group has at least its own size there.
        population_weight: The column that says how many people a row of the population represents.
        threshold: The risk to count records above.
        smallest: How many of the smallest sizes to list.
    """
    names = tuple(dict.fromkeys(quasi_identifier))
    if whose is not None:
        persons = whose.sizes(names)
        return _risk(names, persons, persons, threshold, smallest, "person")
    groups = grouped(rows, names)
    if population is not None:
        groups = _with_population(groups, _people(rows, names, arrow_table(population), population_weight))
    sizes: IntArray = groups[SIZE].to_numpy()
    people = sizes if population is None else np.maximum(groups["people"].fill_null(0).to_numpy(), sizes)
    return _risk(names, sizes, people, threshold, smallest)


def whole_row_risk(release: Release, *, threshold: float = THRESHOLD, smallest: int = 5) -> ReidentificationRisk:
    """The risk on all released columns together, the class among them: of an attacker who knows whole rows.

    No requirement bounds it. Where columns are released as they are, most records may be alone on all of them although
    nobody is alone on a quasi-identifier.
    """
    class_ = release.manifest.class_
    sizes: IntArray = grouped(release, list(release.masking), class_)[SIZE].to_numpy()
    return _risk((*release.masking, class_), sizes, sizes, threshold, smallest)


def _risk(
    names: tuple[str, ...],
    sizes: IntArray,
    people: IntArray,
    threshold: float,
    smallest: int,
    unit: Literal["record", "person"] = "record",
) -> ReidentificationRisk:
    counts = size_counts(sizes)
    return ReidentificationRisk(
        quasi_identifier=names,
        records=int(sizes.sum()),
        groups=len(sizes),
        uniques=counts.get(1, 0),
        smallest=dict(list(counts.items())[:smallest]),
        threshold=threshold,
        prosecutor=attacker_risk(sizes, sizes, threshold),
        journalist=attacker_risk(sizes, people, threshold),
        unit=unit,
    )


def attacker_risk(sizes: IntArray, population: IntArray, threshold: float = THRESHOLD) -> AttackerRisk:
    """Per group the records in it and the people they may be: max 1/F, (1/n) Σ f/F, (1/n) Σ f over 1/F > threshold."""
    records = sizes.sum()
    return AttackerRisk(
        highest=float(1 / population.min()),
        # Groups come in any order; this sum does not depend on it.
        average=fsum((sizes / population).tolist()) / int(records),
        above=float(sizes[1 / population > threshold].sum() / records),
    )


def quasi_identifiers(release: Release) -> tuple[tuple[str, ...], ...]:
    """The sets of attributes that the requirements of a release are about, each once."""
    sets = [item.get("quasi-identifier") or item["channel"] for item in refinement_manifest(release).requirements]
    return tuple(dict.fromkeys(tuple(names) for names in sets))


@dataclass(frozen=True)
class GroupSummary:
    """The sizes of the groups on a quasi-identifier or channel, in records or in persons."""

    names: tuple[str, ...]
    sizes: IntArray
    """In ascending order."""
    unit: Literal["record", "person"] = "record"

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes)

    @property
    def smallest(self) -> int:
        """The size of the smallest group."""
        return int(self.sizes[0])

    @property
    def median(self) -> int:
        """The size of the middle group, rounded down."""
        return int(np.median(self.sizes))

    @property
    def largest(self) -> int:
        """The size of the largest group."""
        return int(self.sizes[-1])


def group_summaries(release: Release, whose: Whose | None = None) -> list[GroupSummary]:
    """The groups that each requirement of a release is about; none for noisy counts, which have no groups.

    If it is known whose records these are, the groups are counted by persons.
    """
    if not isinstance(release.manifest, RefinementManifest):
        return []
    sets = quasi_identifiers(release)
    if whose is not None:
        return [GroupSummary(names, whose.sizes(names), "person") for names in sets]
    return [GroupSummary(names, group_sizes(release, names)) for names in sets]


@dataclass(frozen=True, eq=False)
class Whose:
    """Whose the records of a release are, which only the raw table says."""

    person: IntArray
    """The person of each record."""
    codes: dict[str, IntArray]
    """The released value of each record in every masked column, in codes."""

    @classmethod
    def of(cls, release: Release, table: Table) -> Whose | None:
        """None if the table does not say it. Records left out are in no group, or in that of fully masked ones.

        A record is left out if no row of the release has the values that it would have.
        """
        if table.person is None or not isinstance(release.manifest, RefinementManifest):
            return None
        # Only the owner masks rows again; readers need not wait for it.
        from unveil.counting.released import masked_values

        distinct, _ = release.counted
        aside = release.manifest.leave_out
        roots = {} if aside is None else aside.labels
        shown, codes, root = [], {}, {}
        for name, (labels, places) in masked_values(table, release.masking).items():
            held = dictionary_of(distinct[name])
            code_of = {label: code for code, label in enumerate(held.dictionary.to_pylist())}
            codes[name] = np.array([code_of.setdefault(label, len(code_of)) for label in labels], dtype=np.int64)[
                places
            ]
            root[name] = code_of.get(roots.get(name), NONE)
            shown.append(held.indices.to_numpy(zero_copy_only=False))
        numbers, _ = group_numbers([np.concatenate(pair) for pair in zip(shown, codes.values(), strict=True)])
        known = np.isin(numbers[distinct.num_rows :], numbers[: distinct.num_rows])
        kept = known | bool(roots)
        return cls(table.person[kept], {name: np.where(known, held, root[name])[kept] for name, held in codes.items()})

    def sizes(self, names: Sequence[str]) -> IntArray:
        """How many persons each group on some columns has, in ascending order."""
        numbers, groups = group_numbers([self.codes[name] for name in names])
        everybody = int(self.person.max(initial=0)) + 1
        pairs = np.unique(numbers * everybody + self.person)
        sizes: IntArray = np.sort(np.bincount(pairs // everybody, minlength=groups))
        return sizes


def group_sizes(rows: Release | Table, quasi_identifier: Sequence[str]) -> IntArray:
    """How many records share each combination of values that occurs, in ascending order."""
    columns, records = _columns(rows, quasi_identifier)
    coded = [dictionary_of(column) for column in columns]
    codes = [column.indices.fill_null(len(column.dictionary)).to_numpy() for column in coded]
    numbers, groups = group_numbers(codes)
    sizes = np.zeros(groups, dtype=np.int64)
    np.add.at(sizes, numbers, records)
    return np.sort(sizes)


def size_counts(sizes: IntArray) -> dict[int, int]:
    """How many groups have each size, in ascending order of the sizes."""
    return {int(size): int(count) for size, count in zip(*np.unique(sizes, return_counts=True), strict=True)}


def refinement_manifest(release: Release) -> RefinementManifest:
    """The manifest of a release of masked rows. Noisy counts have no records to trace or to lose."""
    if not isinstance(release.manifest, RefinementManifest):
        raise ReleaseError(f"the release is made by {release.manifest.method}, but only masked rows can be measured.")
    if release.rows.num_rows == 0:
        raise ReleaseError("the release holds no rows, so there is nothing to measure.")
    return release.manifest


def grouped(rows: Release | Table, names: Sequence[str], *more: str) -> pa.Table:
    """The groups of equal values over some attributes and, of a release, `more` columns such as the class.

    The values of each group are the columns `0`, `1`, …, and its records are the column `size`.
    """
    return _counted(*_columns(rows, names, *more))


def _columns(rows: Release | Table, names: Sequence[str], *more: str) -> tuple[list[pa.ChunkedArray], IntArray]:
    """The values of some attributes, row by row, and how many records each row represents."""
    if isinstance(rows, Table):
        _check_names(names, [column.name for column in rows.columns], "table")
        held = [rows.column(name) for name in names]
        coded = [pa.DictionaryArray.from_arrays(pa.array(column.codes), column.array) for column in held]
        columns = [pa.chunked_array([column]) for column in coded]
        return columns, np.ones(rows.rows, dtype=np.int64) if rows.weight is None else rows.weight
    weight = refinement_manifest(rows).weight
    _check_names(names, rows.masking, "release")
    distinct, counts = rows.counted
    records = counts if weight is None else counts * distinct[weight].to_numpy()
    return [distinct[name] for name in (*names, *more)], records


def _counted(columns: Sequence[Any], records: Any) -> pa.Table:
    keys = [str(place) for place in range(len(columns))]
    # Row groups of a file may number the same values differently, and the group-by refuses such columns.
    table = pa.table([*columns, records], names=[*keys, SIZE]).unify_dictionaries()
    sums = table.group_by(keys).aggregate([(SIZE, "sum")])
    return sums.select([*keys, f"{SIZE}_sum"]).rename_columns([*keys, SIZE])


def _check_names(names: Sequence[str], known: Any, where: str) -> None:
    if not names:
        raise TableError("the quasi-identifier names no attribute.")
    for name in names:
        if name not in known:
            raise TableError(f"the {where} has no attribute {name!r}{did_you_mean(name, known) or '.'}")


def _people(rows: Release | Table, names: Sequence[str], population: pa.Table, weight: str | None) -> pa.Table:
    """The groups of the population, on values masked as in the release."""
    masking = _masking_of(rows.masking, names) if isinstance(rows, Release) else None
    needed = [*(names if masking is None else masking), *([] if weight is None else [weight])]
    _check_names(needed, population.column_names, "population")
    # Somebody whose value is missing must not be counted among those whose value is hidden, unless that is a value.
    known = population.select(list(dict.fromkeys(needed)))
    kept = {name for name in masking or () if masking is not None and masking[name].missing}
    for name in known.column_names:
        known = known if name in kept else known.filter(pc.is_valid(known[name]))
    people = known
    if masking is not None:
        # A value without a block is nobody's in the release, and no group of it is written so.
        people = masking.labels(known, unseen="suppress")
    counts = np.ones(known.num_rows, dtype=np.int64) if weight is None else known[weight]
    return _counted([people[name] for name in names], counts)


def _masking_of(masking: Masking, names: Sequence[str]) -> Masking:
    """The masking of some attributes: with all others of their trees, which say how fine their labels are."""
    boxes = [tree for tree, walk in zip(masking.boxes, masking.walks, strict=True) if set(walk.local) & set(names)]
    needed = dict.fromkeys([*names, *(name for tree in boxes for name in tree.attributes)])
    return Masking({name: masking[name] for name in needed}, boxes=boxes)


def _with_population(groups: pa.Table, people: pa.Table) -> pa.Table:
    """The groups with one more column, `people`: how many of the population share the values; null for none."""
    keys = groups.column_names[:-1]
    # Numbers are compared by value, everything else as text.
    types = {key: pa.float64() if is_number(value_type(groups[key].type)) else pa.string() for key in keys}
    own = pa.table({**_cast(groups, types), SIZE: groups[SIZE]})
    known = _counted(list(_cast(people, types).values()), people[SIZE])
    return own.join(known.rename_columns([*keys, "people"]), keys=keys, join_type="left outer")


def _cast(table: pa.Table, types: dict[str, pa.DataType]) -> dict[str, pa.ChunkedArray]:
    try:
        return {key: table[key].cast(type_) for key, type_ in types.items()}
    except pa.ArrowException as error:
        raise TableError(f"population: its values cannot be compared with the table's: {first_line(error)}.") from error
