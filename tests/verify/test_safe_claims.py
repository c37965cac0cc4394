"""A release of true rows with planted faults: its ledger, its δ, its rows, and its sampling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.noise import Source, Thinning
from unveil.schema import load_spec
from unveil.verifier import judge_release
from unveil.verifier.comparison import judge_against_raw
from verdicts import verify_against_raw, verify_release
from verify.additive_releases import SPEC, Manifest, content, people, planted, rewritten, write_project
from verify.private_releases import each
from verify.releases import edit_manifest

SAFE = SPEC.replace('"additive"', '"safe"\ndelta = 1e-6\nspecializations = 4')


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """The releases here have so many rows that batches of three would take minutes."""


def published(folder: Path) -> Path:
    """A release that calls itself private, as one without a seed does."""
    found = load_spec(write_project(folder, SAFE))
    assert found.plan is not None
    release = unveil.publish(people(), found, unsafe_seed=5)
    release.write(folder / "release")
    manifest = release.manifest
    sentence = (
        f"{found.plan.sentence(weighted=False)} Each row is a record of the table, masked, and was kept with "
        f"probability {manifest.sampled}; at least {manifest.k} rows agree in all columns."
    )
    edit_manifest(folder / "release", lambda manifest: manifest.update(private=True, guarantee=sentence))
    return folder / "release"


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("safe"))


def test_an_honest_release_holds(true: Path) -> None:
    verdict = judge_release(true)
    assert verdict.findings == []
    assert "That rows were sampled cannot be seen" in verdict.notes[0]
    raw = judge_against_raw(true, load_spec(true.parent / "spec.toml"))
    assert raw.findings == []
    assert "All rows are in the raw table" in raw.notes[0]


Edit = Callable[[Manifest], Any]
FAULTS: dict[str, tuple[Edit, str, str]] = {
    "a smaller k": (lambda m: m.update(k=m["k"] - 1), "delta", "it is "),
    "a larger share": (lambda m: m.update(sampled="9/10"), "delta", "too many records are kept"),
    "no probability": (lambda m: m.update(sampled="3/2"), "delta", "is between 0 and 1"),
    "a smaller delta": (lambda m: m["requirements"][0].update(delta="1/1000000000"), "delta", "but with β"),
    "sampling unpaid": (lambda m: m["ledger"].pop(), "ledger", "not a sequential one for 'sampling and suppression'"),
    "sampling cheaper": (lambda m: m["ledger"][-1].update(epsilon="1/2"), "charge", "but 3ε / 4 is 3/2"),
    "a cheap choice": (lambda m: m["ledger"][0].update(epsilon="1/1000"), "charge", "ε / (4("),
}  # fmt: skip


@each(FAULTS)
def test_a_planted_claim_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str, str]) -> None:
    edit, claim, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def test_a_group_of_one_row_too_few_is_found(true: Path, tmp_path: Path) -> None:
    least = content(true)["k"]

    def shorter(table: pa.Table) -> pa.Table:
        groups = table.group_by(table.column_names).aggregate([([], "count_all")]).sort_by("count_all")
        smallest = groups["count_all"][0].as_py()
        rows = table.to_pylist()
        first = {name: groups[name][0].as_py() for name in table.column_names}
        places = [place for place, row in enumerate(rows) if row == first][: smallest - least + 1]
        return table.take(pa.array([place for place in range(len(rows)) if place not in places]))

    [finding] = rewritten(true, tmp_path, shorter)
    assert finding.claim == "k"
    assert f"appears {least - 1} times" in finding.message


SAMPLINGS: dict[str, tuple[Callable[[Thinning, Any, Source], Any], str]] = {
    "everybody is kept": (lambda thinning, counts, source: counts * (counts >= thinning.least), "each is kept with"),
    "half of the share": (
        lambda thinning, counts, source: (
            (counts * float(thinning.share) / 2).astype(int) * (counts > 2 * thinning.least / float(thinning.share))
        ),
        "each is kept with",
    ),
    "rows that nobody is": (lambda thinning, counts, source: counts + 50, "that the raw table does not have"),
}


@each(SAMPLINGS)
def test_rows_that_were_not_sampled_as_stated_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[Callable[..., Any], str]
) -> None:
    sampling, words = case
    monkeypatch.setattr(Thinning, "draw", sampling)
    release = published(tmp_path)
    findings = verify_against_raw(release, load_spec(tmp_path / "spec.toml"))
    assert any(words in finding.message for finding in findings), findings


def test_another_plan_than_that_of_the_spec_is_found(true: Path) -> None:
    spec = true.parent / "spec.toml"
    other = true.parent / "other.toml"
    changed = spec.read_text(encoding="utf-8").replace("delta = 1e-6", "delta = 1e-7")
    other.write_text(changed.replace("specializations = 4", "specializations = 5"), encoding="utf-8")
    told = " ".join(finding.message for finding in verify_against_raw(true, load_spec(other)))
    assert "the δ '1/1000000', but the spec has '1/10000000'" in told
    assert "the specializations 4, but the spec has 5" in told


def test_the_rows_are_those_of_the_parquet_file(true: Path) -> None:
    assert pq.read_table(true / "data.parquet").num_rows == unveil.open_release(true).rows.num_rows
