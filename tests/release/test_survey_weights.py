"""Survey weights: never sizes of groups, released as the owner says, weighed by in evaluation, and verified."""

import json
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, roc_auc_score

import unveil
from unveil.errors import SpecError, TableError, UnveilError
from unveil.evaluation.examples import Examples
from unveil.evaluation.protocol import Answers, scores
from unveil.verifier import judge_release
from verdicts import verify_release

FORMS: dict[str, dict[str, Any]] = {
    "no": {},
    "exact": {"release": "exact"},
    "rounded": {"release": "rounded", "step": 0.5},
    "group-mean": {"release": "group-mean", "step": 0.25},
}


def spec(form: str, **table: Any) -> dict[str, Any]:
    weight = {"role": "survey-weight", **FORMS[form]}
    return {
        "table": {"class": "ill", **table},
        "attributes": {"age": {"kind": "number", "whole": True}, "w": weight, "town": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
    }


def people(rows: int = 60, seed: int = 0) -> pa.Table:
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 60, rows)
    return pa.table(
        {
            "age": age,
            "w": np.round(draw.gamma(2, 3, rows), 2),
            "town": draw.choice(["Cork", "Bergen"], rows),
            "ill": np.where((age > 40) ^ (draw.random(rows) < 0.2), "yes", "no"),
        }
    )


def group_means(release: unveil.Release, table: pa.Table, step: float) -> dict[tuple[str, str], float]:
    """The mean of each group in plain fractions, rounded to the step, half to even."""
    masked = release.masking.labels(table)
    held = defaultdict(list)
    for age, town, weight in zip(
        masked["age"].to_pylist(), masked["town"].to_pylist(), table["w"].to_pylist(), strict=True
    ):
        held[age, town].append(Fraction(str(weight)))
    width = Fraction(str(step))
    return {group: float(round(sum(some) / len(some) / width) * width) for group, some in held.items()}


@pytest.mark.parametrize("form", FORMS)
def test_weights_change_no_group(form: str) -> None:
    table = people()
    plain = unveil.publish(table.drop_columns(["w"]), {**spec(form), "attributes": _without_weight(form)})
    release = unveil.publish(table, spec(form))
    names = ["age", "town", "ill"]
    assert sorted(_rows(release, names)) == sorted(_rows(plain, names))
    assert ("w" in release.table.column_names) == (form != "no")
    assert (
        json.loads(release.manifest.to_json())["masking"]["age"]
        == json.loads(plain.manifest.to_json())["masking"]["age"]
    )


def _rows(release: unveil.Release, names: list[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(release.table[name].to_pylist() for name in names), strict=True))


def _without_weight(form: str) -> dict[str, Any]:
    return {name: item for name, item in spec(form)["attributes"].items() if name != "w"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 10**7)), min_size=8, max_size=30))
def test_the_released_weights_are_those_of_brute_force(rows: list[tuple[int, str, int]]) -> None:
    weights = [float(Decimal(units) / 1000) for *_, units in rows]
    if not any(weights):
        weights[0] = 1.0
    table = pa.table(
        {
            "age": [age for age, *_ in rows],
            "w": weights,
            "town": [town for _, town, _ in rows],
            "ill": ["yes", "no"] * (len(rows) // 2) + ["yes"] * (len(rows) % 2),
        }
    )
    exact, rounded, means = (unveil.publish(table, spec(form)) for form in ("exact", "rounded", "group-mean"))
    assert sorted(exact.table["w"].to_pylist()) == sorted(weights)
    assert sorted(rounded.table["w"].to_pylist()) == sorted(
        float(round(Fraction(str(weight)) * 2) * Fraction(1, 2)) for weight in weights
    )
    expected = group_means(means, table, 0.25)
    released = means.table
    for age, town, weight in zip(*(released[name].to_pylist() for name in ("age", "town", "w")), strict=True):
        assert weight == expected[age, town]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], tuple[Path, dict[str, Any]]]:
    def write(form: str) -> tuple[Path, dict[str, Any]]:
        pa.parquet.write_table(people(), tmp_path / "people.parquet")
        content = spec(form, source=str(tmp_path / "people.parquet"))
        unveil.publish(tmp_path / "people.parquet", content).write(tmp_path / form)
        return tmp_path / form, content

    return write


@pytest.mark.parametrize("form", FORMS)
def test_a_release_verifies_also_against_the_raw_table(form: str, written: Callable[..., Any]) -> None:
    folder, content = written(form)
    assert unveil.verify(folder, content) == []


@pytest.mark.parametrize("form", ["exact", "rounded", "group-mean"])
def test_other_weights_than_the_raw_ones_are_found(form: str, written: Callable[..., Any], tmp_path: Path) -> None:
    folder, content = written(form)
    table = people()
    weights = table["w"].to_numpy().copy()
    weights[0] += 30
    pa.parquet.write_table(table.set_column(1, "w", pa.array(weights)), tmp_path / "people.parquet")
    assert {finding.claim for finding in unveil.verify(folder, content)} == {"truth"}


@pytest.mark.parametrize(
    ("form", "change", "claim"),
    [
        ("rounded", {"step": 0.75}, "survey-weight"),
        ("group-mean", {"step": 0.4}, "survey-weight"),
        ("group-mean", {"groups": ["town"]}, "survey-weight"),
        ("group-mean", {"groups": []}, "manifest"),
        ("exact", {"step": 1.0}, "manifest"),
    ],
)
def test_a_manifest_that_says_otherwise_is_found(
    form: str, change: dict[str, Any], claim: str, written: Callable[..., Any]
) -> None:
    folder, _ = written(form)
    _edit(folder, change)
    try:
        claims = {finding.claim for finding in verify_release(folder)}
    except UnveilError:
        claims = {"manifest"}
    assert claims == {claim}


def test_a_group_with_two_weights_is_found(written: Callable[..., Any]) -> None:
    folder, content = written("exact")
    quasi_identifier = content["require"][0]["quasi-identifier"]
    _edit(folder, {"release": "group-mean", "step": 0.01, "groups": quasi_identifier})
    [finding] = verify_release(folder)
    assert finding.claim == "survey-weight"
    assert "which is the mean of a group" in finding.message


def test_a_release_that_shows_more_than_the_spec_says_is_found(written: Callable[..., Any]) -> None:
    folder, _ = written("exact")
    source = str(folder.parent / "people.parquet")
    for form in ("no", "rounded", "group-mean"):
        claims = {finding.claim for finding in unveil.verify(folder, spec(form, source=source))}
        assert claims & {"identifier", "spec-domain"}


def _edit(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["masking"]["w"]["survey-weight"] |= change
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def test_a_reader_is_reported_what_weights_give_away(written: Callable[..., Any]) -> None:
    for form, words in (("exact", "released as they are: "), ("rounded", "rounded to 0.5")):
        folder, _ = written(form)
        notes = " ".join(judge_release(folder).notes)
        assert words in notes
        assert "groups are counted in records" in notes


def test_later_rows_have_weights_where_a_row_decides_them() -> None:
    table = people()
    later = table.slice(0, 4)
    for form, expected in (("exact", later["w"].to_pylist()), ("no", None), ("group-mean", None)):
        masked = unveil.publish(table, spec(form)).masking.apply(later)
        assert (masked["w"].to_pylist() if "w" in masked.column_names else None) == expected
    rounded = unveil.publish(table, spec("rounded")).masking.apply(later)["w"].to_pylist()
    assert rounded == [float(round(Fraction(str(weight)) * 2) / Fraction(2)) for weight in later["w"].to_pylist()]
    assert "w" not in unveil.publish(table, spec("exact")).masking.apply(later.drop_columns(["w"])).column_names


def test_scores_of_the_population_are_weighed() -> None:
    draw = np.random.default_rng(1)
    truth, chances = draw.integers(0, 2, 200), draw.random(200)
    weight = draw.gamma(1, 2, 200)
    labels = np.array(["a", "b"])
    found = scores(Answers(labels, np.column_stack([1 - chances, chances])), Examples({}, labels[truth], survey=weight))
    assert found.population is not None
    said = (chances > 0.5).astype(int)
    assert found.accuracy == pytest.approx(accuracy_score(truth, said))
    assert found.population.accuracy == pytest.approx(accuracy_score(truth, said, sample_weight=weight))
    assert found.population.auc == pytest.approx(roc_auc_score(truth, chances, sample_weight=weight))


def test_population_estimates() -> None:
    table = people(300)
    fit = unveil.check(table, spec("no"))
    assert fit.population is not None
    weight, ill = table["w"].to_numpy(), np.array(table["ill"].to_pylist())
    assert fit.population.people == pytest.approx(weight.sum())
    shares = {item.label: item.people for item in fit.population.classes}
    assert shares["yes"] == pytest.approx(weight[ill == "yes"].sum() / weight.sum())
    assert fit.population.to_dict()["records"] == 300
    found = unveil.evaluate(table, spec("exact")).population
    assert found is not None
    assert found.statistics is not None
    assert [item.released for item in found.classes] == pytest.approx([item.people for item in found.classes])
    hidden = unveil.evaluate(table, spec("no")).population
    assert hidden is not None
    assert hidden.statistics is None


def test_no_classifier_learns_from_weights() -> None:
    table = people(300)
    as_class = table.set_column(1, "w", pa.array(np.where(np.array(table["ill"].to_pylist()) == "yes", 2.0, 1.0)))
    line = unveil.evaluate(as_class, spec("exact")).line("raw", "tree")
    assert line.error > 0.05


def test_rows_without_a_weight_are_dropped_or_refused() -> None:
    table = people()
    gone = table.set_column(1, "w", pa.array([None, *table["w"].to_pylist()[1:]]))
    for form in FORMS:
        with pytest.raises(TableError, match="'w', the survey weight, has missing values"):
            unveil.publish(gone, spec(form))
        release = unveil.publish(gone, spec(form, missing={"rows": "drop"}))
        assert release.table.num_rows == 59


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"release": "rounded"}, "lacks the key 'step'"),
        ({"release": "exact", "step": 2}, "has a step, which has no meaning"),
        ({"release": "rounded", "step": 0}, "step is 0, but it must be larger than 0"),
        ({"kind": "number"}, "not 'kind'"),
        ({"release": "sometimes"}, "release"),
    ],
)
def test_a_weight_that_makes_no_sense_is_refused(change: dict[str, Any], words: str) -> None:
    content = spec("no")
    content["attributes"]["w"] |= change
    with pytest.raises(SpecError, match=words):
        unveil.publish(people(), content)


def test_a_weight_in_the_wrong_place_is_refused() -> None:
    content = spec("no")
    content["require"][0]["quasi-identifier"].append("w")
    with pytest.raises(SpecError, match="names the survey weight 'w', which is not masked"):
        unveil.publish(people(), content)
    content = spec("group-mean")
    content["require"] = [{"kind": "l-diversity", "quasi-identifier": ["age"], "sensitive": "town", "l": 2}]
    with pytest.raises(SpecError, match="no requirement says how many records a group has"):
        unveil.publish(people(), content)
    with pytest.raises(SpecError, match="which cannot be combined with"):
        unveil.publish(people(), {**spec("group-mean"), "publish": {"leave-out": "5%"}})
    two = spec("no")
    two["attributes"]["v"] = {"role": "survey-weight"}
    with pytest.raises(SpecError, match="'w' and 'v' are both survey weights"):
        unveil.publish(people(), two)
    with pytest.raises(SpecError, match="remove one of the two"):
        unveil.publish(people(), spec("no", weight="n"))
    content = spec("no")
    content["attributes"]["age"]["release"] = "exact"
    with pytest.raises(SpecError, match="'release', which is for a survey weight"):
        unveil.publish(people(), content)


@pytest.mark.parametrize(("weight", "words"), [(-1.0, "is below 0"), ("x", "is not a number")])
def test_a_value_that_is_not_a_weight_is_refused(weight: Any, words: str) -> None:
    table = people()
    texts = [str(value) for value in [weight, *table["w"].to_pylist()[1:]]]
    for form in ("exact", "rounded", "group-mean"):
        with pytest.raises(TableError, match=words):
            unveil.publish(table.set_column(1, "w", pa.array(texts)), spec(form))


PRIVATE = {
    "table": {"class": "ill"},
    "attributes": {
        "age": {"kind": "number", "whole": True, "range": [0, 100]},
        "town": {"kind": "category", "values": ["Cork", "Bergen"]},
        "ill": {"values": ["yes", "no"]},
    },
    "require": [{"kind": "differential-privacy", "epsilon": 1.0}],
    "publish": {"method": "diffgen", "specializations": 2},
}


def test_a_private_release_never_reads_a_weight() -> None:
    table = people()
    weight = {"role": "survey-weight"}
    content = {**PRIVATE, "attributes": {**PRIVATE["attributes"], "w": weight}}  # type: ignore[dict-item]
    broken = table.set_column(1, "w", pa.array(["x"] * table.num_rows))
    one, other = (unveil.publish(rows, content, unsafe_seed=0) for rows in (table, broken))
    assert one.table.equals(other.table)
    assert "w" not in one.table.column_names
    with pytest.raises(SpecError, match="a differentially private release has no survey weights"):
        unveil.publish(table, {**content, "attributes": {**content["attributes"], "w": {**weight, "release": "exact"}}})


def test_a_hidden_weight_may_say_whose_row_it_is() -> None:
    """As in a survey whose weights are those of households."""
    table = people().set_column(1, "w", pa.array(np.repeat(np.arange(20), 3) + 0.5))
    release = unveil.publish(table, spec("no", person="w"))
    assert (release.manifest.persons, release.table.column_names) == (20, ["age", "town", "ill"])
    with pytest.raises(SpecError, match=r"'w', which \[attributes.w\] would release"):
        unveil.publish(table, spec("exact", person="w"))


def test_rows_without_a_weight_are_dropped_where_other_gaps_are_kept() -> None:
    table = people()
    gone = table.set_column(1, "w", pa.array([None, *table["w"].to_pylist()[1:]]))
    content = spec("exact", missing={"rows": "keep"})
    content["attributes"]["w"]["missing"] = "drop"
    assert unveil.publish(gone, content).table.num_rows == 59
    content["attributes"]["w"]["missing"] = "keep"
    with pytest.raises(SpecError, match="so rows without one cannot be kept"):
        unveil.publish(gone, content)
