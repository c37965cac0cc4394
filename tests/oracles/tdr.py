"""Top-Down Refinement by brute force, straight from Sections II to IV of the paper (TKDE 2007).

Nothing is kept between steps but the cuts: every candidate masks the whole table anew and
counts it. Shares no code with the package. The paper's symbols stand in the docstrings.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log2
from typing import NamedTuple, TypeVar

from .blocks import Block, Bottom, Cuts, Disclosed, Interval, Node, mask, masking, top
from .problem import QID, Problem, Raw, Record

T = TypeVar("T")

# ---- Anonymity (Definition 1) ----


def anonymity(records: Iterable[Record], cuts: Cuts, qid: QID) -> int:
    """A(QID): the size of the smallest group of the masked table on QID."""
    a: Counter[tuple[Raw, ...]] = Counter()
    for record in mask(records, cuts):
        a[tuple(record.values[name] for name in qid.attributes)] += record.weight
    return min(a.values())


def without_redundant(qids: Sequence[QID]) -> list[QID]:
    """Without every ⟨QID_j, k_j⟩ that another one with QID_j ⊆ QID_i and k_j ≤ k_i implies."""

    def implies(i: int, j: int) -> bool:
        qid_i, qid_j = set(qids[i].attributes), set(qids[j].attributes)
        same = qid_i == qid_j and qids[i].k == qids[j].k
        return i < j if same else qid_j <= qid_i and qids[j].k <= qids[i].k

    every = range(len(qids))
    return [qids[j] for j in every if not any(implies(i, j) for i in every if i != j)]


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
        splits = [(Interval(v.lo, at), Interval(at, v.hi)) for at in points[1:]]
        return [first_best(splits, lambda s: info_gain(records, name, v, s))] if splits else []
    return []


def refined(cuts: Cuts, name: str, v: Block, child: tuple[Block, ...]) -> Cuts:
    """The children take the place of v, so that a cut stays in tree order, intervals in order."""
    return {**cuts, name: tuple(y for x in cuts[name] for y in (child if x == v else (x,)))}


def assess(problem: Problem, cuts: Cuts, name: str, v: Block, child: tuple[Block, ...]) -> Candidate:
    records, qids = problem.records, without_redundant(problem.qids)
    r_v, after = held(records, name, v), refined(cuts, name, v, child)
    gain = info_gain(records, name, v, child) if r_v else 0.0
    a = [anonymity(records, cuts, qid) for qid in qids]
    a_v = [anonymity(records, after, qid) for qid in qids]
    losses = [a[j] - a_v[j] for j, qid in enumerate(qids) if name in qid.attributes]
    loss = sum(losses) / len(losses)
    valid = all(a_v[j] >= qid.k for j, qid in enumerate(qids))
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
    masking: dict[str, dict[Raw, str]]  # per attribute of a QID: raw value → label
    records: list[Record]  # masked, in the order of the input
    cuts: Cuts


def most_masked(problem: Problem) -> Cuts:
    """Lines 1 and 2: one block for each attribute in ∪QID."""
    union = {name for qid in problem.qids for name in qid.attributes}
    return {a.name: (top(a),) for a in problem.attributes if a.name in union}


def tdr(problem: Problem) -> Result:
    cuts, steps = most_masked(problem), list[Step]()
    if any(size(problem.records) < qid.k for qid in problem.qids):
        raise ValueError("no masked table satisfies the anonymity requirement: |T| < k")
    while problem.steps is None or len(steps) < problem.steps:
        open_ = [c for c in candidates(problem, cuts) if c.valid and c.beneficial]
        if not open_:
            break
        best = first_best(open_, lambda c: c.score if problem.criterion == "score" else c.gain)
        into = tuple(block.label for block in best.children)
        steps.append(Step(best.attribute, best.block.label, into, *best[3:6]))
        cuts = refined(cuts, best.attribute, best.block, best.children)
    return Result(steps, masking(problem, cuts), mask(problem.records, cuts), cuts)
