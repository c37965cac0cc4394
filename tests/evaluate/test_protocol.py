"""How rows are parted, and confidence intervals against hand-worked ones."""

import numpy as np
import pyarrow as pa
import pytest

from unveil import TableError, UnveilError
from unveil.evaluation.protocol import Folds, Given, Holdout, Protocol, by_person, interval

ROWS = pa.table({"n": range(31), "split": ["train"] * 20 + ["test"] * 10 + [None]})


def test_an_interval_by_hand() -> None:
    # Mean 2, deviation 1, t = 4.30265 for 2 degrees of freedom: 2 ± 4.30265 / √3.
    found = interval([1, 2, 3])
    assert (found.mean, found.n) == (2, 3)
    assert found.low == pytest.approx(2 - 2.484138, abs=1e-6)
    assert found.high == pytest.approx(2 + 2.484138, abs=1e-6)
    # t = 6.31375 for 1 degree of freedom at 90%; the deviation of 0.1 and 0.2 is 0.1 / √2, so ± 0.05 t.
    narrow = interval([0.1, 0.2], confidence=0.9)
    assert narrow.high == pytest.approx(0.15 + 0.05 * 6.313752, abs=1e-6)


def test_one_run_has_no_bounds() -> None:
    assert interval([0.2]).low is None
    assert interval([0.2]).high is None


@pytest.mark.parametrize("protocol", [Holdout(), Holdout(0.2, (7,)), Holdout(0.001), Folds(4), Folds(31)])
def test_every_row_is_in_one_part(protocol: Protocol) -> None:
    for train, test in protocol.splits(ROWS):
        assert sorted([*train, *test]) == list(range(31))
        assert len(train)
        assert len(test)


def test_folds_test_every_row_once() -> None:
    tested = np.concatenate([split.test for split in Folds(4, seed=3).splits(ROWS)])
    assert sorted(tested) == list(range(31))
    again, other = (np.concatenate([split.test for split in Folds(4, seed).splits(ROWS)]) for seed in (3, 4))
    assert tested.tolist() == again.tolist() != other.tolist()


def test_a_holdout_is_drawn_anew_with_each_seed() -> None:
    first, second = Holdout(seeds=(0, 1)).splits(ROWS)
    assert len(first.test) == len(second.test) == 10
    assert first.test.tolist() != second.test.tolist()


def test_a_column_tells_the_parts() -> None:
    ((train, test),) = Given("split").splits(ROWS)
    assert (train.tolist(), test.tolist()) == (list(range(20)), list(range(20, 30)))
    assert len(Given("n", "3", "4").splits(ROWS)[0].test) == 1


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Holdout(1.0), "share to test on is 1"),
        (lambda: Holdout(seeds=()), "at least one seed"),
        (lambda: Folds(1), "number of folds is 1"),
        (lambda: Given("part", "x", "x"), "column .part. to learn from and to test on are both called .x."),
    ],
)
def test_a_protocol_that_makes_no_sense(make: object, sentence: str) -> None:
    with pytest.raises(UnveilError, match=sentence):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("protocol", "sentence"),
    [
        (Folds(32), "31 rows, too few"),
        (Given("splt"), "no column 'splt' .* did you mean 'split'"),
        (Given("split", test="later"), "no row holds 'later'"),
    ],
)
def test_a_table_that_cannot_be_parted(protocol: Protocol, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        protocol.splits(ROWS)


@pytest.mark.parametrize("protocol", [Holdout(seeds=(0, 1)), Folds(4)])
def test_rows_of_a_person_are_on_one_side(protocol: Holdout | Folds) -> None:
    table = pa.table({"clinic": ["a", "b"] * 30, "patient": [None, 1, 2, 3, 4, 5] * 10, "x": range(60)})
    splits = by_person(protocol, ("clinic", "patient")).splits(table)
    whose = list(zip(table["clinic"].to_pylist(), table["patient"].to_pylist(), strict=True))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(60))
        assert not {whose[row] for row in train} & {whose[row] for row in test}
    assert len(splits) == len(protocol.splits(table))
    assert "all rows of a person on one side" in str(by_person(protocol, ("patient",)))
    assert by_person(protocol, ()) is protocol
