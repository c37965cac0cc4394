"""Keeps a library out of a command that only looks whether it is there.

Arrow imports pandas with the first column that it makes of a list, to find out whether the list is a column of pandas.
numba imports half of scipy with the first loop that it loads, to find out whether it could multiply matrices. Commands
need neither for this, and each takes longer to import than a small release to verify. Whatever needs the library itself
can still import it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from threading import get_ident
from types import ModuleType


class Absence(MetaPathFinder):
    """Does not find a package, in the thread that asks for this; other modules and threads look on."""

    def __init__(self, package: str) -> None:
        self._package, self._thread = package, get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Refuses to import the package; every other module is left to the next finder."""
        if fullname.partition(".")[0] == self._package and get_ident() == self._thread:
            raise ModuleNotFoundError(f"{self._package} is kept out of this thread", name=fullname)


@contextmanager
def absent(package: str) -> Iterator[None]:
    """Hides a package from this thread."""
    absence = Absence(package)
    sys.meta_path.insert(0, absence)
    try:
        yield
    finally:
        sys.meta_path.remove(absence)


def keep_pandas_out() -> None:
    """Lets Arrow look for pandas once while it is hidden."""
    import pyarrow

    with absent("pandas"):
        pyarrow.array([])
