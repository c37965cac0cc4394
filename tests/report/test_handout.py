"""The page to hand out is a function of the release folder, and tells no exact count, gain or hidden value.

The checks are written without the package, and each is shown to fail on a planted defect.
"""

import json
import re
import shutil
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import unveil
from report.reading import manifest_of, noise_oracle, read, strange_numbers
from report.secrets import DROPPED, HIDDEN, HIGHEST, LOWEST, ROWS, secret_project
from unveil.release.manifest import DiffGenManifest
from unveil.reports import handout_page
from unveil.reports.figures import Share
from unveil.reports.guarantee import Noise, private_facts

Release = tuple[Path, Path]


def trace_texts(spec: Path) -> set[str]:
    """The gains, losses and scores of the search, in every form that a page might write them in."""
    numbers = [step[key] for step in unveil.publish(spec).trace for key in ("gain", "loss", "score")]
    forms = ("{:.3g}", "{:.4g}", "{:.3f}", "{:.4f}", "{}")
    return {text for number in numbers for form in forms if len((text := form.format(number)).strip("0.")) > 2}


def leaks(page: str, folder: Path, spec: Path) -> list[str]:
    """What a page tells that it must not."""
    text = read(page).text
    secrets = [
        *HIDDEN,
        LOWEST,
        HIGHEST,
        f"{DROPPED}",
        f"{ROWS}",
        f"{ROWS:,}",
        f"{ROWS + DROPPED:,}",
        str(folder.parent),
    ]
    steps = {step for step in trace_texts(spec) if re.search(rf"(?<![\d.]){re.escape(step)}(?![\d.])", text)}
    told = [secret for secret in secrets if secret in text]
    return [*told, *steps, *strange_numbers(page, manifest_of(folder))]


def test_nothing_secret_is_reported(owned: Release) -> None:
    spec, folder = owned
    manifest = manifest_of(folder)
    assert manifest["rows"]["dropped"] == DROPPED
    assert not set(HIDDEN) & set(manifest["masking"]["town"]["disclosed"])
    assert "⊥" in unveil.open_release(folder).table["town"].to_pylist()
    assert leaks(unveil.report(folder), folder, spec) == []


def test_the_checks_see_what_the_owners_page_tells(owned: Release) -> None:
    spec, folder = owned
    found = leaks(unveil.report(folder, owner=spec), folder, spec)
    assert str(DROPPED) in found
    assert f"{ROWS:,}" in found
    assert trace_texts(spec) & set(found)


def test_what_is_above_a_cut_is_known_to_the_owner_alone(owned: Release) -> None:
    spec, folder = owned
    assert "Any job" not in (folder / "manifest.json").read_text(encoding="utf-8")
    assert "Any job" not in read(unveil.report(folder)).text
    assert "Any job" in read(unveil.report(folder, owner=spec)).text


def planted_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("unveil.reports.page"), "coarse", lambda share: Share(share, f"{share:.1%}"))


def planted_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("unveil.reports.page"), "about", lambda count: f"about {count:,}")


def planted_extremes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        import_module("unveil.reports.attributes"), "KINDS", {**KINDS, "discretization": f"from {LOWEST} to {HIGHEST}"}
    )


def planted_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        import_module("unveil.reports.attributes"), "KINDS", {**KINDS, "suppression": f"hides {HIDDEN[0]}"}
    )


def planted_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        import_module("unveil.reports.figures"),
        "size_classes",
        lambda sizes, k, unit: {f"{size} records": 0.2 for size in sizes.tolist()},
    )


KINDS = {"generalization": "g", "suppression": "s", "discretization": "d", "released": "r"}


@pytest.mark.parametrize(
    "plant", [planted_exact, planted_records, planted_extremes, planted_hidden, planted_sizes], ids=lambda f: f.__name__
)
def test_a_planted_leak_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], owned: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, folder = owned
    plant(monkeypatch)
    assert leaks(unveil.report(folder), folder, spec) != []


@pytest.mark.parametrize("name", ["k-anonymity", "templates", "differential privacy"])
def test_the_page_is_a_function_of_the_folder(
    name: str, bundled: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files elsewhere, with no raw table and no spec in reach, give the same page."""
    shutil.copytree(bundled[name], tmp_path / "other name")
    here = unveil.report(bundled[name])
    monkeypatch.chdir(tmp_path)
    forbidden = ("report.load_table", "report.load_spec", "report.held_rows")
    for verb in (*forbidden, "evaluate.evaluate_rows", "publish.publish", "check.fit_of"):
        module, name = verb.split(".")
        monkeypatch.setattr(import_module(f"unveil.workflow.{module}"), name, None)
    assert unveil.report(Path("other name")) == here


def test_rows_read_and_dropped_do_not_shape_the_page(owned: Release, tmp_path: Path) -> None:
    _, folder = owned
    other = tmp_path / "release"
    shutil.copytree(folder, other)
    manifest = manifest_of(other)
    manifest["rows"]["read"] += 1000
    manifest["rows"]["dropped"] += 1000
    (other / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    assert unveil.verify(other) == []
    assert unveil.report(other) == unveil.report(folder)


def nearly_the_same(folder: Path) -> tuple[str, str]:
    """The pages of a release, and of one with seven records more in one of its rows' groups."""
    release = unveil.open_release(folder)
    more = pa.concat_tables([release.table, release.table.slice(100, 1).take(pa.array([0] * 7))])
    manifest: Any = release.manifest
    other = manifest.model_copy(update={"records": manifest.records + 7})
    return handout_page(release), handout_page(unveil.Release(more, other))


def test_counts_reach_the_drawings_in_coarse_steps_only(owned: Release) -> None:
    one, other = nearly_the_same(owned[1])
    assert one == other


def test_a_drawing_that_follows_exact_counts_is_found(owned: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("unveil.reports.page"), "coarse", lambda share: Share(share, "some"))
    one, other = nearly_the_same(owned[1])
    assert one != other


def test_values_of_columns_that_are_released_as_they_are_stay_in_the_table(owned: Release) -> None:
    scores = unveil.open_release(owned[1]).table["score"].to_pylist()
    text = read(unveil.report(owned[1])).text
    assert f"{max(scores)}" not in text
    assert f"{min(score for score in scores if score > 1000)}" not in text


DIFFGEN = {
    "table": {"class": "ill"},
    "attributes": {"age": {"kind": "number", "range": [0, 8], "whole": True}, "ill": {"values": ["no", "yes"]}},
    "require": [{"kind": "differential-privacy", "epsilon": 1.0}],
    "publish": {"method": "diffgen", "specializations": 2},
}


@pytest.fixture
def diffgen(tmp_path: Path) -> Path:
    """A release by DiffGen of a few rows."""
    rows = pa.table({"age": [1, 5, 7] * 20, "ill": ["no", "yes"] * 30})
    unveil.publish(rows, DIFFGEN, unsafe_seed=1).write(tmp_path / "release")
    return tmp_path / "release"


def test_a_page_tells_how_much_an_empty_cell_shows(diffgen: Path) -> None:
    *_, lift = noise_oracle(counts_epsilon(manifest_of(diffgen)))
    assert f"shows {lift:.3g} on average" in read(unveil.report(diffgen)).text


def counts_epsilon(manifest: dict[str, Any]) -> Fraction:
    return Fraction(next(e["epsilon"] for e in manifest["ledger"] if e["purpose"].startswith("counts")))


def test_a_private_release_tells_its_manifest_and_its_noise(bundled: dict[str, Path], diffgen: Path) -> None:
    for folder in (bundled["differential privacy"], diffgen):
        manifest = manifest_of(folder)
        text = read(unveil.report(folder)).text
        deviation, reach, _ = noise_oracle(counts_epsilon(manifest))
        assert f"off by {reach} or less in 19 of 20 cases (standard deviation {deviation:.3g})" in text
        for entry in manifest["ledger"]:
            assert f"{entry['purpose']} {entry['epsilon']}" in text


def test_what_is_spent_is_the_sum_of_all_charges(diffgen: Path) -> None:
    """Also of charges for the same purpose."""
    manifest = unveil.open_release(diffgen).manifest
    assert isinstance(manifest, DiffGenManifest)
    charge = manifest.ledger[-1].model_copy(update={"epsilon": "1/8"})
    assert private_facts(manifest.model_copy(update={"ledger": (charge,) * 4}))["spent"] == "0.5"


@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(8)])
def test_the_noise_is_that_of_its_probabilities(epsilon: Fraction) -> None:
    deviation, reach, lift = noise_oracle(epsilon)
    noise = Noise(epsilon)
    assert noise.deviation == pytest.approx(deviation)
    assert noise.reach == reach
    assert noise.lift == pytest.approx(lift)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("threshold", [1, 4, 20])
def test_what_an_empty_cell_above_a_threshold_shows(epsilon: Fraction, threshold: int) -> None:
    weights = {z: 2.718281828459045 ** (-float(epsilon) * abs(z)) for z in range(-400, 401)}
    above = {z: weight for z, weight in weights.items() if z >= threshold}
    noise = Noise(epsilon)
    assert noise.passing(threshold) == pytest.approx(sum(above.values()) / sum(weights.values()))
    shown = sum(z * weight for z, weight in above.items()) / sum(above.values())
    assert noise.passed(threshold) == pytest.approx(shown)


def test_a_release_with_a_threshold_says_that_sums_lack_records(tmp_path: Path) -> None:
    unveil.publish(private_project(tmp_path, PLAN + "\nthreshold = 6")).write(tmp_path / "release")
    text = read(unveil.report(tmp_path / "release")).text
    assert "need not be empty: it may hold about 6 records" in text
    assert "lacks the records of all cells that are not listed" in text
    assert "too high" not in text
    assert "An empty cell shows" not in text
    epsilon = Fraction(manifest_of(tmp_path / "release")["ledger"][-1]["epsilon"])
    assert f"shows {Noise(epsilon).passed(6):.3g} on average" in text


@pytest.mark.parametrize("epsilon", ["1/1000000", "800"])
def test_noise_of_extreme_budgets(epsilon: str) -> None:
    noise = Noise(Fraction(epsilon))
    assert noise.reach == (0 if epsilon == "800" else 2_995_732)  # 20 = exp(ε (reach + 1)), about
    assert noise.deviation == pytest.approx(0 if epsilon == "800" else 2**0.5 * 10**6, abs=1e-6, rel=1e-6)


def private_project(folder: Path, plan: str) -> Path:
    """The table with secrets, published under differential privacy."""
    spec = secret_project(folder)
    text = spec.read_text().replace('kind = "category"\n', 'kind = "category"\nvalues = ["Aarhus", "Bergen", "Cork"]\n')
    text = text[: text.index("[attributes.score]")]
    text += '[attributes.score]\nrole = "identifier"\n[attributes.ill]\nkind = "category"\nvalues = ["yes", "no"]\n'
    text += f'[[require]]\nkind = "differential-privacy"\n{plan}\n'
    spec.write_text(text)
    rows = [line for line in (folder / "people.csv").read_text().splitlines() if not any(t in line for t in HIDDEN)]
    (folder / "people.csv").write_text("\n".join(rows) + "\n")
    return spec


PLAN = 'epsilon = 0.5\n[publish]\nmethod = "diffgen"\nspecializations = 3'


def test_a_private_release_of_no_cells(tmp_path: Path) -> None:
    """Where no count reaches the threshold there is nothing to draw, and the page says what follows from the rest."""
    unveil.publish(private_project(tmp_path, PLAN + "\nthreshold = 1000000")).write(tmp_path / "release")
    assert unveil.open_release(tmp_path / "release").table.num_rows == 0
    assert "only those whose noisy count reaches 1000000 are listed" in read(unveil.report(tmp_path / "release")).text


def test_the_owners_page_of_a_private_release(tmp_path: Path) -> None:
    """It has accuracy, from other draws, and neither steps nor groups; the ledger is not charged for it."""
    spec = private_project(tmp_path, PLAN)
    unveil.publish(spec).write(tmp_path / "release")
    ledger = (tmp_path / "unveil-ledger.json").read_text()
    seen = read(unveil.report(tmp_path / "release", owner=spec))
    assert (tmp_path / "unveil-ledger.json").read_text() == ledger
    assert "Private. This page holds" in seen.text
    assert "accuracy" in seen.ids()
    assert not {"steps", "groups"} & set(seen.ids())
    assert f"Rows left out {DROPPED}" in seen.text


def test_a_release_from_a_seed_is_not_called_private(tmp_path: Path) -> None:
    spec = private_project(tmp_path, PLAN)
    unveil.publish(spec, unsafe_seed=7).write(tmp_path / "seeded")
    seen = read(unveil.report(tmp_path / "seeded")).text
    assert "Not private. This release was drawn from a seed" in seen
    assert "nearly the same probability" not in seen
    unveil.publish(spec).write(tmp_path / "drawn")
    assert "Not private" not in read(unveil.report(tmp_path / "drawn")).text
