"""Random problems for TDR and PDA: small, full of ties, and always feasible."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import Literal, TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from .problem import (
    QID,
    Attribute,
    Closeness,
    Discretized,
    Diversity,
    Generalized,
    Gone,
    Headcount,
    Inference,
    Likeness,
    Problem,
    Raw,
    Record,
    Requirement,
    Spread,
    Suppressed,
    Template,
    Tree,
)

T = TypeVar("T")
Drawn: TypeAlias = tuple[Attribute, tuple[Raw, ...]]  # with those values that records may hold

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
SENSITIVE = (("s", "r"), ("pay band", "illness"), ("диагноз", "Salaire €"))


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
def generalized(draw: DrawFn, name: str) -> Drawn:
    tree = draw(trees())
    return Generalized(name, tree), draw(held(leaves(tree)))


@st.composite
def suppressed(draw: DrawFn, name: str) -> Drawn:
    values = draw(st.sampled_from(LABELS))[: draw(st.integers(2, 5))]
    return Suppressed(name, values), draw(held(values))


@st.composite
def whole_numbers(draw: DrawFn, name: str) -> Drawn:
    lo, width = draw(st.integers(-3, 3)), draw(st.integers(1, 9))
    return Discretized(name, lo, lo + width), draw(held(tuple(range(lo, lo + width))))


@st.composite
def fractions(draw: DrawFn, name: str) -> Drawn:
    lo, hi = draw(st.sampled_from(RANGES))
    inside = tuple(lo + (hi - lo) * i / 7 for i in range(1, 7))
    return Discretized(name, lo, hi), draw(held((lo, *inside, nextafter(hi, -inf))))


@st.composite
def gapped(draw: DrawFn, name: str) -> Drawn:
    """An attribute with kinds of missing values that are kept, and values with some of them."""
    attribute, raws = draw(attributes(name))
    kinds = draw(st.sampled_from(((), ("unknown",), ("not asked", "unknown"))))
    if isinstance(attribute, Discretized):
        gone = tuple(Gone(place, label) for place, label in enumerate(kinds))
        return replace(attribute, missing=gone), (*raws, *gone)
    if isinstance(attribute, Suppressed):
        values = (*attribute.values, *kinds)
        return replace(attribute, values=values, missing=kinds), (*raws, *kinds)
    label, below = attribute.tree
    return replace(attribute, tree=(label, [*below, *((leaf, []) for leaf in kinds)]), missing=kinds), (*raws, *kinds)


def attributes(name: str) -> SearchStrategy[Drawn]:
    """An attribute and those values of its domain that records may hold."""
    return st.one_of(whole_numbers(name), suppressed(name), generalized(name), fractions(name))


NUMBERS = ("-0.3", "0", "0.1", "0.2", "0.3")

# ---- Tables: problems without requirements ----


@st.composite
def domains(draw: DrawFn) -> dict[str, tuple[str, ...]]:
    """One or two sensitive attributes, with 2 to 4 values each."""
    names = draw(st.sampled_from(SENSITIVE))[: draw(st.integers(1, 2))]
    return {name: draw(st.sampled_from(LABELS))[: draw(st.integers(2, 4))] for name in names}


@st.composite
def tables(
    draw: DrawFn,
    attribute: Callable[[str], SearchStrategy[Drawn]] = attributes,
    sensitive: SearchStrategy[dict[str, tuple[str, ...]]] = st.just({}),  # noqa: B008
) -> Problem:
    """At least two classes."""
    names = draw(st.sampled_from(NAMES))[: draw(st.integers(1, 4))]
    drawn = [draw(attribute(name)) for name in names]
    secrets = draw(sensitive)
    classes = CLASSES[: draw(st.integers(2, 3))]
    everything = [raws for _, raws in drawn] + [draw(held(domain)) for domain in secrets.values()]
    values = st.tuples(*map(st.sampled_from, everything))
    row = st.tuples(values, st.sampled_from(classes), st.integers(1, 3))
    least = draw(st.sampled_from((2, 8, 16)))  # left alone, lists stay too short for many steps
    rows = draw(st.lists(row, min_size=least, max_size=25))
    records = [Record(dict(zip((*names, *secrets), raws, strict=True)), c, w) for raws, c, w in rows]
    if len({record.cls for record in records}) == 1:
        last = records[-1]
        records[-1] = Record(last.values, "N" if last.cls == "Y" else "Y", last.weight)
    return Problem([a for a, _ in drawn], records, sensitive=secrets)


# ---- Requirements: each list holds on the fully masked table, in which all records are one group ----


def names_of(table: Problem) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in table.attributes)


# How strict all requirements of a problem may be: one strict one among them stops everything.
HIGHEST = st.sampled_from((2, 5, 75))  # k
LENIENT = st.sampled_from((True, True, False))  # the lenient half of what can hold


def qids(table: Problem, highest: int) -> SearchStrategy[QID]:
    total = sum(record.weight for record in table.records)
    return st.builds(QID, some_of(names_of(table)), st.integers(1, min(highest, total)))


def one_of_these(ways: Sequence[T], lenient: bool) -> SearchStrategy[T]:
    """The most lenient comes first."""
    return st.sampled_from(ways[: (len(ways) + 1) // 2] if lenient else ways)


def whole(table: Problem, sensitive: str) -> dict[str, int]:
    """How many records hold each sensitive value."""
    counts = dict.fromkeys(table.sensitive[sensitive], 0)
    for record in table.records:
        counts[str(record.values[sensitive])] += record.weight
    return counts


@st.composite
def templates(draw: DrawFn, table: Problem, lenient: bool) -> list[Inference]:
    """For a set of values, one template for each; all with one limit."""
    sensitive = draw(st.sampled_from(sorted(table.sensitive)))
    counts, channel = whole(table, sensitive), draw(some_of(names_of(table)))
    values = draw(some_of(tuple(counts)))
    most = max(counts[value] for value in values)
    lowest = max(1, ceil(Fraction(20 * most, sum(counts.values()))))
    limit = draw(one_of_these([f"{twentieths / 20:.2f}" for twentieths in range(20, lowest - 1, -1)], lenient))
    return [Template(channel, sensitive, value, limit) for value in values]


@st.composite
def diversities(draw: DrawFn, table: Problem, lenient: bool) -> list[Inference]:
    sensitive = draw(st.sampled_from(sorted(table.sensitive)))
    qid = draw(some_of(names_of(table)))
    variant: Literal["distinct", "entropy"] = draw(st.sampled_from(("distinct", "entropy")))
    ls = (1, 2, 3, 4) if variant == "distinct" else (1, 1.1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4)
    every = [Diversity(qid, sensitive, ell, variant) for ell in ls]
    return [draw(one_of_these([d for d in every if d.holds(d.level([whole(table, sensitive)]))], lenient))]


@st.composite
def closenesses(draw: DrawFn, table: Problem, lenient: bool) -> list[Inference]:
    sensitive = draw(st.sampled_from(sorted(table.sensitive)))
    qid, t = draw(some_of(names_of(table))), draw(one_of_these((1.0, 0.5, 0.25, 0.1, 0.0), lenient))
    distance: Literal["equal", "ordered"] = draw(st.sampled_from(("equal", "ordered")))
    return [Closeness(qid, sensitive, t, distance)]


@st.composite
def likenesses(draw: DrawFn, table: Problem, lenient: bool) -> list[Inference]:
    sensitive = draw(st.sampled_from(sorted(table.sensitive)))
    qid, beta = draw(some_of(names_of(table))), draw(one_of_these(("9", "2", "1", "0.5", "0.1"), lenient))
    return [Likeness(qid, sensitive, beta)]


@st.composite
def spreads(draw: DrawFn, table: Problem) -> list[Inference]:
    """On numbers whose differences are not those of their floats."""
    sensitive = draw(st.sampled_from(sorted(table.sensitive)))
    qid = draw(some_of(names_of(table)))
    every = [Spread(qid, sensitive, k, e) for k in (1, 2, 3) for e in ("0.1", "0.2", "0.3", "0.6")]
    feasible = [spread for spread in every if spread.holds(spread.level([whole(table, sensitive)]))]
    return [draw(st.sampled_from(feasible))] if feasible else []


# ---- Problems ----

CRITERIA: SearchStrategy[Literal["score", "infogain"]] = st.sampled_from(("score", "infogain"))


@st.composite
def problems(draw: DrawFn) -> Problem:
    table = draw(tables())
    some = draw(st.lists(qids(table, draw(HIGHEST)), min_size=1, max_size=3))
    return replace(table, qids=some, criterion=draw(CRITERIA))


@st.composite
def gapped_problems(draw: DrawFn) -> Problem:
    """Tables with missing values that are kept."""
    table = draw(tables(gapped))
    some = draw(st.lists(qids(table, draw(HIGHEST)), min_size=1, max_size=3))
    return replace(table, qids=some)


@st.composite
def mixed_problems(draw: DrawFn) -> Problem:
    """One to four requirements of any kinds, where templates for a set of values count as one."""
    table, highest, lenient = draw(tables(sensitive=domains())), draw(HIGHEST), draw(LENIENT)
    anonymous = qids(table, highest).map(lambda qid: [qid])
    kinds = (anonymous, templates(table, lenient), diversities(table, lenient), closenesses(table, lenient))
    kinds = (*kinds, likenesses(table, lenient))
    drawn = draw(st.lists(st.one_of(*kinds), min_size=draw(st.integers(1, 3)), max_size=4))
    every: list[Requirement] = [requirement for some in drawn for requirement in some]
    return replace(
        table,
        qids=[r for r in every if isinstance(r, QID)],
        inferences=[r for r in every if not isinstance(r, QID)],
        criterion=draw(CRITERIA),
    )


@st.composite
def template_problems(draw: DrawFn) -> Problem:
    """What the paper on PDA knows: templates alone, suppression alone, the score alone."""
    table, lenient = draw(tables(suppressed, domains())), draw(LENIENT)
    drawn = draw(st.lists(templates(table, lenient), min_size=1, max_size=4))
    return replace(table, inferences=[template for some in drawn for template in some])


@st.composite
def spread_problems(draw: DrawFn) -> Problem:
    """Groups whose sensitive numbers must be apart, and k-anonymity as well."""
    table = draw(tables(sensitive=st.just({"amount": NUMBERS})))
    some = [spread for drawn in draw(st.lists(spreads(table), min_size=1, max_size=3)) for spread in drawn]
    return replace(table, qids=[draw(qids(table, draw(HIGHEST)))], inferences=some, criterion=draw(CRITERIA))


@st.composite
def person_problems(draw: DrawFn) -> Problem:
    """Records of persons who have one or several, often in different groups; groups of k persons."""
    return draw(with_persons(st.one_of(problems(), mixed_problems(), spread_problems())))


@st.composite
def with_persons(draw: DrawFn, drawn: SearchStrategy[Problem]) -> Problem:
    """A problem in which the records belong to persons, whom k-anonymity counts."""
    problem = draw(drawn)
    records = [replace(record, weight=1) for record in problem.records for _ in range(record.weight)]
    most = draw(st.sampled_from((2, len(records) // 2 + 1, len(records))))
    persons = draw(st.lists(st.integers(1, most), min_size=len(records), max_size=len(records)))
    held = [replace(record, person=f"p{person}") for record, person in zip(records, persons, strict=True)]
    qids = [Headcount(qid.attributes, min(qid.k, len(set(persons)))) for qid in problem.qids]
    return replace(problem, records=held, qids=qids)


@st.composite
def one_set_problems(draw: DrawFn) -> Problem:
    """Requirements on one set of attributes, none of which compares a group with the whole table."""
    problem = draw(st.one_of(problems(), template_problems(), mixed_problems(), spread_problems()))
    names = draw(st.one_of(st.just(names_of(problem)), some_of(names_of(problem))))
    inferences: list[Inference] = []
    for inference in problem.inferences:
        if isinstance(inference, Template):
            inferences.append(replace(inference, channel=names))
        elif isinstance(inference, Diversity | Spread):
            inferences.append(replace(inference, qid=names))
    anonymous = [QID(names, qid.k) for qid in problem.qids] if inferences or problem.qids else [QID(names, 2)]
    return replace(problem, qids=anonymous, inferences=inferences)


@st.composite
def crowded_problems(draw: DrawFn) -> Problem:
    """k-anonymity with groups that are often a little too small: every third search leaves out records."""
    table = draw(tables().filter(lambda drawn: len(drawn.records) >= 8))
    return replace(table, qids=[QID(names_of(table)[:2], draw(st.integers(3, 6)))])


@st.composite
def several_set_problems(draw: DrawFn) -> Problem:
    """Requirements on their own sets of attributes, none of which compares a group with the whole table."""
    problem = draw(st.one_of(problems(), template_problems(), mixed_problems(), spread_problems()))
    inferences = [held for held in problem.inferences if isinstance(held, Template | Diversity | Spread)]
    return replace(problem, qids=problem.qids or [QID(names_of(problem), 2)], inferences=inferences)


@st.composite
def crossed_problems(draw: DrawFn) -> Problem:
    """k-anonymity on two or three sets of attributes, with groups that are often a little too small."""
    table = draw(tables().filter(lambda drawn: len(drawn.records) >= 8 and len(names_of(drawn)) > 1))
    names = names_of(table)
    sets = draw(st.lists(some_of(names), min_size=2, max_size=3, unique_by=frozenset))
    return replace(table, qids=[QID(some, draw(st.integers(2, 5))) for some in sets])
