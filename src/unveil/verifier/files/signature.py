"""The signature of a release: whether the holder of a key signed this manifest."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from pathlib import Path

from unveil.errors import ReleaseError, UnveilError
from unveil.strangers import MANIFEST_BYTES, read_bytes
from unveil.verifier.claims import MANIFEST, Finding, first_line

SIGNATURE = f"{MANIFEST}.minisig"
BYTES = 10_000
"""How large a key or a signature may be."""
UNTRUSTED, TRUSTED = "untrusted comment: ", "trusted comment: "


def check_signature(folder: Path, key: Path) -> Iterator[Finding]:
    """A signature is there, by this key, of these bytes; what it says about itself is signed too."""
    owner, point = _read_key(key)
    try:
        number, signature, about, both = _parsed(read_bytes(folder, SIGNATURE, BYTES))
        content = read_bytes(folder, MANIFEST, MANIFEST_BYTES)
    except FileNotFoundError:
        yield Finding("signature", f"the release is not signed: it has no {SIGNATURE}.")
        return
    except OSError as error:
        yield Finding("signature", f"{SIGNATURE} cannot be read: {first_line(error)}.")
        return
    except ValueError:
        yield Finding("signature", f"{SIGNATURE} is not a signature in the format of minisign.")
        return
    if number != owner:
        names = (key[::-1].hex().upper() for key in (number, owner))
        yield Finding("signature", "the release is signed with the key {}, not with {}.".format(*names))
    elif not _holds(point, signature, hashlib.blake2b(content).digest()):
        yield Finding("signature", f"{MANIFEST} is not what was signed: it was changed, or somebody else signed it.")
    elif not _holds(point, both, signature + about.encode()):
        yield Finding("signature", f"the comment of {SIGNATURE} is not what was signed.")


def _read_key(path: Path) -> tuple[bytes, bytes]:
    """The number of a public key, and the point on the curve that it is."""
    try:
        text = read_bytes(path.parent, path.name, BYTES)
    except OSError as error:
        raise ReleaseError(f"{path}: the public key cannot be read: {first_line(error)}.") from error
    try:
        held = base64.b64decode(text.decode().splitlines()[1], validate=True)
    except (ValueError, IndexError, binascii.Error) as error:
        raise ReleaseError(f"{path}: this is not a public key in the format of minisign.") from error
    if held[:2] != b"Ed" or len(held) != 42:
        raise ReleaseError(f"{path}: this is not a public key in the format of minisign.")
    return held[2:10], held[10:]


def _parsed(text: bytes) -> tuple[bytes, bytes, str, bytes]:
    """The number of the key, the signature, what it says about itself, and the signature of both.

    It is a `ValueError` if they are not there.
    """
    first, signed, about, both = text.decode().rstrip("\n").split("\n")
    held, whole = base64.b64decode(signed, validate=True), base64.b64decode(both, validate=True)
    shaped = first.startswith(UNTRUSTED) and about.startswith(TRUSTED)
    if not shaped or held[:2] != b"ED" or len(held) != 74 or len(whole) != 64:
        raise ValueError
    return held[2:10], held[10:], about.removeprefix(TRUSTED), whole


def _holds(point: bytes, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise UnveilError("signatures need cryptography: install unveil[sign].") from error
    try:
        Ed25519PublicKey.from_public_bytes(point).verify(signature, message)
    except InvalidSignature:
        return False
    return True
