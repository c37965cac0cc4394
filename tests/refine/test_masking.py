"""The masking of a release on rows that arrive later."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unveil
from project import Project
from unveil.errors import TableError


@pytest.fixture
def release(project: Project) -> unveil.Release:
    project.search_as_in_the_paper()
    release = unveil.publish(project.spec)
    assert len(release.masking["age"].blocks) > 1
    assert release.masking["town"].disclosed
    return release


def rows(**changes: object) -> pd.DataFrame:
    row = {"age": 30, "job": "baker", "town": "Cork", "income": 1.5}
    return pd.DataFrame([row | changes], index=["somebody"])


def test_a_frame_comes_back_as_it_was_given(release: unveil.Release) -> None:
    frame = rows()
    assert list(release.masking.apply(frame).index) == ["somebody"]
    assert isinstance(release.masking.apply(pl.from_pandas(frame)), pl.DataFrame)
    assert isinstance(release.masking.apply(pa.Table.from_pandas(frame)), pa.Table)


def test_a_value_on_a_boundary_falls_into_the_interval_that_starts_there(release: unveil.Release) -> None:
    for block in release.masking["age"].blocks:
        assert release.masking.apply(rows(age=block.from_), intervals="text")["age"].iloc[0] == block.label
    last = release.masking["age"].blocks[-1]
    assert release.masking.apply(rows(age=last.to - 1), intervals="text")["age"].iloc[0] == last.label


def test_a_value_never_seen_before_is_hidden_where_values_are_suppressed(release: unveil.Release) -> None:
    assert release.masking.apply(rows(town="Nowhere"))["town"].iloc[0] == "⊥"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"job": "pilot"}, "'job'.*'pilot'"),
        ({"job": "Craft"}, "'job'.*'Craft'"),
        ({"age": 100}, "'age'.*100"),
        ({"age": -1}, "'age'.*-1"),
        ({"age": "old"}, "'age'.*'old'"),
        ({"age": None}, "'age'.*missing"),
        ({"town": None}, "'town'.*missing"),
    ],
)
def test_a_value_without_a_block_is_refused_or_suppressed(
    release: unveil.Release, change: dict[str, object], words: str
) -> None:
    frame = rows(**change)
    with pytest.raises(TableError, match=words):
        release.masking.apply(frame)
    (name,) = change
    assert release.masking.apply(frame, unseen="suppress", intervals="text")[name].iloc[0] == "⊥"


def test_a_missing_column_is_named(release: unveil.Release) -> None:
    with pytest.raises(TableError, match="'age'"):
        release.masking.apply(rows().drop(columns="age"))


def test_identifiers_and_unknown_columns_do_not_come_through(release: unveil.Release) -> None:
    assert list(release.masking.apply(rows(name="x", other=1)).columns) == ["age", "job", "town", "income"]


@pytest.mark.parametrize("changes", [{}, {"ill": "yes"}])
def test_the_class_is_kept_where_the_rows_have_it_as_the_command_keeps_it(
    project: Project, release: unveil.Release, changes: dict[str, object]
) -> None:
    release.write(project.release)
    later = rows(**changes)
    masked = release.masking.apply(later, intervals="text")
    assert list(masked.columns) == ["age", "job", "town", "income", *changes]
    assert masked.to_dict("records") == unveil.apply(project.release, later).to_pylist()


def test_class_and_weight_keep_their_types() -> None:
    frame = pd.DataFrame({"age": [1, 2] * 20, "ill": [0, 1] * 20, "n": [3] * 40})
    spec = {
        "table": {"class": "ill", "weight": "n"},
        "attributes": {"age": {"kind": "number", "range": [0, 9], "whole": True}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 2}],
    }
    later = pd.DataFrame({"n": [1], "ill": ["1"], "age": [5]})
    masked = unveil.publish(frame, spec).masking.apply(later)
    assert list(masked.columns) == ["age", "ill", "n"]
    assert (masked["ill"].dtype.kind, masked["n"].tolist()) == ("i", [1])
