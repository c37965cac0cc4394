"""Membership: was this person in the table?

Somebody who has the whole row of a person looks how many records fit it, or how much its cell weighs, and says yes from
some number on. The number is learned from one half of the people and tried on the other half.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray
from unveil.attacks.exposure import Outcome
from unveil.attacks.rates import Rate
from unveil.attacks.records import Records
from unveil.attacks.scene import Scene


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
    fit = "1 record or more fits" if least <= 1 else f"{least:,.0f} records or more fit"
    what = f"{fit} it" if scene.has_rows else f"its cell weighs at least {least:,.1f}"
    sentence = (
        f"Somebody who has a person's row and says “in the table” where {what} is right about "
        f"{success.hits:,} of {success.tries:,} people who are in it, and wrong about {control.hits:,} of "
        f"{control.tries:,} who are not."
    )
    yield Outcome("membership", sentence, success, control, figures={"threshold": least})


def _fitting(records: Records, people: pa.Table) -> FloatArray:
    return np.array([fit.records for fit in records.fitting(people, records.names)])


def _threshold(present: FloatArray, absent: FloatArray) -> float:
    """The number from which on a yes is right most often."""
    values = np.unique(np.concatenate([present, absent]))
    gains = [float((present >= value).mean() - (absent >= value).mean()) for value in values]
    return float(values[int(np.argmax(gains))])
