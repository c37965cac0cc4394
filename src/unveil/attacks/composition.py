"""Two releases of people in common: what they give away together, although each keeps its promise.

A reader brings both to the finest labels that they share and subtracts: a person who came or went in between is the
difference. Somebody who knows a person intersects the values that each release leaves possible (Ganta, Kasiviswanathan
and Smith, *Composition Attacks and Auxiliary Information in Data Privacy*, KDD 2008).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unveil.attacks.exposure import Outcome, Rate
from unveil.attacks.inference import beliefs_about, homogeneous, secrets_of
from unveil.attacks.scene import NONE, Records, Scene
from unveil.errors import braced, count_text
from unveil.evaluation.information import promised_k
from unveil.evaluation.reidentification import quasi_identifiers, refinement_manifest
from unveil.masking import AnyMasking, AsIs, Discretization, Generalization
from unveil.release import Release
from unveil.schema import number_of, value_text

CLASS = AsIs(domain="observed", type="category")
ALONE = "the later release by itself"


def compositions(scene: Scene, earlier: Release) -> Iterator[Outcome]:
    """The attacks that an earlier release makes possible."""
    later_manifest = refinement_manifest(scene.release)
    refinement_manifest(earlier)
    before = Records(earlier)
    shared = [names for names in quasi_identifiers(scene.release) if set(names) <= set(before.names)]
    if not shared:
        return
    found = [_difference(scene.records, before, names, max(promised_k(later_manifest, names), 2)) for names in shared]
    yield max(found, key=lambda outcome: outcome.risk)
    yield from _intersections(scene, before, shared)


def _difference(later: Records, earlier: Records, names: Sequence[str], k: int) -> Outcome:
    """How many records came or went in groups of fewer than k."""
    parts = {name: common_parts(later, earlier, name) for name in names}
    change = _counted(later, names, parts, 0)
    change.subtract(_counted(earlier, names, parts, 1))
    moved = sum(abs(count) for count in change.values())
    few = sum(abs(count) for count in change.values() if abs(count) < k)
    sentence = (
        f"Subtracting the releases on {braced(names, 8)} shows {count_text(moved, 'record')} that appeared "
        f"or disappeared, {few:,} of them in groups of fewer than {k:,}."
    )
    return Outcome("difference of releases", sentence, Rate(few, moved), figures={"columns": list(names), "k": k})


def _counted(
    records: Records, names: Sequence[str], parts: Mapping[str, tuple[dict[Any, int], dict[Any, int]]], side: int
) -> Counter[tuple[int, ...]]:
    """The records of a release by the parts that both releases can tell apart."""
    columns = [
        np.array([parts[name][side][value] for value in records.columns[name].values])[records.columns[name].codes]
        for name in names
    ]
    counts: Counter[tuple[int, ...]] = Counter()
    for part, count in zip(zip(*(column.tolist() for column in columns), strict=True), records.counts, strict=True):
        counts[part] += int(count)
    return counts


def common_parts(later: Records, earlier: Records, name: str) -> tuple[dict[Any, int], dict[Any, int]]:
    """For each label of either release the number of its part: labels that may cover a common value share one."""
    one, other = (records.release.masking.columns.get(name, CLASS) for records in (later, earlier))
    ones, others = (records.columns[name].values for records in (later, earlier))
    if isinstance(one, AsIs) and isinstance(other, AsIs):
        numbers = {value: number for number, value in enumerate(dict.fromkeys([*ones, *others]))}
        return numbers, numbers
    parts = _connected([cover_of(one, label) for label in ones] + [cover_of(other, label) for label in others])
    return dict(zip(ones, parts, strict=False)), dict(zip(others, parts[len(ones) :], strict=True))


def _connected(covers: Sequence[Cover]) -> list[int]:
    """The part of each label: those that overlap, directly or by way of others, share one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = [(one, other) for one, other in combinations(range(len(covers)), 2) if overlap(covers[one], covers[other])]
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    graph = coo_array((np.ones(len(pairs)), (rows, columns)), shape=(len(covers), len(covers)))
    numbers: list[int] = connected_components(graph, directed=False)[1].tolist()
    return numbers


class Cover(NamedTuple):
    """The values that a label may cover: numbers from one to another, some values, or all but some.

    Of the three, one is given; a label without any covers everything.
    """

    span: tuple[float, float] | None = None
    values: frozenset[str] | None = None
    but: frozenset[str] | None = None


def cover_of(entry: AnyMasking, label: Any) -> Cover:
    """What a label of a column may cover. One that the column does not have is a full mask."""
    if isinstance(entry, AsIs) and entry.survey_weight is not None:
        weight = entry.survey_weight
        half = (weight.step or 0) / 2
        return Cover(span=(label - half, label + half)) if weight.by_row else Cover()
    if isinstance(entry, AsIs):
        number = None if entry.type == "category" else number_of(label, entry.type)
        return Cover(values=frozenset([value_text(label)])) if number is None else Cover(span=(number, number))
    if isinstance(entry, Discretization):
        interval = entry.intervals.get(label)
        return Cover() if interval is None else Cover(span=(interval.lo, np.nextafter(interval.hi, -np.inf)))
    if isinstance(entry, Generalization):
        held = next((block.values for block in entry.blocks if block.label == label), None)
        return Cover(values=None if held is None else frozenset(held))
    if label != entry.marker:
        return Cover(values=frozenset([str(label)]))
    # Where groups are refined by themselves, some hide what others disclose.
    return Cover() if entry.local else Cover(but=frozenset(entry.disclosed))


def overlap(one: Cover, other: Cover) -> bool:
    """Whether some value may have both labels."""
    if one.span is not None and other.span is not None:
        return one.span[0] <= other.span[1] and other.span[0] <= one.span[1]
    if one.values is not None and other.values is not None:
        return bool(one.values & other.values)
    for values, but in ((one.values, other.but), (other.values, one.but)):
        if values is not None and but is not None:
            return not values <= but
    return True


def _intersections(scene: Scene, before: Records, shared: Sequence[tuple[str, ...]]) -> Iterator[Outcome]:
    """The values of a secret that both releases leave possible."""
    truth = scene.truth
    if truth is None:
        return
    for about in secrets_of(scene.release):
        known = [names for names in shared if about in before.names and about not in names]
        found = [_intersection(scene.records, before, truth.people, names, about) for names in known]
        if found:
            yield max(found, key=lambda outcome: outcome.risk)


def _intersection(later: Records, earlier: Records, people: pa.Table, names: Sequence[str], about: str) -> Outcome:
    seen, known = (beliefs_about(records, people, names, about) for records in (later, earlier))
    place_of = {value: place for place, value in enumerate(earlier.columns[about].values)}
    # A value that the earlier release does not have is taken from a column of zeros, the last one.
    counts = np.append(known.counts, np.zeros((len(known.counts), 1)), axis=1)
    possible = counts[:, [place_of.get(value, NONE) for value in later.columns[about].values]] > 0
    left = (seen.counts > 0) & possible
    sure = (left.sum(axis=1) == 1) & left[np.arange(len(seen.true)), seen.true] & (seen.true >= 0)
    success, control = seen.rate(sure), seen.rate(homogeneous(seen))
    sentence = (
        f"Knowing {braced(names, 8)} and intersecting both releases leaves one {about}, the right one, for "
        f"{success.hits:,} of {success.tries:,} people; the later release alone leaves one for {control.hits:,}."
    )
    figures = {"columns": list(names), "about": about}
    return Outcome("intersection of releases", sentence, success, control, against=ALONE, figures=figures)
