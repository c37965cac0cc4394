"""Random problems for TDR: small, full of ties, and always feasible."""

from math import inf, nextafter
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from .problem import (
    QID,
    Attribute,
    Discretized,
    Generalized,
    Problem,
    Raw,
    Record,
    Suppressed,
    Tree,
)

T = TypeVar("T")

# Tree order and domain order are rarely the order of the alphabet.
NAMES = (
    ("a", "b", "c", "d"),
    ("zone", "age", "job", "city"),
    ("work hours", "образование", "性別", "État civil"),
)
WORDS = (
    "v00/v01/v02/v03/v04/v05/v06/v07/v08/v09/v10/v11",
    "v11/v10/v9/v8/v7/v6/v5/v4/v3/v2/v1/v0",
    "10/9/007/7/-1/1.0/1/1-2/30/1e3/0/00",
    'new york/a/A/San José/north east/north/north-east/o\'hare/x, y/say "hi"/null/50% off',
    "москва/αθήνα/東京/القاهرة/são paulo/Ærø/ß/ss/İ/i/תל אביב/서울",
)
LABELS = tuple(tuple(words.split("/")) for words in WORDS)  # 7 leaves, 4 inner nodes and a root
RANGES = ((0.0, 1.0), (-1.5, 2.5), (0.1, 0.7), (-1000.0, 1e6))
CLASSES = ("Y", "N", "может быть")


def some_of(values: tuple[T, ...]) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple)


def held(values: tuple[T, ...]) -> SearchStrategy[tuple[T, ...]]:
    """Values that records may hold: often not the whole domain."""
    return st.one_of(some_of(values), st.just(values))


@st.composite
def trees(draw: DrawFn) -> Tree:
    """A row of 2 to 7 leaves, in which runs of neighbours are now and then put under a parent."""
    labels = iter(draw(st.sampled_from(LABELS)))
    row: list[Tree] = [(next(labels), []) for _ in range(draw(st.integers(2, 7)))]
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(row) - 1))
        stop = draw(st.integers(start + 1, min(start + 4, len(row))))
        row[start:stop] = [(next(labels), row[start:stop])]
    return next(labels), row


def leaves(tree: Tree) -> tuple[str, ...]:
    label, children = tree
    return tuple(leaf for child in children for leaf in leaves(child)) or (label,)


@st.composite
def generalized(draw: DrawFn, name: str) -> tuple[Attribute, tuple[Raw, ...]]:
    tree = draw(trees())
    return Generalized(name, tree), draw(held(leaves(tree)))


@st.composite
def suppressed(draw: DrawFn, name: str) -> tuple[Attribute, tuple[Raw, ...]]:
    values = draw(st.sampled_from(LABELS))[: draw(st.integers(2, 5))]
    return Suppressed(name, values), draw(held(values))


@st.composite
def whole_numbers(draw: DrawFn, name: str) -> tuple[Attribute, tuple[Raw, ...]]:
    lo, width = draw(st.integers(-3, 3)), draw(st.integers(1, 9))
    return Discretized(name, lo, lo + width), draw(held(tuple(range(lo, lo + width))))


@st.composite
def fractions(draw: DrawFn, name: str) -> tuple[Attribute, tuple[Raw, ...]]:
    lo, hi = draw(st.sampled_from(RANGES))
    inside = tuple(lo + (hi - lo) * i / 7 for i in range(1, 7))
    return Discretized(name, lo, hi), draw(held((lo, *inside, nextafter(hi, -inf))))


def attributes(name: str) -> SearchStrategy[tuple[Attribute, tuple[Raw, ...]]]:
    """An attribute and those values of its domain that records may hold."""
    return st.one_of(whole_numbers(name), suppressed(name), generalized(name), fractions(name))


@st.composite
def problems(draw: DrawFn) -> Problem:
    names = draw(st.sampled_from(NAMES))[: draw(st.integers(1, 4))]
    drawn = [draw(attributes(name)) for name in names]
    classes = CLASSES[: draw(st.integers(2, 3))]
    values = st.tuples(*(st.sampled_from(raws) for _, raws in drawn))
    row = st.tuples(values, st.sampled_from(classes), st.integers(1, 3))
    least = draw(st.sampled_from((2, 8, 16)))  # left alone, lists stay too short for many steps
    rows = draw(st.lists(row, min_size=least, max_size=25))
    records = [Record(dict(zip(names, raws, strict=True)), c, w) for raws, c, w in rows]
    if len({record.cls for record in records}) == 1:
        last = records[-1]
        records[-1] = Record(last.values, "N" if last.cls == "Y" else "Y", last.weight)
    total = sum(record.weight for record in records)
    highest = draw(st.sampled_from((2, 5, total)))  # one high k among them stops everything
    ks = st.integers(1, min(highest, total))
    qids = st.builds(QID, some_of(names), ks)
    return Problem(
        attributes=[attribute for attribute, _ in drawn],
        records=records,
        qids=draw(st.lists(qids, min_size=1, max_size=3)),
        criterion=draw(st.sampled_from(("score", "infogain"))),
    )
