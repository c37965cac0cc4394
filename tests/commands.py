"""What a run of the command line gives."""

from collections.abc import Callable
from typing import NamedTuple


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
