"""The orders and groups that everything else counts by, next to NumPy's slow and simple ones."""

import numpy as np
import pytest

from unveil import arrays
from unveil.arrays import IntArray, sorted_order

LARGEST = 2**63 - 1
SIZES = [1, 3, 50, 2**40, LARGEST]


def keys_of(seed: int) -> list[IntArray]:
    """Keys of some rows, many of them equal, up to the largest that there are."""
    draw = np.random.default_rng(seed)
    rows, words = draw.integers(0, 60), draw.integers(1, 4)
    keys = [draw.integers(0, draw.choice(SIZES), rows, endpoint=True) for _ in range(words)]
    if draw.random() < 0.2:
        keys[0][:] = LARGEST
    return keys


def is_stable(seed: int) -> bool:
    keys = keys_of(seed)
    return sorted_order(keys).tolist() == np.lexsort(keys[::-1]).tolist()


def test_equal_rows_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(is_stable(seed) for seed in range(2000))

    def by_key_alone(key: IntArray, rows: IntArray, bits: int) -> tuple[IntArray, IntArray]:
        order = np.lexsort((-rows, key))
        return rows[order], key[order]

    monkeypatch.setattr(arrays, "_numbered", by_key_alone)
    assert not all(is_stable(seed) for seed in range(2000))


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32])
def test_narrow_keys_have_room_for_numbers_of_rows(kind: type) -> None:
    key = np.random.default_rng(0).integers(0, 100, 70_000).astype(kind)
    assert sorted_order([key]).tolist() == np.lexsort([key]).tolist()
