"""Every classifier: what it learns, what it must not look at, and what it does with what it never saw."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import unveil
from unveil import UnveilError
from unveil.evaluation.c45 import weka
from unveil.evaluation.classifiers import CLASSIFIERS, MOST_CATEGORIES, _one_hot, _sparse_one_hot, error_rate
from unveil.evaluation.examples import UNSEEN, Examples, coded, encoded

Learn = Callable[[Examples, Examples], np.ndarray]


def weka_is_missing() -> str:
    try:
        weka()
    except UnveilError as error:
        return str(error)
    return ""


each = pytest.mark.parametrize("name", CLASSIFIERS)


@pytest.fixture(autouse=True)
def _needs_weka(request: pytest.FixtureRequest) -> None:
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if parameters.get("name") == "c45" and (reason := weka_is_missing()):
        pytest.skip(reason)


def people(rows: int, seed: int = 0, *, weighted: bool = False, seen: int = 4) -> Examples:
    """Rows whose label follows from town and age but for one in ten."""
    draw = np.random.default_rng(seed)
    towns = np.array(["Aarhus", "Bergen", "Cork", "⊥", "Delft", "Espoo"][:seen], dtype=object)
    town = towns[draw.integers(0, len(towns), rows)]
    age = draw.integers(18, 90, rows).astype(float)
    right = ((town == "Cork") | (age > 60)) ^ (draw.random(rows) < 0.1)
    weights = draw.integers(1, 6, rows).astype(float) if weighted else None
    return Examples({"town": town, "age": age}, np.where(right, "yes", "no"), weights)


def repeated(examples: Examples) -> Examples:
    rows = np.repeat(np.arange(len(examples)), examples.weight.astype(int))
    return Examples(examples.columns, examples.labels).take(rows)


@each
def test_learns(name: str) -> None:
    assert error_rate(name, people(600), people(300, 1)) < 0.25
    assert error_rate("tree", people(600).select([]), people(300, 1).select([])) > 0.3


@each
def test_values_that_training_never_had(name: str) -> None:
    test = people(300, 1, seen=6)
    predicted = CLASSIFIERS[name](people(600), test)
    assert len(predicted) == 300
    assert set(predicted) <= {"yes", "no"}
    test.columns["age"][:3] = [np.nan, -1e9, 1e9]
    assert len(CLASSIFIERS[name](people(600), test)) == 300


@each
def test_a_weight_counts_as_so_many_rows(name: str) -> None:
    train, test = people(400, weighted=True), people(300, 1, weighted=True)
    order = np.random.default_rng(5).permutation(int(train.weight.sum()))
    as_weights = CLASSIFIERS[name](train, test)
    as_rows = CLASSIFIERS[name](repeated(train).take(order), test)
    # Boosting adds floats up in the order of the rows.
    assert np.mean(as_weights != as_rows) <= (0.02 if name == "boosting" else 0)
    assert error_rate(name, train, test) == pytest.approx(error_rate(name, train, repeated(test)))


def peeks(learn: Learn) -> bool:
    """Whether answers for some test rows change with the labels, the values and the number of other test rows."""
    train, test = people(400), people(100, 1)
    strange = people(300, 2, seen=6)
    strange.columns["age"][:] += 200
    both = Examples(
        {name: np.concatenate([test.columns[name], strange.columns[name]]) for name in test.columns},
        np.concatenate([np.full(100, "no"), np.full(300, "maybe")]),
    )
    return bool((learn(train, test) != learn(train, both)[:100]).any())


@each
def test_looks_at_no_test_row_but_the_one_it_answers_for(name: str) -> None:
    assert not peeks(CLASSIFIERS[name])


def test_a_classifier_that_peeks_would_be_found() -> None:
    def binned_on_both(train: Examples, test: Examples) -> np.ndarray:
        middle = np.median(np.concatenate([train.columns["age"], test.columns["age"]]))
        return np.where(test.columns["age"] > middle, "yes", "no")

    assert peeks(binned_on_both)


def test_codes_come_from_the_training_part() -> None:
    column = coded(np.array(["b", "a", "b"], dtype=object), np.array(["c", "b", "⊥"], dtype=object))
    assert column.size == 2
    assert column.train.tolist() == [1, 0, 1]
    assert column.test.tolist() == [UNSEEN, 1, UNSEEN]


@each
def test_the_order_of_training_rows_does_not_matter(name: str) -> None:
    train, test = people(400), people(200, 1)
    turned = train.take(np.arange(400)[::-1])
    assert np.mean(CLASSIFIERS[name](train, test) != CLASSIFIERS[name](turned, test)) <= 0.02


@each
def test_nothing_to_learn_from(name: str) -> None:
    train, test = people(50), people(20, 1)
    one = Examples(train.columns, np.full(50, "no"))
    assert set(CLASSIFIERS[name](one, test)) == {"no"}
    heavy = Examples({}, np.array(["no", "no", "yes"]), np.array([1.0, 1.0, 3.0]))
    assert set(CLASSIFIERS[name](heavy, test)) == {"yes"}
    assert error_rate(name, train.take(np.arange(0)), test) == 1


@each
def test_fractions_as_weights(name: str) -> None:
    train = people(400)
    light = Examples(train.columns, train.labels, np.full(400, 0.5))
    assert error_rate(name, light, people(300, 1)) < 0.3


def test_bayes_by_hand() -> None:
    train = Examples(
        {"town": np.array(["a", "a", "b", "b", "b"], dtype=object)}, np.array(["no", "no", "no", "yes", "yes"])
    )
    test = Examples({"town": np.array(["a", "b", "c"], dtype=object)}, np.array(["no", "yes", "no"]))
    # P(no) = 4/7, P(yes) = 3/7; P(a|no) = 3/5, P(b|no) = 2/5, P(a|yes) = 1/4, P(b|yes) = 3/4:
    # a: 12/35 > 3/28; b: 8/35 < 9/28; c says nothing, so the prior decides.
    assert CLASSIFIERS["bayes"](train, test).tolist() == ["no", "yes", "no"]


def test_boosting_takes_more_values_than_it_can_tell_apart() -> None:
    many = np.array([f"v{i % (MOST_CATEGORIES + 50)}" for i in range(2000)], dtype=object)
    train = Examples({"zip": many, "age": people(2000).columns["age"]}, people(2000).labels)
    assert len(CLASSIFIERS["boosting"](train, train)) == 2000


def test_an_unknown_classifier() -> None:
    with pytest.raises(UnveilError, match="'baies'; did you mean 'bayes'"):
        error_rate("baies", people(10), people(10))


def test_only_one_of_them_is_called_c45() -> None:
    assert "not C4.5" in CLASSIFIERS["tree"].label
    assert [name for name, item in CLASSIFIERS.items() if item.label.startswith("C4.5")] == ["c45"]


def test_examples_of_a_release() -> None:
    cells = pa.table(
        {
            "age": pa.array(["[0, 40)", "[40, 90)", "[0, 40)"]).dictionary_encode(),
            "job": ["⊥", "clerk", None],
            "hours": pa.array([40, None, 30], pa.int32()),
            "ill": ["yes", "no", "yes"],
            "count": [3, 0, 2],
        }
    )
    examples = Examples.of(cells, "ill", weight="count")
    assert examples.weight.tolist() == [3, 2]
    assert examples.labels.tolist() == ["yes", "yes"]
    assert examples.columns["age"].tolist() == ["[0, 40)", "[0, 40)"]
    assert examples.columns["job"].tolist() == ["⊥", ""]
    assert examples.columns["hours"].dtype == np.float64
    assert np.isnan(Examples.of(cells, "ill").columns["hours"][1])
    assert list(examples.select(["job"]).columns) == ["job"]
    assert examples.take(np.array([1])).weight.tolist() == [2]


@pytest.fixture(scope="module")
def adult() -> tuple[Examples, Examples]:
    table = pyarrow.parquet.read_table(Path(unveil.__file__).parent / "data" / "adult.parquet")
    for name in table.column_names:
        if pa.types.is_string(table[name].type):
            table = table.filter(pc.not_equal(table[name], "?"))
    train, test = (table.filter(pc.equal(table["split"], part)).drop_columns(["split"]) for part in ("train", "test"))
    assert (train.num_rows, test.num_rows) == (30162, 15060)
    return Examples.of(train, "income"), Examples.of(test, "income")


@pytest.mark.parametrize(
    ("name", "lowest", "highest"),
    [("tree", 0.140, 0.146), ("bayes", 0.175, 0.190), ("c45", 0.1468, 0.1470)],
)
def test_errors_on_adult(name: str, lowest: float, highest: float, adult: tuple[Examples, Examples]) -> None:
    assert lowest < error_rate(name, *adult) < highest


@pytest.mark.parametrize("name", ["c45"])
def test_error_of_c45_on_the_categories_of_adult(name: str, adult: tuple[Examples, Examples]) -> None:
    categories = [column for column, values in adult[0].columns.items() if values.dtype == object]
    assert len(categories) == 8
    assert error_rate(name, *(part.select(categories) for part in adult)) == pytest.approx(0.1760, abs=5e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_draw_keeps_so_many_records_and_their_share_of_classes(weighted: bool) -> None:
    every = people(3_000, weighted=weighted)
    some = every.drawn(600, seed=1)
    assert some.weight.sum() == 600
    assert every.drawn(int(every.weight.sum()), seed=1) is every
    for label in np.unique(every.labels):
        shares = [part.weight[part.labels == label].sum() / part.weight.sum() for part in (every, some)]
        assert shares[0] == pytest.approx(shares[1], abs=0.08)
    assert set(map(str, some.columns["age"])) <= set(map(str, every.columns["age"]))


def test_a_table_too_large_to_lay_out_is_the_same_in_sparse_columns() -> None:
    columns = list(encoded(people(200, seen=3), people(100, seed=1)))
    for part, rows in (("train", 200), ("test", 100)):
        dense, sparse = (lay(columns, part, np.arange(rows)) for lay in (_one_hot, _sparse_one_hot))
        np.testing.assert_array_equal(dense, sparse.toarray())
        assert dense.sum() > 0
