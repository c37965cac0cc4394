"""Signatures: who released a table, in the format of minisign, so that other tools can check them too.

The manifest holds the hashes of the data files, so a signature of the manifest covers the whole release. The key is
Ed25519. A passphrase, if the owner wants one, comes from an environment variable: commands do not ask questions.
"""

from __future__ import annotations

import base64
import hashlib
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from unveil.errors import ReleaseError, UnveilError
from unveil.release.folder import check_absent, write_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ENDING = ".minisig"
"""The signature of a file has its name and this ending."""
PUBLIC = ".pub"
PASSPHRASE = "UNVEIL_PASSPHRASE"  # noqa: S105 - the name of a variable
"""The environment variable with the passphrase that the key is encrypted with."""
KEY_NUMBER = 8
"""How many bytes the number of a key has."""


def make_key(path: Path) -> Path:
    """Writes a new private key, and next to it the public key for readers; returns the place of the latter."""
    serialization = _library("serialization")
    public = path.with_name(path.name + PUBLIC)
    check_absent(path, "private key")
    check_absent(public, "public key")
    key: Ed25519PrivateKey = _library("asymmetric.ed25519").Ed25519PrivateKey.generate()
    phrase = _passphrase()
    lock = serialization.BestAvailableEncryption(phrase) if phrase else serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
    try:
        # Nobody else may read it, at no moment.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secret)
    except OSError as error:
        raise ReleaseError(f"{path}: the private key cannot be written: {error.strerror}.") from error
    number = _number(key)
    held = base64.b64encode(b"Ed" + number + key.public_key().public_bytes_raw()).decode()
    write_text(public, f"untrusted comment: minisign public key {key_name(number)}\n{held}\n", "public key")
    return public


def signature(content: bytes, key: Path, about: str) -> str:
    """The signature of a file in the format of minisign; `about` is a line about it that is signed too."""
    secret = _read_key(key)
    number = _number(secret)
    signed = secret.sign(hashlib.blake2b(content).digest())
    both = secret.sign(signed + about.encode())
    return "\n".join(
        [
            f"untrusted comment: signed with the key {key_name(number)}",
            base64.b64encode(b"ED" + number + signed).decode(),
            f"trusted comment: {about}",
            base64.b64encode(both).decode(),
            "",
        ]
    )


def named_by(key: Path) -> str:
    """The name of a private key, which readers compare with that of the public key."""
    return key_name(_number(_read_key(key)))


def key_name(number: bytes) -> str:
    """The number of a key as minisign shows it."""
    return number[::-1].hex().upper()


def _number(key: Ed25519PrivateKey) -> bytes:
    """What distinguishes keys: it follows from the public key."""
    return hashlib.blake2b(key.public_key().public_bytes_raw(), digest_size=KEY_NUMBER).digest()


def _read_key(path: Path) -> Ed25519PrivateKey:
    ed25519, serialization = _library("asymmetric.ed25519"), _library("serialization")
    try:
        held = serialization.load_pem_private_key(path.read_bytes(), _passphrase())
    except OSError as error:
        raise ReleaseError(f"{path}: the private key cannot be read: {error.strerror}.") from error
    except TypeError as error:
        needs = "is encrypted; set" if "not given" in str(error) else "is not encrypted; unset"
        raise ReleaseError(f"{path}: the private key {needs} {PASSPHRASE}.") from error
    except ValueError as error:
        raise ReleaseError(f"{path}: this is not a private key, or {PASSPHRASE} does not open it.") from error
    if not isinstance(held, ed25519.Ed25519PrivateKey):
        raise ReleaseError(f"{path}: the private key is not an Ed25519 key; unveil key makes one.")
    return cast("Ed25519PrivateKey", held)


def _passphrase() -> bytes | None:
    return os.environ.get(PASSPHRASE, "").encode() or None


def _library(part: str) -> Any:
    try:
        return import_module(f"cryptography.hazmat.primitives.{part}")
    except ImportError as error:
        raise UnveilError("signatures need cryptography: install unveil[sign].") from error
