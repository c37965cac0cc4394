"""Linkage, singling out and membership: finding a person's record by what a stranger knows, on any columns.

The sets of columns that hurt most are searched for: from each of the best sets of one size, all sets with one column
more are counted. Columns that are released as they are count too, and so does the class.

How many people are alone in the population that a table is a sample of is estimated by Pitman's sampling formula
(Hoshino, *Applying Pitman's Sampling Formula to Microdata Disclosure Risk Assessment*, Journal of Official Statistics
17(4), 2001), which Dankar et al. (*Estimating the re-identification risk of clinical data sets*, 2012) find best where
at most a tenth of the population is sampled.

For membership, somebody who has the whole row of a person looks how many records fit it, or how much its cell weighs,
and says yes from some number on. The number is learned from one half of the people and tried on the other half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray
from unveil.attacks.exposure import Outcome, Rate
from unveil.attacks.scene import Records, Scene
from unveil.cores import each
from unveil.errors import braced, count_text
from unveil.evaluation.reidentification import attacker_risk, size_counts
from unveil.progress import Watcher, unwatched

FEW = 4
"""A stranger easily knows this many columns of a person."""
WIDTH = 4
"""How many sets of each size the search goes on from."""
SHOWN = 8
"""How many columns of a set a sentence names."""


def unique_people(groups: Mapping[int, int], population: int) -> float:
    """An estimate of how many people of a population, the sample included, are alone in their group.

    `groups` says how many groups of the sample have each size.
    """
    from scipy.special import gammaln

    records = sum(size * count for size, count in groups.items())
    if population <= records or not groups.get(1):
        return float(groups.get(1, 0))
    alpha, theta = _fitted(groups)
    return float(min(population, exp(gammaln(theta + 1) - gammaln(theta + alpha) + alpha * log(population))))


def _fitted(groups: Mapping[int, int]) -> tuple[float, float]:
    """The α in (0, 1) and θ > 0 that make the sizes of the sample likeliest."""
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    sizes, counts = (np.array(part, dtype=np.float64) for part in zip(*groups.items(), strict=True))
    records, number = float((sizes * counts).sum()), float(counts.sum())

    def parameters(place: Any) -> tuple[float, float]:
        return float(expit(place[0])), float(np.exp(place[1]))

    def unlikelihood(place: Any) -> float:
        alpha, theta = parameters(place)
        start = (number - 1) * np.log(alpha) + gammaln(theta / alpha + number) - gammaln(theta / alpha + 1)
        rest = gammaln(theta + records) - gammaln(theta + 1)
        inside = (counts * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
        return float(-(start - rest + inside))

    starts = [(place, np.log(1 + number)) for place in (-2.0, 0.0, 2.0)]
    found = min(
        (minimize(unlikelihood, start, method="L-BFGS-B", bounds=[(-12, 12), (-10, 25)]) for start in starts),
        key=lambda result: float(result.fun),
    )
    return parameters(found.x)


class Columns(NamedTuple):
    """A set of columns, and how many records are alone on them."""

    names: tuple[str, ...]
    alone: int


def worst_columns(records: Records, progress: Watcher = unwatched) -> list[Columns]:
    """For each number of columns up to `FEW` the worst set that the search finds, then all columns together."""
    # A column with one label divides nothing.
    names = [name for name in records.names if len(records.columns[name].values) > 1]
    found: list[Columns] = []
    kept: list[tuple[str, ...]] = [()]
    for size in range(1, min(FEW, len(names)) + 1):
        progress("searching for columns that single people out", size - 1, FEW)
        ranked = _extended(records, kept, names)
        found.append(ranked[0])
        kept = [chosen.names for chosen in ranked[:WIDTH]]
    whole = Columns(records.names, int((records.group_sizes(records.names) == 1).sum()))
    return [*found, whole] if len(names) > FEW else found


def _extended(records: Records, kept: Sequence[tuple[str, ...]], names: Sequence[str]) -> list[Columns]:
    """All sets with one column more, those with most records alone first; of equals, those with most groups."""
    wider: dict[tuple[str, ...], tuple[tuple[str, ...], str]] = {}
    for chosen in kept:
        for name in names:
            if name not in chosen:
                wider.setdefault(tuple(one for one in names if one in chosen or one == name), (chosen, name))
    groups = dict(zip(kept, each(records.numbers, kept), strict=True))
    found = each(lambda part: records.alone(*groups[part[0]], part[1]), wider.values())
    tried = dict(zip(wider, found, strict=True))
    ranked = sorted(tried.items(), key=lambda item: item[1], reverse=True)
    return [Columns(chosen, alone) for chosen, (alone, _) in ranked]


def singling_out(scene: Scene, population: int | None, progress: Watcher) -> Iterator[Outcome]:
    """The smallest set of columns that singles somebody out, the worst small set, and all columns together."""
    if not scene.has_rows:
        return
    found = worst_columns(scene.records, progress)
    small = [one for one in found if len(one.names) <= FEW]
    if not small:
        return
    first = next((one for one in small if one.alone), small[-1])
    for columns in dict.fromkeys([first, small[-1], found[-1]]):
        yield _outcome(scene, columns, population)


def _outcome(scene: Scene, columns: Columns, population: int | None) -> Outcome:
    """A unique record is found by anyone who knows that its person is in the table, whatever the control says."""
    records, names, truth = scene.records, columns.names, scene.truth
    figures = _figures(records, names, population)
    together = f"all {len(names)} released columns together" if len(names) > SHOWN else braced(names)
    sentence = f"{columns.alone:,} of {count_text(records.total, 'record')} are unique on {together}."
    if population is not None:
        sentence += f" About {figures['population_unique']:,.0f} of {population:,} people are unique on them."
    success, control = Rate(columns.alone, records.total), None
    if truth is not None:
        success = _picked(records, truth.people, names, own=True)
        sentence += f" Of {success.tries:,} people in the table, known by these columns, {success.hits:,} were found"
        if scene.control is not None:
            control = _picked(*scene.control, names, own=False)
            sentence += f"; one record matches {control.hits:,} of {control.tries:,} who are not in it"
        sentence += "."
    return Outcome("singling out", sentence, success, control, breach=columns.alone > 0, figures=figures)


def _picked(records: Records, people: pa.Table, names: Sequence[str], *, own: bool) -> Rate:
    """For how many people exactly one record fits; with `own`, only if it is theirs."""
    single = {person: fit.places[0] for person, fit in enumerate(records.fitting(people, names)) if fit.records == 1}
    if not own:
        return Rate(len(single), people.num_rows)
    masked = records.release.masking.rows(people.take(pa.array(list(single), pa.int64())), unseen="suppress")
    places = np.array(list(single.values()), dtype=np.int64)
    same = [records.columns[name].codes[places] == records.codes(masked, name) for name in records.names]
    return Rate(int(np.all(same, axis=0).sum()), people.num_rows)


def _figures(records: Records, names: Sequence[str], population: int | None) -> dict[str, Any]:
    """What the groups on these columns mean for each attacker of El Emam's guide.

    The journalist's figure is the share of the records alone that are alone in the population too.
    """
    sizes = records.group_sizes(names)
    risk = attacker_risk(sizes, sizes)
    figures: dict[str, Any] = {
        "columns": list(names),
        "records": records.total,
        "groups": len(sizes),
        "alone": int((sizes == 1).sum()),
        "prosecutor": {"highest": risk.highest, "average": risk.average, "above_a_fifth": risk.above},
        "marketer": risk.average,
    }
    if population is not None:
        unique = unique_people(size_counts(sizes), population)
        figures["population"], figures["population_unique"] = population, unique
        figures["journalist"] = min(1.0, unique / population * records.total / max(figures["alone"], 1))
    return figures


def membership(scene: Scene) -> Iterator[Outcome]:
    """The attack on people who are in the table, and on people who are not."""
    if scene.truth is None or scene.control is None:
        return
    present, absent = _fitting(scene.records, scene.truth.people), _fitting(*scene.control)
    half = len(present) // 2
    if not half:
        return
    least = _threshold(present[:half], absent[:half])
    success, control = (Rate(int((found[half:] >= least).sum()), len(found) - half) for found in (present, absent))
    fit = "a record matches" if least <= 1 else f"at least {least:,.0f} records match"
    what = f"{fit} it" if scene.has_rows else f"its cell weighs at least {least:,.1f}"
    sentence = (
        f"Guessing that a person's row was in the table if {what} is right for {success.hits:,} of {success.tries:,} "
        f"people who are in it, and wrong for {control.hits:,} of {control.tries:,} who are not."
    )
    yield Outcome("membership", sentence, success, control, figures={"threshold": least})


def _fitting(records: Records, people: pa.Table) -> FloatArray:
    return np.array([fit.records for fit in records.fitting(people, records.names)])


def _threshold(present: FloatArray, absent: FloatArray) -> float:
    """The number from which on a yes is right most often."""
    values = np.unique(np.concatenate([present, absent]))
    gains = [float((present >= value).mean() - (absent >= value).mean()) for value in values]
    return float(values[int(np.argmax(gains))])
