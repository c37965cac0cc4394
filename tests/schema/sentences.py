"""What every message to an owner has in common."""

import re
from collections.abc import Callable

import pytest

from unveil.errors import UnveilError


def sentence(error: type[UnveilError], action: Callable[[], object]) -> str:
    """The message of the error that the action must end in, checked to be one sentence on one line."""
    with pytest.raises(error) as caught:
        action()
    assert type(caught.value) is error
    message = str(caught.value)
    assert message.splitlines() == [message]
    assert message.endswith((".", "?"))
    assert not re.search(r"[.?!] +[A-Z]", message), f"more than one sentence: {message}"
    return message
