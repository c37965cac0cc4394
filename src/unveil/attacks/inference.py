"""What a release says about a value that a stranger does not know: homogeneity, skewness, background, determination.

The stranger knows the columns of a requirement, and looks at the class or at a sensitive attribute of the records that
fit. The names are those of Machanavajjhala et al. (*ℓ-diversity*, 2007) and Li et al. (*t-closeness*, 2007).

Columns that determine a masked one undo its masking, although each is released by the rules: somebody who knows, from
rows of the same kind, how columns go together guesses the raw value from the others. The control is the same guess from
the label of that column alone, which is what its masking leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, FloatArray, IntArray, group_numbers
from unveil.attacks.exposure import Outcome, Rate
from unveil.attacks.scene import Records, Scene, coded
from unveil.cores import each
from unveil.errors import braced
from unveil.evaluation.reidentification import quasi_identifiers
from unveil.evaluation.risk import LOOKED_AT, best_guesses, determines
from unveil.masking import AsIs
from unveil.release import RefinementManifest, Release

SKEWED = 2.0
"""A group is skewed for people whose value is this many times as likely in it as in the whole release."""
PAIRED = 6
"""Pairs are tried among this many columns: those that say most by themselves."""
SHOWN = 3
"""How many masked columns are reported: those that the others say most about."""
LABEL = "a guess from the label of the masked column alone"


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a stranger believes about a value of some people, from the records that fit them."""

    counts: FloatArray
    """Per person and value the records that fit."""
    true: IntArray
    """The value that each person has; -1 for one that the release does not show."""
    records: IntArray
    """How many people each line represents."""
    overall: FloatArray
    """The share of each value in the whole release."""

    def rate(self, right: BoolArray) -> Rate:
        """The people about whom the stranger is right."""
        return Rate(int(self.records[right].sum()), int(self.records.sum()))

    @property
    def own(self) -> FloatArray:
        """The share of each person's value among the records that fit."""
        held = self.counts[np.arange(len(self.true)), self.true] * (self.true >= 0)
        shares: FloatArray = held / np.maximum(self.counts.sum(axis=1), 1)
        return shares


def homogeneous(beliefs: Beliefs) -> BoolArray:
    """All records that fit have one value, and it is the person's."""
    right: BoolArray = beliefs.own == 1
    return right


def likeliest(beliefs: Beliefs) -> BoolArray:
    """The commonest value among the records that fit is the person's."""
    right: BoolArray = (beliefs.counts.argmax(axis=1) == beliefs.true) & (beliefs.counts.max(axis=1) > 0)
    return right


def skewed(beliefs: Beliefs) -> BoolArray:
    """The value is much likelier among the records that fit than in the whole release."""
    right: BoolArray = (beliefs.own >= SKEWED * beliefs.overall[beliefs.true]) & (beliefs.true >= 0)
    return right


def excluded(beliefs: Beliefs) -> BoolArray:
    """The stranger knows one value that the person does not have, the commonest of them, and one value is left."""
    lines = np.arange(len(beliefs.true))
    wrong = beliefs.counts.copy()
    wrong[lines, beliefs.true] = np.where(beliefs.true >= 0, -1, wrong[lines, beliefs.true])
    left = beliefs.counts.copy()
    left[lines, wrong.argmax(axis=1)] = 0
    single = (left > 0).sum(axis=1) == 1
    right: BoolArray = single & (left[lines, beliefs.true] > 0) & (beliefs.true >= 0)
    return right


GUESS, BACKGROUND = "attribute inference", "background knowledge"
ATTACKS: dict[str, tuple[Callable[[Beliefs], BoolArray], str]] = {
    GUESS: (likeliest, "The most common {secret} among the records that match {columns} is the right guess"),
    "homogeneity": (homogeneous, "All records that match {columns} have the same {secret}, the right one"),
    "skewness": (
        skewed,
        "Among the records that match {columns}, the right {secret} is at least twice as likely as overall",
    ),
    BACKGROUND: (
        excluded,
        "Knowing {columns} and one {secret} that the person does not have leaves only the right one",
    ),
}
"""What is tried, when it succeeds, and how a sentence says so."""


def group_inferences(scene: Scene) -> Iterator[Outcome]:
    """Each attack on each secret, by the columns of the requirement that hurts most.

    No requirement of a private release names columns: its class is guessed from all others.
    """
    grouped = isinstance(scene.release.manifest, RefinementManifest)
    channels = quasi_identifiers(scene.release) if grouped else (tuple(scene.release.masking),)
    for secret in secrets_of(scene.release):
        seen = [(names, *_both(scene, names, secret)) for names in channels if secret not in names]
        for attack in _tried(scene, secret) if seen else ():
            yield max((_outcome(attack, secret, *found) for found in seen), key=lambda outcome: outcome.risk)


def secrets_of(release: Release) -> tuple[str, ...]:
    """What somebody may want to know of a person: the sensitive attributes and the class."""
    manifest = release.manifest
    sensitive = [item["sensitive"] for item in manifest.requirements if item.get("sensitive")]
    return tuple(dict.fromkeys([*sensitive, manifest.class_]))


def _tried(scene: Scene, secret: str) -> Iterator[str]:
    """Of two values, who knows one that is wrong needs no release, so background knowledge is tried on more."""
    for attack in ATTACKS if scene.has_rows else (GUESS,):
        if attack != BACKGROUND or len(scene.records.columns[secret].values) > 2:
            yield attack


def _outcome(attack: str, secret: str, names: Sequence[str], seen: Beliefs, absent: Beliefs | None) -> Outcome:
    succeeds, words = ATTACKS[attack]
    success = seen.rate(succeeds(seen))
    control = None if absent is None else absent.rate(succeeds(absent))
    claim = words.format(columns=braced(names, 8), secret=secret)
    sentence = f"{claim} for {success.hits:,} of {success.tries:,} people"
    if control is not None:
        sentence += f", and for {control.hits:,} of {control.tries:,} who are not in the table"
    return Outcome(attack, f"{sentence}.", success, control, figures={"columns": list(names), "about": secret})


def _both(scene: Scene, names: Sequence[str], secret: str) -> tuple[Beliefs, Beliefs | None]:
    """What is believed of people in the table, and of people who are not."""
    if scene.truth is None:
        return _of_records(scene.records, names, secret), None
    absent = None if scene.control is None else beliefs_about(*scene.control, names, secret)
    return beliefs_about(scene.records, scene.truth.people, names, secret), absent


def beliefs_about(records: Records, people: pa.Table, names: Sequence[str], secret: str) -> Beliefs:
    """What a stranger believes about some people who knows these columns of them."""
    column = records.columns[secret]
    counts = [
        np.bincount(column.codes[fit.places], weights=records.counts[fit.places], minlength=len(column.values))
        for fit in records.fitting(people, names)
    ]
    masked = records.release.masking.rows(people, unseen="suppress")
    true, each = records.codes(masked, secret), np.ones(len(counts), np.int64)
    return Beliefs(np.array(counts), true, each, _shares(records, secret))


def _of_records(records: Records, names: Sequence[str], secret: str) -> Beliefs:
    """A reader has nobody in mind: every record is taken for a person."""
    column, (numbers, groups) = records.columns[secret], records.numbers(names)
    width = len(column.values)
    cells = np.bincount(numbers * width + column.codes, weights=records.counts, minlength=groups * width)
    counts: FloatArray = cells.reshape(groups, width).astype(np.float64)
    group, value = np.nonzero(counts)
    return Beliefs(counts[group], value, counts[group, value].astype(np.int64), _shares(records, secret))


def _shares(records: Records, name: str) -> FloatArray:
    column = records.columns[name]
    sums = np.bincount(column.codes, weights=records.counts, minlength=len(column.values))
    shares: FloatArray = sums / max(records.counts.sum(), 1)
    return shares


def guessed(hidden: IntArray, columns: Sequence[IntArray], people: int) -> Rate:
    """How often the commonest value next to some columns is right for the first people, learned from all others."""
    numbers, _ = group_numbers(columns)
    learned = best_guesses(numbers[people:], hidden[people:]).value
    known = numbers[:people] < len(learned)
    guess = np.where(known, learned[np.where(known, numbers[:people], 0)], -1)
    return Rate(int((guess == hidden[:people]).sum()), people)


def determinations(scene: Scene) -> Iterator[Outcome]:
    """The masked columns that one or two other released columns say most about."""
    truth = scene.truth
    if truth is None or not scene.has_rows:
        return
    others = np.random.default_rng(0).permutation(truth.others)[:LOOKED_AT]
    rows = truth.rows.take(pa.array(np.concatenate([truth.places, others])))
    masked = scene.release.masking.rows(rows, unseen="suppress")
    names = scene.records.names
    labels = {name: coded(masked[name]).codes for name in names}
    hidden = [
        name
        for name in names
        if name != scene.release.manifest.class_ and not isinstance(scene.release.masking[name], AsIs)
    ]
    found = each(lambda name: _best(name, rows, labels, len(truth.places)), hidden)
    yield from sorted(found, key=lambda outcome: (outcome.leak, outcome.risk), reverse=True)[:SHOWN]


def _best(name: str, rows: pa.Table, labels: dict[str, IntArray], people: int) -> Outcome:
    """What the others say most about a masked column of the first people, learned from the other rows."""
    hidden = coded(rows[name]).codes

    def rate(*others: str) -> Rate:
        return guessed(hidden, [labels[name], *(labels[other] for other in others)], people)

    control = rate()
    singles = {(other,): rate(other) for other in labels if other != name}
    best = sorted(singles, key=lambda chosen: singles[chosen].hits, reverse=True)[:PAIRED]
    pairs = [(*one, *other) for one, other in combinations(best, 2)]
    rates = singles | {pair: rate(*pair) for pair in pairs}
    # Of sets that say as much, the smallest.
    chosen = max(rates, key=lambda names: (rates[names].hits, -len(names)))
    success = rates[chosen]
    sentence = (
        f"{braced(chosen)} and its own label reveal the raw value of the masked {name} for {success.hits:,} of "
        f"{success.tries:,} people; the label alone reveals it for {control.hits:,}."
    )
    return Outcome(
        "determination",
        sentence,
        success,
        control,
        against=LABEL,
        breach=determines(success.share, control.share),
        figures={"columns": list(chosen), "masked": name},
    )
