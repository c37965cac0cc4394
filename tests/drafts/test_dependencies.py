"""Columns that determine others, against brute force over all pairs."""

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.drafts import facts as module
from unveil.drafts.facts import BETTER, REPEATS, TELLS, Coded, Dependency, dependencies


def coded(columns: list[list[int]]) -> list[Coded]:
    found = []
    for number, column in enumerate(columns):
        values, codes = np.unique(column, return_inverse=True)
        found.append(Coded(f"c{number}", codes.astype(np.int32), len(values)))
    return found


def told(by: list[int], column: list[int]) -> float:
    """For which share of the rows the best guess from one column is right."""
    groups: dict[int, Counter[int]] = defaultdict(Counter)
    for key, value in zip(by, column, strict=True):
        groups[key][value] += 1
    return sum(max(counts.values()) for counts in groups.values()) / len(column)


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    """Independent columns, functions of earlier ones, and functions with a few exceptions."""
    rows = draw(st.integers(40, 120))
    seed = np.random.default_rng(draw(st.integers(0, 10**6)))
    columns: list[list[int]] = []
    for kind in draw(st.lists(st.sampled_from(["free", "function", "nearly", "same"]), min_size=2, max_size=6)):
        if kind == "free" or not columns:
            columns.append(seed.integers(0, seed.integers(1, 12), rows).tolist())
            continue
        source = columns[seed.integers(len(columns))]
        image = seed.integers(0, 4, 50) if kind != "same" else seed.permutation(50)
        column = [int(image[value % 50]) for value in source]
        if kind == "nearly":
            column[seed.integers(rows)] += 1
        columns.append(column)
    return columns


@settings(deadline=None, max_examples=150)
@given(tables())
def test_what_is_found_is_true_and_no_exact_dependency_is_missed(columns: list[list[int]]) -> None:
    found = {item.determined: item for item in dependencies(coded(columns))}
    sizes = [len(set(column)) for column in columns]
    rows = len(columns[0])
    used = [place for place, size in enumerate(sizes) if 1 < size <= rows / REPEATS]
    for place in used:
        others = [other for other in used if other != place]
        exact = [other for other in others if told(columns[other], columns[place]) == 1]
        repeats = [other for other in exact if told(columns[place], columns[other]) == 1]
        exact = [other for other in exact if other not in repeats or other < place]
        item = found.get(f"c{place}")
        if item is None:
            assert not exact
            continue
        by = int(item.by[1:])
        assert item.share == told(columns[by], columns[place])
        assert item.exact == bool(exact)
        if exact:
            assert sizes[by] == min(sizes[other] for other in exact)
            assert item.mutual == (by in repeats)
        else:
            guessed = max(Counter(columns[place]).values()) / rows
            assert item.share >= TELLS
            assert 1 - item.share <= BETTER * (1 - guessed)
    assert {int(name[1:]) for name in found} <= set(used)


def test_a_sample_decides_only_what_is_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(module, "SAMPLE", 50)
    monkeypatch.setattr(module, "COUNTED", 100)
    seed = np.random.default_rng(0)
    town, other = seed.integers(0, 30, 5000), seed.integers(0, 30, 5000)
    broken = town // 3
    broken[4999] += 1
    found = dependencies(coded([town.tolist(), (town // 3).tolist(), broken.tolist(), other.tolist()]))
    assert Dependency("c0", "c1", 1.0) in found
    assert not any(item.determined == "c2" and item.exact for item in found)
    assert not any("c3" in (item.by, item.determined) for item in found)
