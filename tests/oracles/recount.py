"""A published table counted again in plain Python: every promise of its manifest, and every value under its label.

Shares no code with the package. What it is given is what a release holds, and the raw values of single columns.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Any

from .boxes import labels as labels_of
from .problem import QID, Closeness, Diversity, Group, Likeness, Requirement, Spread, Template

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Published:
    """A release of masked rows, and what is known of the raw table behind it.

    Attributes:
        manifest: What the release claims, as JSON has it.
        columns: The values of its distinct rows, column by column.
        counts: How many rows each of them represents.
        raw: For every described column its raw values, and how many records hold each.
        persons: The raw rows and whose each is, if that is known.
    """

    manifest: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]]
    counts: Sequence[int]
    raw: Mapping[str, Mapping[Any, int]]
    persons: Sequence[tuple[Row, int]] = ()

    @cached_property
    def records(self) -> Sequence[int]:
        """How many records each distinct row represents."""
        weight = self.manifest["weight"]
        if not weight:
            return self.counts
        return [count * each for count, each in zip(self.counts, self.columns[weight], strict=True)]

    def rows(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """What every distinct row has in some columns."""
        columns = [self.columns[name] for name in names]
        return zip(*columns, strict=True) if columns else repeat((), len(self.counts))

    def held(self, *names: str) -> Counter[tuple[Any, ...]]:
        """How many records have the same in some columns."""
        found: Counter[tuple[Any, ...]] = Counter()
        for row, records in zip(self.rows(*names), self.records, strict=True):
            found[row] += records
        return found


def broken(published: Published) -> list[str]:
    """One sentence for each promise that does not hold."""
    return [*broken_labels(published), *broken_requirements(published), *broken_headcounts(published)]


# ---- Labels ----


def broken_labels(published: Published) -> Iterator[str]:
    """In every masked column, each label represents as many records as hold the raw values of its block."""
    for name, entry in published.manifest["masking"].items():
        if entry["kind"] == "released":
            continue
        released = Counter({label: records for (label,), records in published.held(name).items()})
        if entry.get("local"):
            yield from broken_vocabulary(name, entry, released, published.raw[name])
            continue
        expected: Counter[Any] = Counter()
        for value, records in published.raw[name].items():
            labels = labels_over(entry, value)
            if len(labels) != 1:
                yield f"{name}: {value!r} lies in {labels}"
            expected.update(dict.fromkeys(labels, records))
        learn = published.manifest.get("learn")
        gone = {"as": "drop", "records": learn["records"]} if learn else published.manifest.get("leave-out")
        if unaccounted(gone, name, expected, released):
            yield f"{name}: {released} was released, but the raw values make {expected}"


def unaccounted(left_out: Mapping[str, Any] | None, name: str, expected: Counter[Any], released: Counter[Any]) -> bool:
    """Whether labels and raw values differ by more than the records that are left out, or only chose the masking.

    These are missing below their labels, or moved to the label of fully masked ones.
    """
    missing, added = expected - released, released - expected
    if left_out is None:
        return bool(missing or added)
    if left_out["as"] == "drop":
        return bool(added) or missing.total() != left_out["records"]
    moved = set(added) <= {left_out["labels"][name]} and missing.total() == added.total()
    return not moved or missing.total() > left_out["records"]


def broken_vocabulary(
    name: str, entry: Mapping[str, Any], released: Mapping[Any, int], raw: Mapping[Any, int]
) -> Iterator[str]:
    """Labels that overlap between groups: each represents at most the records that hold a raw value it covers."""
    held: Counter[str] = Counter()
    for value, count in raw.items():
        held.update(dict.fromkeys(vocabulary_over(entry, value), count))
    for label, records in released.items():
        if records > held[label]:
            yield f"{name}: {label!r} was released {records} times, but {held[label]} records can hold it"


def vocabulary_over(entry: Mapping[str, Any], value: Any) -> list[str]:
    """The labels of a vocabulary that may represent a raw value."""
    return [*labels_over(entry, value), *([entry["marker"]] if entry["kind"] == "suppression" else [])]


def labels_over(entry: Mapping[str, Any], value: Any) -> list[str]:
    """The labels of a cut that represent a raw value."""
    if entry["kind"] == "generalization":
        return [block["label"] for block in entry["blocks"] if str(value) in block["values"]]
    if entry["kind"] == "suppression":
        return [value if value in entry["disclosed"] else entry["marker"]]
    return [block["label"] for block in entry["blocks"] if within(block["label"], value)]


def within(label: str, value: Any) -> bool:
    """Whether `[lo, hi)` holds a number or a date, as it is read, or names a missing one."""
    numbers, *_ = held = label.split(" or ")
    if isinstance(value, str) or not numbers.startswith("["):
        return value in held
    lo, hi = numbers.removeprefix("[").removesuffix(")").split(", ")
    if isinstance(value, date):
        return lo <= value.isoformat() < hi
    return exact(lo) <= exact(str(value)) < exact(hi)


@lru_cache(4096)
def exact(number: str) -> Decimal:
    """Numbers are read again and again, a value for every label and a label for every value."""
    return Decimal(number)


# ---- Requirements ----


def broken_requirements(published: Published) -> Iterator[str]:
    """Every requirement of the manifest, over its groups."""
    for entry in published.manifest["requirements"]:
        for requirement in requirements_of(entry):
            found = groups(published, requirement, entry)
            if found and not requirement.holds(requirement.level(found)):
                yield f"{requirement} does not hold: {requirement.level(found)}"


def broken_headcounts(published: Published) -> Iterator[str]:
    """Every group of a requirement on persons has records of so many; what is left out is in none, or fully masked."""
    by_person = [entry for entry in published.manifest["requirements"] if entry.get("of") == "persons"]
    if not by_person or not published.persons:
        return
    masked = [name for name, entry in published.manifest["masking"].items() if entry["kind"] != "released"]
    released = set(published.rows(*masked))
    labels = (published.manifest.get("leave-out") or {}).get("labels")
    for entry in by_person:
        names = entry["quasi-identifier"]
        whose: dict[tuple[Any, ...], set[int]] = {row: set() for row in published.rows(*names)}
        for row, person in published.persons:
            found = labels_of(published.manifest, row)
            if tuple(found[name] for name in masked) not in released:
                found = labels
            if found:
                whose[tuple(found[name] for name in names)].add(person)
        for key, persons in whose.items():
            if len(persons) < entry["k"]:
                yield f"{key} has records of {len(persons)} persons, but must have {entry['k']}"


def requirements_of(entry: Mapping[str, Any]) -> list[Requirement]:
    """A requirement as the papers have it: one template for each value."""
    sensitive, qid = entry.get("sensitive", ""), entry.get("quasi-identifier", ())
    match entry["kind"]:
        case "k-anonymity":
            return [QID(qid, entry["k"])]
        case "confidence":
            return [Template(entry["channel"], sensitive, value, str(entry["limit"])) for value in entry["values"]]
        case "alpha-k-anonymity":
            shares = [Template(qid, sensitive, value, str(entry["alpha"])) for value in entry["values"]]
            return [QID(qid, entry["k"]), *shares]
        case "l-diversity":
            return [Diversity(qid, sensitive, entry["l"], entry["variant"])]
        case "t-closeness":
            return [Closeness(qid, sensitive, entry["t"], entry["distance"])]
        case "beta-likeness":
            return [Likeness(qid, sensitive, str(entry["beta"]))]
        case "k-e-anonymity":
            return [Spread(qid, sensitive, entry["k"], str(entry["e"]))]
    raise ValueError(f"{entry['kind']} is not counted here")


def groups(published: Published, requirement: Requirement, entry: Mapping[str, Any]) -> list[Group]:
    """How many records of each group hold each sensitive value, for all values and in their order."""
    name = requirement.sensitive
    values = sorted(published.raw[name]) if name else [""]
    names = [str(value) for value in entry.get("order") or values]
    names += [value for value in entry.get("values", ()) if value not in names]
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    size = len(requirement.attributes)
    for row, records in published.held(*requirement.attributes, *([name] if name else [])).items():
        group = found.setdefault(row[:size], dict.fromkeys(names, 0))
        group[str(row[size]) if name else ""] += records
    return list(found.values())
