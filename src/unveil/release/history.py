"""The owner's private history: whom each release shows, and with which labels, so that later ones can keep to it.

It is a folder with one parquet file per release, `0001.parquet` and so on, in the order in which they were made. A row
is a person: a keyed hash, and what the release says about each attribute. The key is in the folder too, so that the
folder is as private as the table.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray, group_numbers
from unveil.errors import ReleaseError, SpecError, count_text
from unveil.release.folder import read_manifest, write_whole
from unveil.release.manifest import Manifest, RefinementManifest
from unveil.schema import EPSILON_ADDS_UP
from unveil.strangers import read_bytes

KEY = "key"
KEY_BYTES = 32
PERSON = "person"
"""The column of the hashes; the attributes follow, each with this in front."""
LABEL = "label:"
ABOUT = b"unveil"
DATA = "data.parquet"
ENTRY = re.compile(r"[0-9]{4,}\.parquet", re.ASCII)


@dataclass(frozen=True)
class Link:
    """Whom a release shows, and how: one row per person."""

    people: IntArray
    """The two numbers of each person."""
    labels: dict[str, pa.DictionaryArray]
    """What the release says about each attribute."""
    sha256: str = ""
    """The hash of the rows of the release."""
    name: str = ""
    """What messages call it."""


class History:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def entries(self) -> list[str]:
        """The names of the files, the oldest first."""
        if not self.folder.exists():
            return []
        try:
            names = [name for name in os.listdir(self.folder) if ENTRY.fullmatch(name)]
        except OSError as error:
            raise self._unreadable(str(self.folder), error.strerror or str(error)) from error
        return sorted(names, key=lambda name: int(name.partition(".")[0]))

    @property
    def next(self) -> Path:
        """Where the next release will be entered."""
        last = int(self.entries[-1].partition(".")[0]) if self.entries else 0
        return self.folder / f"{last + 1:04}.parquet"

    def links(self, after: Sequence[Path] | None = None) -> list[Link]:
        """The releases that are entered, or those of some folders; refuses one that is not entered."""
        found = [self._read(name) for name in self.entries]
        if after is None:
            return found
        wanted: set[str] = set()
        for folder in after:
            sha256 = release_hash(read_manifest(folder), folder)
            if sha256 not in {link.sha256 for link in found}:
                raise ReleaseError(
                    f"{folder}: the history in {self.folder} has no release with these rows ({sha256[:12]}…); it has "
                    f"{count_text(len(found), 'release')} of other rows."
                )
            wanted.add(sha256)
        return [link for link in found if link.sha256 in wanted]

    def keyed(self, words: IntArray) -> IntArray:
        """The numbers of persons as the history has them, from those that any table gives."""
        return _numbers(self._hashes(words))

    def _hashes(self, words: IntArray) -> bytes:
        key, content = self._key(), np.ascontiguousarray(words, dtype="<i8").tobytes()
        each = (content[at : at + 16] for at in range(0, len(content), 16))
        return b"".join(blake2b(one, key=key, digest_size=16).digest() for one in each)

    def enter(self, link: Link, manifest: Manifest, place: Path) -> None:
        """Enters a release and whom it shows, by the numbers that any table gives; the first one creates the folder."""
        about = json.dumps({"sha256": release_hash(manifest, place), "key": _fingerprint(self._key())})
        people = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(16), len(link.people), [None, pa.py_buffer(self._hashes(link.people))]
        )
        labels = {LABEL + name: column for name, column in link.labels.items()}
        # In the order of the hashes, which says nothing about the order of the table.
        table = pa.table({PERSON: people, **labels}).sort_by(PERSON).replace_schema_metadata({ABOUT: about})
        from pyarrow import parquet

        write_whole(place, lambda draft: parquet.write_table(table, draft), "entry in the history", private=True)

    def _key(self) -> bytes:
        path = self.folder / KEY
        try:
            if not self.entries:
                self._create_key(path)
            key = bytes.fromhex(read_bytes(self.folder, KEY, 4 * KEY_BYTES).decode())
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else "it is not a key"
            raise self._unreadable(str(path), said) from error
        if len(key) != KEY_BYTES:
            raise self._unreadable(str(path), "it is not a key")
        return key

    def _create_key(self, path: Path) -> None:
        with suppress(FileExistsError):
            self.folder.mkdir(mode=0o700)
        with suppress(FileExistsError):
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_hex(KEY_BYTES))

    def _read(self, name: str) -> Link:
        from pyarrow import parquet

        path = self.folder / name
        try:
            table = parquet.read_table(path)
            about = json.loads((table.schema.metadata or {})[ABOUT])
            people = _numbers(b"".join(table[PERSON].to_pylist()))
            labels = {
                column.removeprefix(LABEL): table[column].combine_chunks()
                for column in table.column_names
                if column.startswith(LABEL)
            }
            link = Link(people, labels, str(about["sha256"]), name)
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise self._unreadable(str(path), "it is not an entry of a history") from error
        if about.get("key") != _fingerprint(self._key()):
            raise self._unreadable(str(path), f"its persons were hashed with another key than that in {KEY!r}")
        if group_numbers(list(link.people.T))[1] < len(link.people):
            raise self._unreadable(str(path), "it has a person twice")
        return link

    def _unreadable(self, place: str, why: str) -> ReleaseError:
        return ReleaseError(f"{place}: the history of releases cannot be used: {why}.")


def _numbers(hashes: bytes) -> IntArray:
    """Two numbers of 62 bits per hash, which are never negative and so can be packed."""
    halves = np.frombuffer(hashes, dtype="<u8").reshape(-1, 2) >> np.uint64(2)
    return halves.astype(np.int64)


def _fingerprint(key: bytes) -> str:
    """Tells keys apart without giving them away."""
    return blake2b(b"fingerprint", key=key, digest_size=8).hexdigest()


def release_hash(manifest: Manifest, place: Path) -> str:
    """The hash of the rows of a release, by which a history knows it."""
    if not isinstance(manifest, RefinementManifest):
        raise SpecError(f"{place}: a history has releases by refinement; {EPSILON_ADDS_UP}.")
    if DATA not in manifest.files:
        raise ReleaseError(f"{place}: a history has releases with one {DATA}; this one has none, or several parts.")
    return manifest.files[DATA].sha256
