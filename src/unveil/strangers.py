"""Releases from strangers: how large their parts may be, and how their files are opened, so that reading always ends.

Writers keep to the limits too, so that every published release can be verified. Files are found and opened without
following links and without waiting for a pipe that has no writer; all code that opens the files of a release does it
here, so that one rule applies.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NoReturn

MANIFEST_BYTES = 1 << 24
"""The size of `manifest.json`."""
COLUMNS = 2_000
"""How many columns a release may have, and how many names a requirement."""
NAME = 1_000
"""How many characters a column name, a label or a value in the manifest may have."""
ROWS = 10**12
"""How many rows may be read or released."""
COUNT = 2**53
"""How many records one row may represent: integers that every reader can represent exactly."""
RECORDS = 2**62
"""How many records there may be; sums are 64-bit integers and must not overflow."""
GROUP_ROWS = 1 << 20
"""How many rows a row group of a parquet file may have."""
GROUP_BYTES = 1 << 28
"""How many bytes a row group may have when it is unpacked."""
LEAF_LABELS = 1 << 27
"""How many labels the nodes of a tree of boxes may have together."""


FOLDER = os.O_RDONLY | os.O_DIRECTORY
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@contextmanager
def opened(folder: Path, name: str) -> Iterator[BufferedReader]:
    """Opens a file of a folder; `strerror` of an `OSError` says what is wrong with it.

    The folder may be reached through links. No part of the name, with `/` between its parts, may be a link.
    """
    with os.fdopen(_descriptor(folder, name), "rb") as file:
        yield file


def read_bytes(folder: Path, name: str, most: int) -> bytes:
    """The content of a file of a folder; an `OSError` if it cannot be opened, or is larger than `most` bytes."""
    with opened(folder, name) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
    return content


def paths_below(folder: Path) -> Iterator[Path]:
    """Everything in a folder, at any depth, folders too; links are not followed.

    A folder that cannot be listed raises `OSError`; `Path.rglob` would skip it without a word.
    """

    def refuse(error: OSError) -> NoReturn:
        raise error

    for place, folders, names in os.walk(folder, onerror=refuse):
        yield from (Path(place, name) for name in [*folders, *names])


def _descriptor(folder: Path, name: str) -> int:
    *folders, last = name.split("/")
    place = os.open(folder, FOLDER)
    try:
        for part in folders:
            inner = _opened_at(place, part, FOLDER | os.O_NOFOLLOW)
            os.close(place)
            place = inner
        file = _opened_at(place, last, FILE)
    finally:
        os.close(place)
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    raise OSError(errno.EINVAL, "it is not a regular file")


def _opened_at(place: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=place)
    except OSError as error:
        # Opening a link as a folder fails with ENOTDIR.
        if stat.S_ISLNK(_mode(place, name)):
            raise OSError(errno.ELOOP, "it is a link") from error
        raise


def _mode(place: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=place, follow_symlinks=False).st_mode
    except OSError:
        return 0
