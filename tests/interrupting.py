"""Runs the command line in a process of its own, which gets a real signal at an exact moment.

    python interrupting.py MOMENT WORDS...

A moment is `import NAME`, when that module is about to be imported; or `before PLACE` or `after PLACE`, with the dotted
name of a function that is about to run or has just run, and a number if not every call of it counts but that one. The
signal is SIGINT unless the variable SIGNAL holds the number of another. Where the variable UNGUARDED is set, Ctrl-C is
left to Python, to show what the tests would see then.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Any


def interrupt() -> None:
    os.kill(os.getpid(), int(os.environ.get("SIGNAL", signal.SIGINT)))


class Gate:
    """Interrupts when a module is looked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self._name:
            interrupt()


def wrapped(function: Callable[..., Any], when: str, number: int | None) -> Callable[..., Any]:
    calls = 0

    @wraps(function)
    def call(*words: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        counts = number in (None, calls)
        if counts and when == "before":
            interrupt()
        result = function(*words, **named)
        if counts and when == "after":
            interrupt()
        return result

    return call


def plant(when: str, place: str, number: int | None = None) -> None:
    """Puts the interrupt into a function: that of a module, or of a class in one."""
    if when == "import":
        sys.meta_path.insert(0, Gate(place))  # type: ignore[arg-type]
        return
    module, _, name = place.rpartition(".")
    try:
        owner: Any = import_module(module)
    except ModuleNotFoundError:
        above, _, class_ = module.rpartition(".")
        owner = getattr(import_module(above), class_)
    function = getattr(owner, name)
    setattr(owner, name, wrapped(function, when, number))
    for other in [held for known, held in sys.modules.items() if known.startswith("unveil")]:
        for known in [known for known, held in vars(other).items() if held is function]:
            setattr(other, known, getattr(owner, name))


def run(command: Sequence[str], environment: Mapping[str, str], out: str, error: str) -> None:
    """The same in a process that was forked, with files for its output."""
    os.environ.clear()
    os.environ.update(environment)
    for number, path in ((1, out), (2, error)):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), number)
    sys.argv = ["interrupting.py", *command]
    main()


def main() -> None:
    when, place, *number = sys.argv[1].split()
    sys.argv = ["unveil", *sys.argv[2:]]
    if os.environ.get("UNGUARDED"):
        from unveil import interruption

        interruption.leave_on_interrupt = lambda: None
        signal.signal(signal.SIGINT, signal.default_int_handler)
    plant(when, place, *map(int, number))
    from unveil.cli import script

    script()


if __name__ == "__main__":
    main()
