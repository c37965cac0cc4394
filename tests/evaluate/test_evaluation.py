"""Evaluating specs of small tables: what is learned from what, that test rows stay unseen, and the notes."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from project import Project
from unveil import SpecError, TableError, UnveilError, publish
from unveil.evaluation.classifiers import CLASSIFIERS
from unveil.evaluation.evaluation import SETTINGS, Comparison, guarantee, guarantee_text
from unveil.evaluation.plots import drawn, plot
from unveil.evaluation.protocol import Folds, Given, Holdout
from unveil.publishers import trial_release
from unveil.schema import Spec, load_spec
from unveil.tables import Table
from unveil.workflow.evaluate import DRAWN, OWNERS, TOGETHER, compare, evaluate

ONCE = Holdout(seeds=(0,))


def survey(rows: int = 300, *, weighted: bool = False) -> pa.Table:
    """Whether somebody is ill follows from job and age; the town is noise, the diary gives it away."""
    draw = np.random.default_rng(1)
    age = draw.integers(20, 80, rows)
    job = draw.choice(["clerk", "smith", "baker"], rows)
    ill = (age > 50) & (job != "clerk")
    columns: dict[str, Any] = {
        "id": [f"p{number}" for number in range(rows)],
        "age": age,
        "job": job,
        "town": draw.choice(["Aarhus", "Bergen"], rows),
        "diary": np.where(ill, "bad", "good"),
        "ill": np.where(ill, "yes", "no"),
        "part": np.where(np.arange(rows) < 200, "train", "test"),
    }
    if weighted:
        columns["people"] = draw.integers(1, 4, rows)
    return pa.table(columns)


def spec(*require: Mapping[str, Any], **table: Any) -> dict[str, Any]:
    """Without a requirement that is given: k = 10 on age and job."""
    return {
        "table": {"class": "ill", "others": "drop", **table},
        "attributes": {
            "id": {"role": "identifier"},
            "age": {"kind": "number", "range": [20, 80], "whole": True},
            "job": {"kind": "category", "values": ["clerk", "smith", "baker"]},
            "town": {"kind": "category", "values": ["Aarhus", "Bergen"]},
            "ill": {"values": ["no", "yes"]},
        },
        "require": list(require) or [{"kind": "k-anonymity", "quasi-identifier": ["age", "job"], "k": 10}],
    }


def private(epsilon: float = 2.0) -> dict[str, Any]:
    wish = spec({"kind": "differential-privacy", "epsilon": epsilon})
    return {**wish, "publish": {"method": "diffgen", "specializations": 3}}


def test_the_release_lies_between_raw_and_masked() -> None:
    found = evaluate(survey(), spec())
    raw, released, masked = (found.line(setting, "tree") for setting in ("raw", "released", "masked"))
    assert raw.error <= released.error < masked.error
    assert raw.accuracy == 1 - raw.error
    assert (raw.n, released.n, masked.n) == (5, 5, 5)
    assert released.low is not None
    assert released.high is not None
    assert released.low <= released.error <= released.high
    assert [line.setting for line in found.lines] == ["raw", "released", "masked"]
    assert found.notes == (OWNERS,)


def test_masked_is_what_publishing_without_a_step_gives() -> None:
    found = evaluate(survey(), spec(), protocol=Given("part"), classifiers=("bayes",))
    rows = survey().slice(0, 200).drop_columns(["part", "diary"])
    start = publish(rows, {**spec(), "table": {"class": "ill"}}, steps=0)
    assert {len(set(start.table[name].to_pylist())) for name in ("age", "job")} == {1}
    labels = rows["ill"].to_pylist()
    common = max(set(labels), key=labels.count)
    tested = survey()["ill"].to_pylist()[200:]
    assert found.line("masked", "bayes").error == pytest.approx(
        np.mean([label != common for label in tested]), abs=0.02
    )


def test_sensitive_attributes_removed() -> None:
    template = {"kind": "confidence", "channel": ["age", "town"], "sensitive": "job", "values": ["baker"], "limit": 0.9}
    found = evaluate(survey(), spec(template), protocol=ONCE)
    assert [line.setting for line in found.lines] == ["raw", "released", "removed", "masked"]
    assert found.line("removed", "tree").error > found.line("raw", "tree").error
    assert set(SETTINGS) == {line.setting for line in found.lines}


def test_undescribed_columns_count_only_where_they_are_released() -> None:
    dropped, kept = (evaluate(survey(), spec(others=others), protocol=ONCE) for others in ("drop", "release"))
    assert dropped.line("masked", "tree").error > 0.2
    assert kept.line("masked", "tree").error == 0  # the diary tells


class Spy:
    """Records what was published."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables: list[Table] = []
        self.seeds: list[int | None] = []
        monkeypatch.setattr(sys.modules["unveil.workflow.evaluate"], "trial_release", self)

    def __call__(self, table: Table, spec: Spec, seed: int | None = None) -> Any:
        self.tables.append(table)
        self.seeds.append(seed)
        return trial_release(table, spec, seed or 0)


def test_a_masking_sees_training_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    evaluate(survey(), spec(), protocol=Given("part"))
    # The first is the release of all rows, which the measures are about.
    assert [table.rows for table in spy.tables] == [300, 200]
    age = spy.tables[1].columns[0]
    assert age.array.take(pa.array(age.codes)).to_pylist() == survey()["age"].to_pylist()[:200]


def test_together_all_rows_are_masked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    found = evaluate(survey(), spec(), protocol=Folds(3), together=True)
    assert [table.rows for table in spy.tables] == [300]
    assert TOGETHER in found.notes
    assert found.line("released", "tree").n == 3


def test_private_releases_are_drawn_from_seeds_and_not_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    found = evaluate(survey(), private(), protocol=Folds(2), seeds=(0, 1), together=True)
    assert len(set(spy.seeds)) == 4
    assert None not in spy.seeds
    assert {table.rows for table in spy.tables} == {150}
    assert found.line("released", "tree").n == 4
    assert found.line("raw", "tree").n == 2
    assert DRAWN in found.notes
    assert found.measures is None
    again = evaluate(survey(), private(), protocol=Folds(2), seeds=(0, 1))
    assert again.lines == found.lines


def test_a_spec_file_with_a_budget_is_not_charged(project: Project) -> None:
    text = project.spec.read_text().replace(
        'kind = "number"\n\n[[', 'kind = "number"\nrange = [1000, 1010]\nstep = 0.5\n\n[['
    )
    text = text[: text.index("[[require]]")].replace("[table]", "[table]\nbudget = 0.5")
    text += '[attributes.ill]\nvalues = ["yes", "no"]\n[[require]]\nkind = "differential-privacy"\nepsilon = 0.5\n'
    project.spec.write_text(text + '[publish]\nmethod = "diffgen"\nspecializations = 2\n')
    before = project.files()
    evaluate(project.spec, protocol=Holdout(seeds=range(3)))
    assert project.files() == before


def test_a_table_from_csv_has_its_numbers_back(project: Project) -> None:
    found = evaluate(project.spec, classifiers=("tree", "bayes"))
    # 48 of 49 rows are complete, and whether somebody is ill is a matter of age.
    assert found.line("raw", "tree").error < 0.2
    assert found.classifiers == ("tree", "bayes")
    assert json.loads(json.dumps(found.to_dict()))["lines"][0]["classifier"] == "tree"


def test_weighted_rows() -> None:
    weighted = evaluate(survey(weighted=True), spec(weight="people"), protocol=ONCE)
    assert weighted.line("released", "tree").error < weighted.line("masked", "tree").error


def test_values_that_the_training_part_never_had() -> None:
    rows = survey()
    rare = rows.set_column(2, "job", pa.array([*rows["job"].to_pylist()[:299], "falconer"]))
    wish = spec()
    wish["attributes"]["job"] = {"kind": "category"}
    wish["attributes"]["age"] = {"kind": "number"}
    assert evaluate(rare, wish, protocol=Given("part")).line("released", "tree").error < 0.5


def test_measures_of_the_release_of_all_rows() -> None:
    found = evaluate(survey(), spec(), protocol=ONCE).measures
    assert found is not None
    assert found.loss.records == 300
    assert [risk.quasi_identifier for risk in found.risks] == [("age", "job")]
    assert found.risks[0].prosecutor.highest <= 1 / 10


def test_errors_are_those_of_publish() -> None:
    with pytest.raises(TableError, match="does not describe the columns"):
        evaluate(survey(), spec(others="refuse"))
    with pytest.raises(UnveilError, match="there is no classifier 'c46'; did you mean 'c45'"):
        evaluate(survey(), spec(), classifiers=("c46",))
    empty = survey().set_column(4, "diary", pa.array(["x"] * 300)).slice(0, 3)
    with pytest.raises(UnveilError):
        evaluate(empty, spec())


def test_a_part_that_loses_all_its_rows() -> None:
    rows = survey()
    gone = rows.set_column(2, "job", pa.array([*rows["job"].to_pylist()[:200], *[None] * 100]))
    with pytest.raises(TableError, match="a part of the split is empty"):
        evaluate(gone, spec(missing={"rows": "drop"}), protocol=Given("part"))


def k_anonymous(k: int) -> dict[str, Any]:
    return spec({"kind": "k-anonymity", "quasi-identifier": ["age", "job"], "k": k})


def test_specs_are_compared_on_the_same_rows() -> None:
    rows = survey()
    gaps = rows.set_column(3, "town", pa.array([None] * 50 + rows["town"].to_pylist()[50:]))
    with_town, without = spec(missing={"rows": "drop"}), spec(missing={"rows": "drop"})
    without["attributes"]["town"] = {"role": "identifier"}
    splits = []

    class Recorded(Holdout):
        def splits(self, table: pa.Table) -> Any:
            splits.append([split.test.tolist() for split in super().splits(table)])
            return super().splits(table)

    found = compare(
        [with_town, without, k_anonymous(100) | {"table": with_town["table"]}], table=gaps, protocol=Recorded()
    )
    assert len(splits) == 1  # rows are parted once, for all specs
    errors = [item.line("released", "tree").error for item in found.evaluations]
    assert errors[2] > errors[1]


def test_only_specs_of_one_table_are_compared(project: Project, tmp_path: Path) -> None:
    other = project.folder / "others.toml"
    other.write_text(project.spec.read_text().replace("people.csv", "others.csv"))
    with pytest.raises(SpecError, match=r"others.toml: its table is .*others.csv"):
        compare([project.spec, other])
    with pytest.raises(SpecError, match="no spec"):
        compare([])


@pytest.mark.parametrize(
    ("wish", "numbers", "text"),
    [
        (k_anonymous(20), {"k": 20}, "k = 20"),
        (private(0.25), {"ε": 0.25}, "ε = 0.25"),
        (
            spec({"kind": "confidence", "channel": ["age"], "sensitive": "job", "values": ["baker"], "limit": 0.4}),
            {"limit": 0.4},
            "limit = 0.4",
        ),
        (
            spec({"kind": "l-diversity", "quasi-identifier": ["age"], "sensitive": "job", "l": 2}),
            {"l": 2},
            "l = 2",
        ),
    ],
)
def test_what_a_spec_asks_for(wish: dict[str, Any], numbers: dict[str, float], text: str) -> None:
    assert guarantee(load_spec(wish)) == numbers
    assert guarantee_text(load_spec(wish)) == text


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare(
        [k_anonymous(k) for k in (5, 100)], table=survey(), protocol=Holdout(seeds=(0, 1)), classifiers=("bayes",)
    )


def test_the_plot(compared: Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (unveil[report])")
    plot(compared, tmp_path / "cost.svg")
    assert "<svg" in (tmp_path / "cost.svg").read_text()
    plot(compared, tmp_path / "cost.png")
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")
    mixed = Comparison((*compared.evaluations, evaluate(survey(), private(), protocol=ONCE, classifiers=("bayes",))))
    plot(mixed, tmp_path / "mixed.svg")
    with pytest.raises(UnveilError, match="exists already"):
        plot(compared, tmp_path / "cost.svg")


def cut_off(figure: Any) -> list[str]:
    """The texts of a plot that are not wholly inside of it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    frame = figure.bbox
    boxes = {item.get_text(): item.get_window_extent() for item in figure.findobj(Text) if item.get_text()}
    return [
        text
        for text, box in boxes.items()
        if box.x0 < frame.x0 or box.y0 < frame.y0 or box.x1 > frame.x1 or box.y1 > frame.y1
    ]


def with_every_classifier(comparison: Comparison) -> Comparison:
    """The same figures under the name of each classifier."""
    evaluations = (
        replace(item, lines=tuple(replace(line, classifier=name) for name in CLASSIFIERS for line in item.lines))
        for item in comparison.evaluations
    )
    return Comparison(tuple(evaluations))


def test_no_interval_leaves_the_scale(compared: Comparison) -> None:
    """Two runs of 90% and 100% have a mean whose interval goes far above 100%."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (unveil[report])")
    lines = tuple(replace(line, error=0.05, low=-0.6, high=0.7) for line in compared.evaluations[0].lines)
    figure = drawn(Comparison((replace(compared.evaluations[0], lines=lines),)))
    ends = [y for bars in figure.axes[0].collections for segment in bars.get_segments() for _, y in segment]
    assert (min(ends), max(ends)) == pytest.approx((30, 100))


def test_the_legend_is_inside_of_the_plot(compared: Comparison) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (unveil[report])")
    figure = drawn(with_every_classifier(compared))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[0] == "decision tree (scikit-learn, pruned; not C4.5)"
    assert len(legend) == len(CLASSIFIERS) + 3
    assert cut_off(figure) == []
    figure.legend(loc="outside lower center", ncols=4)
    assert any("not C4.5" in text for text in cut_off(figure))


def test_a_plot_that_cannot_be_drawn(compared: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnveilError, match=r"ends in .png or .svg"):
        plot(compared, tmp_path / "cost.gif")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UnveilError, match=r"install unveil\[report\]"):
        plot(compared, tmp_path / "cost.svg")
