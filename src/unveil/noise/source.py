"""Where randomness comes from."""

from __future__ import annotations

import os
import random
from typing import Any, Protocol

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint64]]


class Source(Protocol):
    """Independent fair bits."""

    private: bool
    """Whether the bits are unpredictable. A release made from predictable ones is not private and says so."""

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        ...


class SystemSource:
    """The operating system's generator: the only source for a release that is shared."""

    private = True

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        return os.urandom(count)


class SeededSource:
    """Unsafe: the same seed gives the same bits. For tests and experiments only."""

    private = False

    def __init__(self, seed: int) -> None:
        self._bits = random.Random(seed)  # noqa: S311 - marked as not private wherever it is used

    def bytes(self, count: int) -> bytes:
        """`size` bytes derived from the seed."""
        return self._bits.randbytes(count)


def bits(source: Source, count: int) -> int:
    """A uniform integer of this many bits."""
    whole = int.from_bytes(source.bytes((count + 7) // 8), "big")
    return whole >> (-count % 8)


def words(source: Source, count: int) -> Words:
    """Uniform 64-bit integers."""
    return np.frombuffer(source.bytes(8 * count), dtype=np.uint64)


def below(source: Source, bound: int) -> int:
    """A uniform integer in [0, bound). Draws that would favour some values are rejected."""
    size = (bound - 1).bit_length()
    while (drawn := bits(source, size) if size else 0) >= bound:
        continue
    return drawn
