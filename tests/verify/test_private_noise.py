"""The counts of a private release differ from the true ones by noise of the stated law, or it is found out.

True counts, planted noise and tails are computed here, by plain loops and sums, and not by what is tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from unveil.schema import load_spec
from unveil.verifier import Verdict
from unveil.verifier.private.noise import LEVEL, TESTS, CellLaw, chance_to_find
from unveil.verifier.raw.comparison import judge_against_raw
from verdicts import verify_release
from verify.private_releases import CLASSES, SPEC, PrivateDraft, private_draft, write_spec

BATCH = 29
"""There are hundreds of rows, so that they fall into several batches of this size too."""
EPSILON = 17 / 28
"""What the ledger of the draft pays for its counts."""
CELLS = list(product((17, 30, 37), (1.5, 1.7), ("Masters", "9th", "10th"), "FM", CLASSES))
TRUE = [number * 7 % 23 for number in range(len(CELLS))]
"""So many records are in each cell."""
LOG_LEVEL = log(LEVEL / TESTS)
Noise = Callable[[np.random.Generator, int], np.ndarray]


def geometric(epsilon: float) -> Noise:
    """Two-sided geometric noise: the difference of two geometric draws."""
    chance = 1 - exp(-epsilon)
    return lambda rng, size: rng.geometric(chance, size) - rng.geometric(chance, size)


def write_people(folder: Path, counts: list[int]) -> None:
    lines = ["name,age,height,education,sex,job,income"]
    for (age, height, education, sex, income), count in zip(CELLS, counts, strict=True):
        lines += [f"x,{age},{height},{education},{sex},baker,{income}"] * count
    (folder / "raw.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def judged(folder: Path, counts: list[int], threshold: int | None = None, raw: list[int] = TRUE) -> Verdict:
    """Plants counts in a release that says that they are private, and puts it next to the raw table."""
    planted: PrivateDraft = private_draft()
    planted.rows = [
        (*row[:-1], count)
        for row, count in zip(planted.rows, counts, strict=True)
        if threshold is None or count >= threshold
    ]
    planted.manifest["threshold"] = threshold
    spec = load_spec(write_spec(folder, SPEC if threshold is None else f"{SPEC}threshold = {threshold}\n"))
    write_people(folder, raw)
    release = planted.write(folder / "release")
    assert verify_release(release) == []  # nothing of this can be seen from the release alone
    return judge_against_raw(release, spec)


def noisy(noise: Noise, seed: int, counts: list[int] = TRUE) -> list[int]:
    drawn = noise(np.random.default_rng(seed), len(counts))
    return [max(count + int(z), 0) for count, z in zip(counts, drawn, strict=True)]


@pytest.mark.parametrize("threshold", [None, 1, 4, 12])
def test_honest_noise_is_never_blamed(tmp_path: Path, threshold: int | None) -> None:
    for seed in range(15):
        folder = tmp_path / str(seed)
        folder.mkdir()
        verdict = judged(folder, noisy(geometric(EPSILON), seed), threshold)
        assert verdict.findings == []
        [note] = verdict.notes
        assert "fit noise of ε = 17/28" in note


@pytest.mark.parametrize("threshold", [None, 1, 4])
def test_true_counts_that_call_themselves_private_are_found(tmp_path: Path, threshold: int | None) -> None:
    verdict = judged(tmp_path, list(TRUE), threshold)
    assert [finding.claim for finding in verdict.findings] == ["noise"]
    assert "the noise in it is too small, or there is none" in verdict.findings[0].message
    assert verdict.notes == []


@pytest.mark.parametrize(
    ("scale", "words"), [(0.25, "too small"), (4, "too large"), (10, "too large")], ids=["quarter", "four", "ten"]
)
def test_noise_of_another_scale_is_found(tmp_path: Path, scale: float, words: str) -> None:
    verdict = judged(tmp_path, noisy(geometric(EPSILON / scale), 1))
    assert any(words in finding.message for finding in verdict.findings), verdict


def test_half_the_noise_on_enough_cells_is_found() -> None:
    """On the 72 cells of the draft it is often found; on 400 records-rich cells the test promises it."""
    law = CellLaw(EPSILON, {100: 400})
    assert chance_to_find(law, 0.5, LOG_LEVEL) > 0.999
    assert chance_to_find(law, 2, LOG_LEVEL) > 0.999


def test_one_count_that_is_far_off_is_found(tmp_path: Path) -> None:
    counts = noisy(geometric(EPSILON), 2)
    counts[10] += 60
    verdict = judged(tmp_path, counts)
    assert any("one count is off by" in finding.message for finding in verdict.findings)


@pytest.mark.parametrize(("share", "words"), [(0.6, "missing"), (1.4, "added")])
def test_records_that_were_left_out_or_doubled_are_found(tmp_path: Path, share: float, words: str) -> None:
    counts = noisy(geometric(EPSILON), 3, [round(count * share) for count in TRUE])
    verdict = judged(tmp_path, counts)
    assert any(words in finding.message for finding in verdict.findings), verdict


def test_counts_of_another_table_are_found(tmp_path: Path) -> None:
    verdict = judged(tmp_path, noisy(geometric(EPSILON), 4, TRUE[::-1]))
    assert any("another table" in finding.message for finding in verdict.findings)


def test_too_few_cells_are_said_to_tell_nothing(tmp_path: Path) -> None:
    """With a threshold that hardly any count reaches, true counts look like noisy ones, and the note says so."""
    few = [40, *[1] * (len(CELLS) - 1)]
    verdict = judged(tmp_path, few, 30, few)
    assert verdict.findings == []
    [note] = verdict.notes
    assert note.startswith("72 cells cannot show whether noise was added")


def test_values_outside_are_clamped_as_the_spec_says(tmp_path: Path) -> None:
    spec = SPEC.replace("range = [17, 91]", 'range = [17, 91]\noutside = "clamp"')
    planted = private_draft()
    planted.rows = [(*row[:-1], count) for row, count in zip(planted.rows, noisy(geometric(EPSILON), 5), strict=True)]
    loaded = load_spec(write_spec(tmp_path, spec))
    write_people(tmp_path, TRUE)
    text = (tmp_path / "raw.csv").read_text(encoding="utf-8").replace("x,17,", "x,3,").replace("x,37,", "x,400,")
    (tmp_path / "raw.csv").write_text(text, encoding="utf-8")
    assert judge_against_raw(planted.write(tmp_path / "release"), loaded).findings == []


def pmf(excess: int, epsilon: float, most: int = 120) -> dict[int, float]:
    """The moves of one cell, by adding up the noise: the floor is at 0 and the count at `excess`."""
    alpha = exp(-epsilon)
    moves: Counter[int] = Counter()
    for z in range(-most, most + 1):
        moves[max(excess + z, 0) - max(excess, 0)] += (1 - alpha) / (1 + alpha) * alpha ** abs(z)
    return dict(moves)


def tails(excesses: dict[int, int], epsilon: float, *, size: bool) -> dict[int, float]:
    """The exact law of the sum of all moves, cell by cell."""
    total = {0: 1.0}
    for excess, cells in excesses.items():
        law = pmf(excess, epsilon)
        for _ in range(cells):
            summed: Counter[int] = Counter()
            for (one, chance), (move, more) in product(total.items(), law.items()):
                summed[one + (abs(move) if size else move)] += chance * more
            total = {value: chance for value, chance in summed.items() if chance > 1e-30}
    return total


@pytest.mark.parametrize("size", [True, False])
@pytest.mark.parametrize("excesses", [{0: 5}, {-3: 6}, {1: 3, 4: 2}, {-1: 2, 0: 2, 7: 2}])
@pytest.mark.parametrize("epsilon", [0.4, 1.5])
def test_bounds_on_tails_are_above_the_exact_tails(excesses: dict[int, int], epsilon: float, size: bool) -> None:
    law, exact = CellLaw(epsilon, excesses), tails(excesses, epsilon, size=size)
    of = "size" if size else "drift"
    for reached in range(min(exact), min(max(exact), 40) + 1):
        above = sum(chance for value, chance in exact.items() if value >= reached)
        below = sum(chance for value, chance in exact.items() if value <= reached)
        assert exp(law.log_tail(of, reached, above=True)) >= above - 1e-9
        assert exp(law.log_tail(of, reached, above=False)) >= below - 1e-9


def test_a_bound_is_not_idle() -> None:
    """Of ten empty cells, none moves with this chance, and the bound is hardly above it."""
    still = (1 - exp(-0.5) / (1 + exp(-0.5))) ** 10
    assert still <= exp(CellLaw(0.5, {0: 10}).log_tail("size", 0, above=False)) <= 1.05 * still


@pytest.mark.parametrize("factor", [0.5, 2])
@pytest.mark.parametrize("excess", [0, 3, 100])
def test_the_stated_power_is_kept(factor: float, excess: int) -> None:
    epsilon, cells, runs = 0.6, 300, 300
    law = CellLaw(epsilon, {excess: cells})
    stated = chance_to_find(law, factor, LOG_LEVEL)
    end = law.critical("size", LOG_LEVEL, above=factor > 1)
    drawn = geometric(epsilon / factor)(np.random.default_rng(6), cells * runs).reshape(runs, cells)
    sizes = np.abs(np.maximum(excess + drawn, 0) - excess).sum(axis=1)
    found = np.mean(sizes >= end if factor > 1 else sizes <= end)
    assert found >= stated - 0.03
    assert stated > 0.5
