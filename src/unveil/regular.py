"""Files of a folder, found and opened without following links and without waiting for a pipe that has no writer.

A release may come from a stranger. All code that opens its files does it here, so that one rule applies.
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

    Raises:
        OSError: A folder cannot be listed; `filename` says which. `Path.rglob` would skip it without a word.
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
