"""Keeps pandas out of a command.

Arrow imports pandas, if it is installed, with the first column that it makes of a list, to find out whether the list is
a column of pandas. No command has a frame, and importing pandas takes longer than verifying a small release.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class Absence(MetaPathFinder):
    """Finds pandas absent."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Refuses to import pandas; every other module is left to the next finder."""
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is kept out of this process", name=fullname)


def keep_pandas_out() -> None:
    """Lets Arrow look for pandas, once and in vain. Whatever else needs pandas can still import it."""
    import pyarrow

    absence = Absence()
    sys.meta_path.insert(0, absence)
    pyarrow.array([])
    sys.meta_path.remove(absence)
