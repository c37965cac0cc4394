"""A release by noisy tables with planted faults, in its files and next to the raw table."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import unveil
from unveil.arrays import IntArray
from unveil.noise import Source
from unveil.publishers.additive import rounds
from unveil.schema import load_spec
from unveil.verifier import judge_release
from unveil.verifier.raw.comparison import judge_against_raw
from verdicts import verify_release
from verify.additive_releases import (
    SPEC,
    THREE,
    Manifest,
    content,
    people,
    planted,
    published,
    rewritten,
    write_project,
)
from verify.private_releases import each

Edit = Callable[[Manifest], Any]
Noisy = Callable[[IntArray, Fraction, Source], IntArray]
COUNTED = f'{SPEC}goal = "statistics"\n'
COUNTED_THREE = f'{THREE}goal = "statistics"\n'
TRUE_NOISE = rounds.with_noise


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """The releases here have so many rows that batches of three would take minutes."""


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("two"), spec=COUNTED)


def test_a_release_holds_and_says_what_cannot_be_seen(true: Path) -> None:
    verdict = judge_release(true)
    assert verdict.findings == []
    assert "groups of bins" in verdict.notes[1]
    assert len(content(true)["pairs"]) == 3
    assert set(content(true)["tables"]) == {"age", "height", "since", "education", "job"}


def test_a_release_of_three_classes_holds(tmp_path: Path) -> None:
    release = published(tmp_path, spec=COUNTED_THREE)
    assert verify_release(release) == []
    assert judge_against_raw(release, load_spec(tmp_path / "spec.toml")).findings == []


def test_a_release_about_persons_holds(tmp_path: Path) -> None:
    """With two rows of a person at most, every draw is twice as sensitive, and `--raw` counts the same rows."""
    spec = COUNTED.replace('class = "income"', 'class = "income"\nperson = "who"').replace(
        "epsilon = 2", "epsilon = 2\ncontributions = 2"
    )
    rows = people().append_column("who", pa.array(np.arange(3000) // 3))
    loaded = load_spec(write_project(tmp_path, spec, rows))
    unveil.publish(tmp_path / "spec.toml", unsafe_seed=1).write(tmp_path / "release")
    assert verify_release(tmp_path / "release") == []
    assert judge_against_raw(tmp_path / "release", loaded).findings == []
    assert sum(content(tmp_path / "release")["totals"]) == pytest.approx(2000, abs=200)


def _circle(manifest: Manifest) -> None:
    """The last pair ties what the first one tied."""
    manifest["pairs"][-1] = manifest["pairs"][0]
    named = {name for pair in manifest["pairs"] for name in pair["attributes"]}
    manifest["groups"] = {name: groups for name, groups in manifest["groups"].items() if name in named}


def _unpaid_pair(manifest: Manifest) -> None:
    del manifest["ledger"][-2:]


def _one_block(manifest: Manifest) -> None:
    bins = manifest["bins"]["job"]
    bins["baker"] = bins["cook"]


PLANTED: dict[str, tuple[Edit, str, str]] = {
    "charge left out": (lambda m: m["ledger"].pop(1), "ledger", "charge 2 is for 'table of height'"),
    "unpaid pair": (_unpaid_pair, "ledger", "for nothing, but the draws make it one for 'choice of pair 3'"),
    "cheaper": (lambda m: m["ledger"][1].update(epsilon="1/5"), "charge", "its share of ε is"),
    "parallel": (lambda m: m["ledger"][2].update(composition="parallel"), "ledger", "is parallel"),
    "a pair that nobody drew": (lambda m: (m["pairs"].pop(), m["ledger"].__delitem__(slice(-2, None)))
                                 and m.update(groups={n: g for n, g in m["groups"].items()
                                              if any(n in p["attributes"] for p in m["pairs"])}),
                                 "measured", "there are 2 pairs, but by the totals"),
    "circle": (_circle, "measured", "which are tied already"),
    "totals": (lambda m: m["totals"].append(3), "measured", "there are 3 totals of 2 classes"),
    "table": (lambda m: m["tables"]["job"].pop(), "measured", "the table of 'job' does not have 4 bins of 2 classes"),
    "no table": (lambda m: m["tables"].pop("job"), "measured", "but bins of"),
    "one block": (_one_block, "measured", "two bins in one block"),
    "groups": (lambda m: m["groups"]["age"].__setitem__(0, 40), "measured", "'age' has groups"),
    "counts": (lambda m: m["pairs"][0]["counts"].pop(), "measured", "pair 1 does not have"),
    "strange groups": (lambda m: m["groups"].update(x=[0]), "measured", "there are groups of"),
    "a true count": (lambda m: m["pairs"][0].update(true=[1]), "manifest", "pairs.0.true: Extra inputs"),
    "a fraction": (lambda m: m["totals"].append(0.5), "manifest", "totals.2"),
    "other counts": (lambda m: m["tables"]["job"][0].__setitem__(0, 0), "weights", "but what was measured makes it"),
    "other pair": (lambda m: m["pairs"][0]["counts"][0].__setitem__(0, 4000), "weights", "but what was measured"),
    "cells": (lambda m: m.update(cells=m["cells"] + 1), "cells", "but what was measured makes"),
}  # fmt: skip


@each(PLANTED)
def test_a_planted_fault_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str, str]) -> None:
    edit, claim, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def test_a_changed_weight_is_found(true: Path, tmp_path: Path) -> None:
    def change(table: pa.Table) -> pa.Table:
        weights = np.array(table["weight"]).copy()
        weights[3] += 0.5
        return table.set_column(table.num_columns - 1, "weight", pa.array(weights))

    assert {finding.claim for finding in rewritten(true, tmp_path, change)} == {"weights"}


def test_a_missing_row_is_found(true: Path, tmp_path: Path) -> None:
    findings = rewritten(true, tmp_path, lambda table: table.slice(1))
    assert {finding.claim for finding in findings} == {"weights"}


def test_weights_are_counts_of_the_table(true: Path, tmp_path: Path) -> None:
    """The one-way tables are those that were measured, up to the points that represent them."""
    manifest, raw = content(true), people()
    table = pa.parquet.read_table(true / "data.parquet")
    for name in ("job", "income"):
        for value in raw[name].unique().to_pylist():
            found = pc.sum(table.filter(pc.equal(table[name], value))["weight"]).as_py()
            assert found == pytest.approx(pc.sum(pc.equal(raw[name], value)).as_py(), abs=60)
    assert sum(manifest["totals"]) == pytest.approx(raw.num_rows, abs=100)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_honest_noise_is_never_blamed(tmp_path: Path, seed: int) -> None:
    release = published(tmp_path, spec=COUNTED, seed=seed)
    verdict = judge_against_raw(release, load_spec(tmp_path / "spec.toml"))
    assert verdict.findings == []
    assert "fit the noise paid for" in verdict.notes[0]


NOISES: dict[str, tuple[Noisy, str]] = {
    "none": (lambda sums, rate, source: sums, "the table of age differ from the true ones in a way that the noise"),
    "half": (lambda sums, rate, source: TRUE_NOISE(sums, 2 * rate, source), "too small"),
    "twice": (lambda sums, rate, source: TRUE_NOISE(sums, rate / 2, source), "too large"),
    "only pairs without": (
        lambda sums, rate, source: sums if sums.shape[-1] > 2 else TRUE_NOISE(sums, rate, source),
        "counts of pair",
    ),
}  # fmt: skip


@each(NOISES)
def test_other_noise_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[Noisy, str]) -> None:
    noise, words = case
    monkeypatch.setattr(rounds, "with_noise", noise)
    release = published(tmp_path, spec=COUNTED)
    assert verify_release(release) == []
    verdict = judge_against_raw(release, load_spec(tmp_path / "spec.toml"))
    assert any(words in finding.message for finding in verdict.findings), verdict


def test_bins_of_another_spec_are_found(true: Path, tmp_path: Path) -> None:
    spec = load_spec(write_project(tmp_path, COUNTED.replace("step = 0.1", "step = 0.05")))
    findings = judge_against_raw(true, spec).findings
    assert any(item.claim == "spec-bins" and "'height' has the bins" in item.message for item in findings), findings


def test_a_release_for_the_class_is_not_one_for_statistics(true: Path, tmp_path: Path) -> None:
    """The spec says which of both the owner asked for."""
    verdict = judge_against_raw(true, load_spec(write_project(tmp_path)))
    assert [finding.claim for finding in verdict.findings] == ["spec-method"]
