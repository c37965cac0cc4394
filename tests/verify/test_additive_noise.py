"""An additive release next to the spec and the raw table: its bins, and the noise of all that was measured."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil.arrays import IntArray
from unveil.noise import SeededSource, Source
from unveil.publishers.additive import rounds
from unveil.schema import load_spec
from unveil.verifier import Verdict
from unveil.verifier.private.noise import NoiseLaw, chance_to_find
from unveil.verifier.private.places import bin_labels
from unveil.verifier.raw.comparison import judge_against_raw
from verdicts import verify_against_raw, verify_release
from verify.additive_releases import SPEC, THREE, Manifest, content, people, planted, published, write_project
from verify.private_releases import each, found

Noisy = Callable[[IntArray, Fraction, Source], IntArray]
TRUE_NOISE = rounds.with_noise


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """The releases here have so many rows that batches of three would take minutes."""


def judged(folder: Path, noise: Noisy | None, monkeypatch: pytest.MonkeyPatch, seed: int = 1) -> Verdict:
    """Publishes with other noise and compares with the raw table; by its files alone the release holds."""
    if noise is not None:
        monkeypatch.setattr(rounds, "with_noise", noise)
    release = published(folder, f"release-{seed}", seed=seed)
    assert verify_release(release) == []
    return judge_against_raw(release, load_spec(folder / "spec.toml"))


@pytest.mark.parametrize("spec", [SPEC, THREE], ids=["two classes", "three classes"])
def test_honest_noise_is_never_blamed(tmp_path: Path, spec: str) -> None:
    for seed in range(1, 9):
        release = published(tmp_path, f"release-{seed}", spec=spec, seed=seed)
        verdict = judge_against_raw(release, load_spec(tmp_path / "spec.toml"))
        assert verdict.findings == []
        [note] = verdict.notes
        assert "fit the noise paid for" in note
        assert "Choices are drawn once and cannot be tested" in note


def test_numbers_without_noise_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = judged(tmp_path, lambda sums, rate, source: sums, monkeypatch)
    assert any(
        "the counts of the leaves differ from the true ones in a way that the noise in it is too small" in item.message
        for item in verdict.findings
    )
    assert any("all measured numbers" in item.message for item in verdict.findings)
    assert verdict.notes == []


def _only(size: int, other: Noisy) -> Noisy:
    """Other noise on draws of one column less, or more, than two, such as the class totals."""
    return lambda sums, rate, source: (other if sums.ndim == size else TRUE_NOISE)(sums, rate, source)


PLANTED: dict[str, tuple[Noisy, str]] = {
    "half": (lambda sums, rate, source: TRUE_NOISE(sums, 2 * rate, source), "too small"),
    "twice": (lambda sums, rate, source: TRUE_NOISE(sums, rate / 2, source), "too large"),
    "added": (lambda sums, rate, source: TRUE_NOISE(sums, rate, source) + int(4 / rate), "too many records were added"),
    "missing": (lambda sums, rate, source: TRUE_NOISE(sums, rate, source) - int(4 / rate), "records are missing"),
    "totals of another table": (
        _only(1, lambda sums, rate, source: TRUE_NOISE(sums, rate, source) + int(60 / rate)),
        "one of the class totals is off by",
    ),
}  # fmt: skip


@each(PLANTED)
def test_noise_of_another_law_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[Noisy, str]
) -> None:
    noise, words = case
    verdict = judged(tmp_path, noise, monkeypatch)
    assert any(words in finding.message for finding in verdict.findings), verdict


def test_one_round_without_noise_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a round had been measured and not paid for."""
    seen: list[int] = []

    def noise(sums: IntArray, rate: Fraction, source: Source) -> IntArray:
        seen.append(len(sums))
        return sums if len(seen) == 3 else TRUE_NOISE(sums, rate, source)

    verdict = judged(tmp_path, noise, monkeypatch)
    assert any("the sums of round 2 differ" in finding.message for finding in verdict.findings), verdict


def test_a_record_that_weighs_more_than_was_published_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums are of records whose weight was not rounded as the manifest says, so they are off by more than noise."""
    verdict = judged(tmp_path, lambda sums, rate, source: TRUE_NOISE(sums + sums // 8, rate, source), monkeypatch)
    assert any(finding.claim == "noise" for finding in verdict.findings), verdict


def test_numbers_of_another_table_are_found(tmp_path: Path) -> None:
    release = published(tmp_path)
    write_project(tmp_path, table=people().slice(0, 2500))
    verdict = judge_against_raw(release, load_spec(tmp_path / "spec.toml"))
    assert any(finding.claim == "noise" for finding in verdict.findings), verdict


def test_a_release_without_a_seed_holds(tmp_path: Path) -> None:
    spec = load_spec(write_project(tmp_path))
    unveil.publish(people(), spec).write(tmp_path / "release", formats=("parquet", "csv"))
    assert content(tmp_path / "release")["private"] is True
    assert unveil.verify(tmp_path / "release", spec) == []


@pytest.mark.parametrize("epsilon", ["0.001", "20000"])
def test_a_release_of_any_epsilon_holds(tmp_path: Path, epsilon: str) -> None:
    spec = load_spec(write_project(tmp_path, SPEC.replace("epsilon = 2", f"epsilon = {epsilon}")))
    unveil.publish(people(), spec, unsafe_seed=5).write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", spec) == []


def test_rows_of_weights_and_clamped_values_are_counted_as_they_were(tmp_path: Path) -> None:
    spec = SPEC.replace("range = [17, 91]", 'range = [20, 80]\noutside = "clamp"').replace(
        'class = "income"', 'class = "income"\nweight = "n"'
    )
    table = people().append_column("n", pa.array(np.arange(3000) % 3 + 1))
    loaded = load_spec(write_project(tmp_path, spec, table))
    unveil.publish(table, loaded, unsafe_seed=2).write(tmp_path / "release")
    assert verify_release(tmp_path / "release") == []
    assert verify_against_raw(tmp_path / "release", loaded) == []


Edit = Callable[[Manifest], Any]
SPECS = {
    "ε": (SPEC.replace("epsilon = 2", "epsilon = 1"), "spec-requirement", "has ε = 2, but the spec has 1"),
    "classes": (SPEC.replace('["low", "high"]', '["low", "tall"]'), "spec-classes", "'low', 'high'"),
    "range": (SPEC.replace("[17, 91]", "[17, 92]"), "spec-domain", "its declared range is [17, 92)"),
    "values": (SPEC.replace('"cook", "clerk"', '"clerk", "cook"'), "spec-bins", "'job' has the bins"),
    "weights": (
        SPEC.replace('class = "income"', 'class = "income"\nweight = "height"').replace(
            SPEC[SPEC.index("[attributes.height]") : SPEC.index("[attributes.since]")], ""
        ),
        "spec-columns",
        "has the columns",
    ),
}


@each(SPECS)
def test_another_spec_is_found(tmp_path: Path, case: tuple[str, str, str]) -> None:
    spec, claim, words = case
    release = published(tmp_path)
    assert "job" in content(release)["bins"]
    (tmp_path / "spec.toml").write_text(spec, encoding="utf-8")
    findings = verify_against_raw(release, load_spec(tmp_path / "spec.toml"))
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def test_another_method_is_found(tmp_path: Path) -> None:
    release = published(tmp_path)
    spec = SPEC.replace('method = "additive"', 'method = "diffgen"\nspecializations = 2')
    (tmp_path / "spec.toml").write_text(spec, encoding="utf-8")
    found(
        verify_against_raw(release, load_spec(tmp_path / "spec.toml")),
        "spec-method",
        "'additive', but the spec 'diffgen'",
    )


def test_a_leaf_outside_its_block_is_found(tmp_path: Path) -> None:
    release = published(tmp_path)

    def edit(manifest: Manifest) -> None:
        bins = manifest["bins"]["education"]
        manifest["bins"]["education"] = {label: list(bins.values())[-1] for label in bins}

    findings = verify_against_raw(planted(release, tmp_path, edit), load_spec(tmp_path / "spec.toml"))
    assert any(finding.claim == "spec-bins" for finding in findings), findings


@pytest.mark.parametrize(
    ("size", "records", "bounds"),
    [
        (10, 1e3, [*range(11)]),
        (100, 1e3, [0, 1, 2, 5, 10, 12, 20, 25, 37, 50, 62, 75, 87, 100]),
        (20, 2e4, [*range(21)]),
    ],
)
def test_bins_are_those_of_the_documentation(size: int, records: float, bounds: list[int]) -> None:
    [attribute] = [
        load_spec({"table": {"class": "y"}, "attributes": {"x": {"kind": "number", "range": [0, size], "whole": True}},
                   "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 2}]}).attributes["x"]
    ]  # fmt: skip
    assert bin_labels(attribute, records) == [f"[{lo}, {hi})" for lo, hi in pairwise(bounds)]


def drawn(rates: dict[float, int], factor: float, runs: int, seed: int) -> Any:
    """Sums of sizes and of moves, in units of the stated rates, by many draws."""
    rng = np.random.default_rng(seed)
    size, drift = np.zeros(runs), np.zeros(runs)
    for rate, count in rates.items():
        ends = rng.geometric(1 - exp(-rate / factor), (2, runs, count))
        moves = rate * (ends[0] - ends[1])
        size, drift = size + np.abs(moves).sum(axis=1), drift + moves.sum(axis=1)
    return size, drift


@pytest.mark.parametrize("rates", [{0.5: 20}, {0.001: 12, 1.0: 6}], ids=["one rate", "two rates"])
def test_bounds_on_tails_are_above_the_drawn_tails(rates: dict[float, int]) -> None:
    size, drift = drawn(rates, 1, 20_000, 4)
    law = NoiseLaw(rates)
    for share in (0.02, 0.2, 0.8, 0.98):
        for of, sums in (("size", size), ("drift", drift)):
            reached = float(np.quantile(sums, share))
            assert exp(law.log_tail(of, reached, above=True)) >= np.mean(sums >= reached) - 0.01
            assert exp(law.log_tail(of, reached, above=False)) >= np.mean(sums <= reached) - 0.01


@pytest.mark.parametrize("factor", [0.5, 2])
def test_the_stated_power_is_kept(factor: float) -> None:
    rates, level = {0.01: 100, 0.5: 100}, log(1e-8)
    law = NoiseLaw(rates)
    stated = chance_to_find(law, factor, level)
    end = law.critical("size", level, above=factor > 1)
    size, _ = drawn(rates, factor, 400, 5)
    assert np.mean(size >= end if factor > 1 else size <= end) >= stated - 0.03
    assert stated > 0.5


def test_a_seeded_source_draws_the_noise_that_is_tested() -> None:
    """The planted noise above takes its place, so the place must be the one that draws."""
    assert TRUE_NOISE(np.zeros(50, dtype=np.int64), Fraction(1, 10), SeededSource(1)).any()


def test_an_only_child_keeps_its_own_label_as_a_bin(tmp_path: Path) -> None:
    """Its block takes the label of the node above, which covers the same values."""
    spec = write_project(tmp_path)
    only = "Any\n  Degree\n    Bachelors\n    Masters\n  School\n    Low\n      9th\n  Other\n    10th\n"
    (tmp_path / "education.tree").write_text(only, encoding="utf-8")
    release = unveil.publish(spec, unsafe_seed=1)
    release.write(tmp_path / "release")
    assert "9th" in release.manifest.bins["education"]
    assert verify_against_raw(tmp_path / "release", load_spec(spec)) == []
