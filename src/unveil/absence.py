"""Keeps a library out of a command that only looks whether it is there.

Arrow imports pandas with the first column that it makes of a list, to find out whether the list is a column of pandas.
numba imports half of scipy with the first loop that it loads, to find out whether it could multiply matrices; before
that, a parser of C and one of YAML that nothing here uses. Commands need none of these, and some take longer to import
than a small release to verify. Whatever needs the library itself can still import it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from threading import get_ident
from types import ModuleType


class Absence(MetaPathFinder):
    """Does not find some packages, in the thread that asks for this; other modules and threads look on."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages, self._thread = packages, get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Refuses to import the packages; every other module is left to the next finder."""
        package = fullname.partition(".")[0]
        if package in self._packages and get_ident() == self._thread:
            raise ModuleNotFoundError(f"{package} is kept out of this thread", name=fullname)


@contextmanager
def absent(*packages: str) -> Iterator[None]:
    """Hides packages from this thread."""
    absence = Absence(packages)
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
