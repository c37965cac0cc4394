"""Sources of randomness that tests write themselves."""

from collections.abc import Sequence

import numpy as np

from unveil.noise import Source


def word(number: int) -> bytes:
    """A number as `words` reads it."""
    return np.array([number], dtype=np.uint64).tobytes()


def chunk(number: int, size: int = 8) -> bytes:
    """A number as `bits` reads it."""
    return number.to_bytes(size, "big")


class Scripted:
    """Answers what it was told to, in that order, and nothing else."""

    private = False

    def __init__(self, answers: Sequence[bytes]) -> None:
        self.left = list(answers)

    def bytes(self, count: int) -> bytes:
        assert self.left, "more bits were drawn than the script has"
        answer = self.left.pop(0)
        assert len(answer) == count
        return answer


class Small:
    """Makes the first words that are drawn small: uniform below 2^−zeros. All other bits are those of the source.

    So what happens once in 2^zeros draws happens in every draw, and its distribution can be tested.
    """

    private = False

    def __init__(self, zeros: int, source: Source) -> None:
        self._zeros = zeros
        self._source = source
        self._first = True

    def bytes(self, count: int) -> bytes:
        drawn = self._source.bytes(count)
        if not self._first:
            return drawn
        self._first = False
        if self._zeros == 64:
            return bytes(count)
        return (np.frombuffer(drawn, dtype=np.uint64) >> np.uint64(self._zeros)).tobytes()
