"""Reading the owner's text files."""

from __future__ import annotations

from pathlib import Path

from unveil.errors import UnveilError


def read_text(path: Path, what: str, error: type[UnveilError]) -> str:
    """The text of a UTF-8 file; a file that cannot be read is an error of the given kind."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as cause:
        reason = cause.strerror or "it cannot be opened"
        raise error(f"{path}: the {what} cannot be read: {reason}.") from cause
    except UnicodeDecodeError as cause:
        raise error(f"{path}: the {what} is not UTF-8 text (byte {cause.start}).") from cause
