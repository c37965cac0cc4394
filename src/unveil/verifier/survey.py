"""Survey weights: whether they are released as the manifest says, and whether they are those of the raw rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import numpy as np

from unveil.errors import count_text, listed, rows_text
from unveil.verifier.claims import MANIFEST, PARQUET, Released, SurveyWeight
from unveil.verifier.columns import Codes, Column, Tally, group, number, plain
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding, number_text
from unveil.verifier.manifests import SIZED, RefinementManifest

UNIT = Decimal("0.000001")
"""Weights are added up to this many decimals."""


def weight_of(manifest: RefinementManifest) -> tuple[str, SurveyWeight] | None:
    """The column of survey weights, if the release has one, and what it shows of them."""
    for name, entry in manifest.masking.items():
        if isinstance(entry, Released) and entry.survey_weight is not None:
            return name, entry.survey_weight
    return None


def mean_of(manifest: RefinementManifest) -> tuple[str, SurveyWeight] | None:
    """The same, if the release shows the means of groups."""
    found = weight_of(manifest)
    return found if found is not None and found[1].groups else None


def check_survey(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Weights are numbers from 0 on, multiples of their step, and the same in a whole group if they are its mean."""
    found = weight_of(manifest)
    if found is None:
        return
    name, shown = found
    column = data.columns[name]
    for code, value in enumerate(plain(column.values)):
        if problem := _problem(number(value), shown.step):
            rows = rows_text(data.rows_of(column.codes == code))
            yield Finding(
                "survey-weight", f"{PARQUET}: {column.text(code)} ({rows}) is a survey weight, but {problem}."
            )
            break
    if shown.groups:
        yield from _group_findings(manifest, data, column, shown.groups)


def _problem(value: float | None, step: float | None) -> str:
    if value is None or value < 0:
        return "not a number from 0 on"
    if step is not None and Decimal(str(value)) % Decimal(str(step)):
        return f"not a multiple of {number_text(step)}"
    return ""


def _group_findings(
    manifest: RefinementManifest, data: Data, column: Column, groups: Sequence[str]
) -> Iterator[Finding]:
    sized = [stated for stated in manifest.requirements if stated.get("kind") in SIZED]
    if not any(list(groups) == stated.get("quasi-identifier") for stated in sized):
        yield Finding(
            "survey-weight",
            f"{MANIFEST} has means of {column.name!r} over groups of {listed(groups)}, but no requirement gives these "
            "groups a size.",
        )
        return
    columns = [data.columns[name] for name in groups]
    pairs = group([*columns, column], data.weights)
    alone = group(
        [Column(held.name, held.values, key) for held, key in zip(columns, pairs.keys[:-1], strict=True)],
        np.ones(len(pairs.sizes), dtype=np.int64),
    )
    if (alone.sizes > 1).any():
        worst = int(np.argmax(alone.sizes))
        yield Finding(
            "survey-weight",
            f"{PARQUET}: the group {alone.text(worst)} has {count_text(int(alone.sizes[worst]), 'value')} of "
            f"{column.name!r}, which is the mean of a group.",
        )


def rounded(value: float, step: float) -> float:
    """The nearest multiple of a step, the even one of two."""
    width = Decimal(str(step))
    return float((Decimal(str(value)) / width).to_integral_value(ROUND_HALF_EVEN) * width)


class MeanTest:
    """Compares released means of groups with those of the raw weights."""

    def __init__(self, name: str, shown: SurveyWeight, names: Sequence[str]) -> None:
        """Starts without rows, for the weights, what a release shows of them, and its other columns in order."""
        self.name = name
        self._step = Fraction(str(shown.step))
        self._places = [names.index(held) for held in shown.groups]
        self._sums, self._sizes = Tally(), Tally()

    def add(self, masked: Sequence[Codes], weights: Column) -> None:
        """Adds raw rows, by the numbers of their masked values."""
        keys = [masked[place] for place in self._places]
        millionths = [_millionths(value) for value in plain(weights.values)]
        self._sums.add(keys, np.array(millionths, dtype=np.int64)[weights.codes])
        self._sizes.add(keys, np.ones(len(weights.codes), dtype=np.int64))

    def findings(self, released: Sequence[Codes], column: Column) -> Iterator[Finding]:
        """The first group whose released mean is another one."""
        said = dict(
            zip(
                zip(*(released[place].tolist() for place in self._places), strict=True),
                (float(number(value) or 0) for value in np.array(plain(column.values))[column.codes].tolist()),
                strict=True,
            )
        )
        sizes = _by_key(self._sizes)
        for key, total in _by_key(self._sums).items():
            mean = Fraction(total, sizes[key] * 10**6)
            true = float(round(mean / self._step) * self._step)
            if key in said and said[key] != true:
                yield Finding(
                    "truth",
                    f"a group of {sizes[key]:,} records has the mean survey weight {number_text(said[key])}, but the "
                    f"raw weights of {self.name!r} give {number_text(true)}.",
                )
                return


def _by_key(tally: Tally) -> dict[tuple[int, ...], int]:
    keys, sums = tally.result()
    return dict(zip(zip(*(key.tolist() for key in keys), strict=True), sums.tolist(), strict=True))


def _millionths(value: object) -> int:
    weight = number(value)
    return 0 if weight is None else int((Decimal(str(weight)) / UNIT).to_integral_value(ROUND_HALF_EVEN))


def weight_notes(manifest: RefinementManifest, data: Data) -> Iterator[str]:
    """What a reader must know of released weights: they are not sizes of groups, and may point at people."""
    found = weight_of(manifest)
    if found is None:
        return
    name, shown = found
    column = data.columns[name]
    yield f"{name!r} holds survey weights: a record is one respondent, and groups are counted in records."
    if not shown.groups:
        counts = np.bincount(column.codes, weights=data.weights, minlength=len(column.values))
        alone = int(np.count_nonzero(counts == 1))
        how = "as they are" if shown.step is None else f"rounded to {number_text(shown.step)}"
        yield (
            f"They are released {how}: {alone:,} of {count_text(int(data.weights.sum()), 'record')} have a unique "
            "weight, and anyone who knows it finds that record."
        )
