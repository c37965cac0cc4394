"""Drafts by frequency: frequent values stand near the top, rare ones deep down together.

Values are put in order of their frequency and cut into four runs that hold about as many rows each. A run of one value
is a leaf; a longer one is cut again. So a value that a quarter of the rows hold can be released after one
specialization, and values that few rows hold take many, which is where a requirement would stop anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from unveil.drafts.values import Paths, Proposal, Values
from unveil.errors import count_text

RUNS = 4
LEAST = 0.01
"""Shares below this are not told apart in a sentence."""


def by_frequency(values: Values, *, asked: bool) -> Proposal:
    """Any values; nothing is known about them but how often they occur."""
    ordered = sorted(values.counts, key=lambda text: (-values.counts[text], text))
    paths: Paths = {}
    _place(ordered, [values.counts[text] for text in ordered], (), "", paths)
    share = values.counts[ordered[0]] / sum(values.counts.values())
    kinds = count_text(len(ordered), "value")
    most = f"{share:.0%}" if share >= LEAST else f"less than {LEAST:.0%}"
    return Proposal(paths, f"{kinds} by how many rows hold them, {ordered[0]!r} first with {most}")


def _place(texts: Sequence[str], counts: Sequence[int], above: tuple[str, ...], number: str, paths: Paths) -> None:
    """Values alone come first, in the order of their characters, so that the order tells no more than the tree."""
    runs = _runs(counts)
    for text in sorted(texts[start] for start, stop in runs if stop - start == 1):
        paths[text] = above
    longer = [run for run in runs if run[1] - run[0] > 1]
    for place, (start, stop) in enumerate(longer, start=1):
        name = f"{number}{place}"
        _place(texts[start:stop], counts[start:stop], (*above, f"Group {name}"), f"{name}.", paths)


def _runs(counts: Sequence[int]) -> list[tuple[int, int]]:
    """Up to four runs with about as many rows each; every run has a value."""
    runs: list[tuple[int, int]] = []
    start, rest = 0, sum(counts)
    for left in range(min(RUNS, len(counts)), 0, -1):
        stop, held = start + 1, counts[start]
        while stop < len(counts) - left + 1 and (left == 1 or held * left < rest):
            held += counts[stop]
            stop += 1
        runs.append((start, stop))
        start, rest = stop, rest - held
    return runs
