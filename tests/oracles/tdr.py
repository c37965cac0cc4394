"""Top-Down Refinement by brute force, straight from Sections II to IV of the paper (TKDE 2007).

With templates it is the Progressive Disclosure Algorithm (ICDM 2005): AnonyLoss and PrivLoss are
both the mean drop of a level, so requirements of any kind may be combined.

Nothing is kept between steps but the cuts: every candidate masks the whole table anew and
counts it. Shares no code with the package. The papers' symbols are in the docstrings.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum, log2
from typing import NamedTuple, TypeVar

from .blocks import Block, Bottom, Cuts, Disclosed, Interval, Node, mask, masking, top
from .problem import QID, Group, Level, Problem, Raw, Record, Requirement, tally

T = TypeVar("T")
R = TypeVar("R", bound=Requirement)

# ---- Levels of privacy (anonymity: Definition 1) ----


def groups(table: Iterable[Record], requirement: Requirement, sensitive: Mapping[str, Sequence[str]]) -> list[Group]:
    """The groups of a masked table on the attributes of a requirement."""
    held_by: dict[tuple[Raw, ...], list[Record]] = {}
    for record in table:
        key = tuple(record.values[attribute] for attribute in requirement.attributes)
        held_by.setdefault(key, []).append(record)
    values = sensitive[requirement.sensitive] if requirement.sensitive else ()
    return [tally(records, requirement, values) for records in held_by.values()]


def levels(problem: Problem, cuts: Cuts, requirements: Iterable[Requirement]) -> list[Level]:
    table = mask(problem.records, cuts)
    return [requirement.level(groups(table, requirement, problem.sensitive)) for requirement in requirements]


def anonymity(records: Iterable[Record], cuts: Cuts, qid: QID) -> int:
    """A(QID): the size of the smallest group of the masked table on QID."""
    return qid.level(groups(mask(records, cuts), qid, {}))


def without_redundant(requirements: Sequence[R]) -> list[R]:
    """Without every one that another implies; of those that imply each other, the first stays.

    ⟨QID_j, k_j⟩ is implied by QID_i ⊇ QID_j with k_i ≥ k_j; the others likewise, among their kind.
    """

    def implied_by(i: int, j: int) -> bool:
        back = requirements[j].implies(requirements[i])
        return requirements[i].implies(requirements[j]) and (i < j or not back)

    every = range(len(requirements))
    return [requirements[j] for j in every if not any(implied_by(i, j) for i in every if i != j)]


# ---- Information gain (equations 2, 3 and 5) ----


def held(records: Iterable[Record], name: str, x: Block) -> list[Record]:
    """R_x: the records masked to x."""
    return [record for record in records if x.holds(record.values[name])]


def size(records: Iterable[Record]) -> int:
    return sum(record.weight for record in records)


def entropy(records: Sequence[Record]) -> float:
    """I(R_x)."""
    freq: Counter[str] = Counter()
    for record in records:
        freq[record.cls] += record.weight
    return -sum(n / size(records) * log2(n / size(records)) for n in freq.values())


def info_gain(records: Sequence[Record], name: str, v: Block, child: Iterable[Block]) -> float:
    """InfoGain(v); what can only be float noise counts as 0."""
    r_v = held(records, name, v)
    r_cs = [held(records, name, c) for c in child]
    gain = entropy(r_v) - sum(size(r_c) / size(r_v) * entropy(r_c) for r_c in r_cs if r_c)
    return 0.0 if abs(gain) < 1e-12 else gain


# ---- Refinements (Section III) ----


class Candidate(NamedTuple):
    """v → child(v), or ⊥ → {value, ⊥}, and what it would gain and lose."""

    attribute: str
    block: Block
    children: tuple[Block, ...]
    gain: float
    loss: float
    score: float
    valid: bool
    beneficial: bool


def first_best(options: Sequence[T], value: Callable[[T], float]) -> T:
    """The first of the best; values within a relative 1e-9 of the highest tie with it."""
    best = max(map(value, options))
    return next(option for option in options if value(option) >= best * (1 - 1e-9))


def refinements(records: Sequence[Record], name: str, v: Block) -> list[tuple[Block, ...]]:
    """Every child(v) into which v may be refined, in domain order."""
    if isinstance(v, Node) and v.children:
        return [v.children]
    if isinstance(v, Bottom):
        held_values = {record.values[name] for record in records}
        shown = [x for x in v.sup if x in held_values]
        return [(Disclosed(x), Bottom(tuple(y for y in v.sup if y != x))) for x in shown]
    if isinstance(v, Interval):
        points = sorted({float(record.values[name]) for record in held(records, name, v)})
        splits = [(replace(v, hi=at), replace(v, lo=at)) for at in points[1:]]
        return [first_best(splits, lambda s: info_gain(records, name, v, s))] if splits else []
    return []


def refined(cuts: Cuts, name: str, v: Block, child: tuple[Block, ...]) -> Cuts:
    """The children take the place of v, so that a cut stays in tree order, intervals in order."""
    return {**cuts, name: tuple(y for x in cuts[name] for y in (child if x == v else (x,)))}


def assess(problem: Problem, cuts: Cuts, name: str, v: Block, child: tuple[Block, ...]) -> Candidate:
    records, requirements = problem.records, without_redundant(problem.requirements)
    r_v, after = held(records, name, v), refined(cuts, name, v, child)
    gain = info_gain(records, name, v, child) if r_v else 0.0
    a, a_v = levels(problem, cuts, requirements), levels(problem, after, requirements)
    losses = [float(a[j] - a_v[j]) for j, r in enumerate(requirements) if name in r.attributes]
    loss = fsum(losses) / len(losses)
    valid = all(r.holds(a_v[j]) for j, r in enumerate(requirements))
    beneficial = len({record.cls for record in r_v}) > 1
    return Candidate(name, v, child, gain, loss, gain / (loss + 1), valid, beneficial)


def candidates(problem: Problem, cuts: Cuts) -> list[Candidate]:
    """Every refinement, valid and beneficial or not, in the order that breaks ties."""
    return [
        assess(problem, cuts, name, v, child)
        for name, cut in cuts.items()
        for v in cut
        for child in refinements(problem.records, name, v)
    ]


# ---- The algorithm (Section IV, Algorithm 1) ----


class Step(NamedTuple):
    attribute: str
    refined: str
    into: tuple[str, ...]
    gain: float
    loss: float
    score: float  # equation 1, whatever the criterion


class Result(NamedTuple):
    steps: list[Step]
    masking: dict[str, dict[Raw, str]]  # per masked attribute: raw value → label
    records: list[Record]  # masked, in the order of the input
    cuts: Cuts


def most_masked(problem: Problem) -> Cuts:
    """Lines 1 and 2: one block for each attribute in ∪QID, or ∪IC."""
    union = {name for requirement in problem.requirements for name in requirement.attributes}
    return {a.name: (top(a),) for a in problem.attributes if a.name in union}


def tdr(problem: Problem) -> Result:
    cuts, steps = most_masked(problem), list[Step]()
    reachable = levels(problem, cuts, problem.requirements)  # the highest: |T| for a QID, Lemma 3.3 for a template
    for requirement, level in zip(problem.requirements, reachable, strict=True):
        if not requirement.holds(level):
            raise ValueError(f"no masked table satisfies {requirement}")
    while problem.steps is None or len(steps) < problem.steps:
        open_ = [c for c in candidates(problem, cuts) if c.valid and c.beneficial]
        if not open_:
            break
        best = first_best(open_, lambda c: c.score if problem.criterion == "score" else c.gain)
        into = tuple(block.label for block in best.children)
        steps.append(Step(best.attribute, best.block.label, into, *best[3:6]))
        cuts = refined(cuts, best.attribute, best.block, best.children)
    return Result(steps, masking(problem, cuts), mask(problem.records, cuts), cuts)
