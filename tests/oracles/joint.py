"""The joint search by brute force, from its definition (docs/decisions 0049, 0050, 0054 and 0073), in plain Python.

Boxes are lists of records, and every candidate splits them anew. Nothing is counted ahead, sampled or kept as a sum.
Shares no code with the package.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, pairwise
from math import floor, inf, log, log2, sqrt
from typing import Literal, NamedTuple, TypeAlias

from .blocks import Bottom, Disclosed, Interval, Node, top
from .problem import (
    QID,
    Attribute,
    Closeness,
    Discretized,
    Diversity,
    Generalized,
    Headcount,
    Likeness,
    Problem,
    Raw,
    Record,
    Requirement,
    Spread,
    Suppressed,
    Template,
    tally,
)
from .tdr import without_redundant

POINTS = 12
WIDTH = 4


@dataclass(frozen=True)
class Other:
    """What is left of a node after some of its children were peeled."""

    node: Node
    peeled: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.node.label}, other"

    def holds(self, raw: Raw) -> bool:
        return self.node.holds(raw) and not any(c.holds(raw) for c in self.node.children if c.label in self.peeled)


Block: TypeAlias = Node | Other | Interval | Bottom | Disclosed


@dataclass(frozen=True)
class Steering:
    """What the owner asks for: what to keep information about, and how fine attributes must or may be."""

    goal: Literal["class", "statistics"] | tuple[str, ...] = "class"
    per_anonymity: bool = False
    """Whether gains are divided by the anonymity lost."""
    weights: Mapping[str, float] = field(default_factory=dict)
    keep: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)
    """The cut at which the search starts."""
    finest: Mapping[str, tuple[str, ...] | float] = field(default_factory=dict)
    """The labels of a cut, or the step of a number."""

    def targets(self, record: Record) -> tuple[Raw, ...]:
        """What the search keeps information about, in one record."""
        if self.goal == "class":
            return (record.cls,)
        return tuple(record.values[name] for name in self.goal) if isinstance(self.goal, tuple) else ()

    def allows(self, name: str, left: float, right: float) -> bool:
        """Whether a number may be cut between two neighbouring values."""
        step = self.finest.get(name)
        return not isinstance(step, float) or right // step > left // step


def roundest(left: float, right: float, step: float) -> float:
    """Of the multiples of a step above one whole number and below the next, that with the most zeros; else the next."""
    between = [n * step for n in range(floor(left / step) + 1, floor(right / step) + 1) if n * step < right]
    zeros = {at: 99 if at == 0 else len(str(int(abs(at)))) - len(str(int(abs(at))).rstrip("0")) for at in between}
    return min(between, key=lambda at: (-zeros[at], abs(2 * at - left - right), at), default=right)


UNSTEERED = Steering()


class UnsatisfiedError(Exception):
    """A requirement does not hold for what the owner keeps."""


class Candidate(NamedTuple):
    """One way to refine a block, and its place in the order that breaks ties."""

    slot: float
    children: tuple[Block, ...]


@dataclass(eq=False)
class Box:
    """A group: one block per attribute, and its records."""

    blocks: dict[str, Block]
    records: list[Record]
    age: int = 0
    spare: int = 0
    """How many of its records may be left out."""


class Weighed(NamedTuple):
    """What a split adds to the class information, by how many bits it splits, what its gain is divided by, and what it
    must add to pay, in steps."""

    gain: int
    bits: int
    cost: int
    price: int


class Step(NamedTuple):
    attribute: str
    refined: str
    into: tuple[str, ...]
    gain: float
    score: float
    group: dict[str, str] | None


@dataclass
class Result:
    steps: list[Step]
    boxes: dict[tuple[str, ...], list[Box]]
    """The groups of each set of attributes."""

    def label(self, record: Record, name: str) -> str:
        """The label of a record: its group's."""
        (label,) = {
            box.blocks[name].label
            for names, boxes in self.boxes.items()
            if name in names
            for box in boxes
            if any(held is record for held in box.records)
        }
        return label


# ---- What a split is worth ----


def size(records: Iterable[Record]) -> int:
    return sum(record.weight for record in records)


def xlogx(x: int) -> float:
    return x * log2(x) if x else 0.0


def purity(records: Sequence[Record], steering: Steering) -> float:
    """Minus the entropy of the targets, in bits over the records."""
    total = 0.0
    for place in range(len(steering.targets(records[0])) if records else 0):
        freq: Counter[Raw] = Counter()
        for record in records:
            freq[steering.targets(record)[place]] += record.weight
        total += sum(map(xlogx, freq.values())) - xlogx(size(records))
    return total


def pieces_of(records: Sequence[Record], name: str, children: Sequence[Block]) -> list[list[Record]]:
    """The records of each child, where there are any."""
    every = [[record for record in records if child.holds(record.values[name])] for child in children]
    assert sum(map(len, every)) == len(records)
    return [piece for piece in every if piece]


def mixed(records: Iterable[Record], steering: Steering) -> bool:
    return steering.goal == "statistics" or len({steering.targets(record) for record in records}) > 1


def entropy(name: str, records: Sequence[Record]) -> float:
    """The bits of a raw value, per record, to nine decimals."""
    freq: Counter[Raw] = Counter()
    for record in records:
        freq[record.values[name]] += record.weight
    return round(log2(size(records)) - sum(map(xlogx, freq.values())) / size(records), 9)


# ---- What a block may be refined into ----


def grid(attribute: Attribute, records: Sequence[Record], by_box: bool, steering: Steering) -> list[float]:
    """Where a number may be cut: at any of its values, or at the points of a greedy discretization.

    What is missing may always be told apart.
    """
    values = sorted({float(record.values[attribute.name]) for record in records})
    if not by_box:
        return [right for left, right in pairwise(values) if steering.allows(attribute.name, left, right)]
    parts, cuts = [values], list[float]()
    while len(cuts) < POINTS:
        best = max(
            ((*best_cut(attribute.name, part, records, steering), -number) for number, part in enumerate(parts)),
            default=None,
        )
        if best is None or best[0] <= 0:
            break
        _, minus_at, minus_number = best
        part = parts.pop(-minus_number)
        at = -minus_at
        parts[-minus_number:-minus_number] = [[v for v in part if v < at], [v for v in part if v >= at]]
        cuts.append(at)
    gone = {value for value in values[1:] if isinstance(attribute, Discretized) and value in attribute.missing}
    return sorted({*cuts, *gone})


def best_cut(name: str, values: Sequence[float], records: Sequence[Record], steering: Steering) -> tuple[int, float]:
    """The gain of the best cut of these values, in steps of 2^-20 bits, and minus the cut; the lowest of the best."""
    inside = [record for record in records if float(record.values[name]) in values]
    found = [(0, 0.0)]
    for left, at in pairwise(values):
        if steering.allows(name, left, at):
            pieces = [
                [record for record in inside if (float(record.values[name]) < at) == low] for low in (True, False)
            ]
            found.append((floor(gained(inside, pieces, steering) * 2**20 + 0.5), -at))
    return max(found)


def gained(records: Sequence[Record], pieces: Sequence[Sequence[Record]], steering: Steering) -> float:
    """What a split adds to the information about the targets; without any, the bits by which it splits."""
    if steering.goal == "statistics":
        return xlogx(size(records)) - sum(xlogx(size(piece)) for piece in pieces)
    return sum(purity(piece, steering) for piece in pieces) - purity(records, steering)


def refinements(
    block: Block, attribute: Attribute, records: Sequence[Record], cuts: Sequence[float], finest: Container[str]
) -> Iterator[Candidate]:
    """Every way to refine a block for these records, in the order that breaks ties."""
    name = attribute.name
    if isinstance(block, Interval):
        yield from (
            Candidate(at, (replace(block, hi=at), replace(block, lo=at))) for at in cuts if block.lo < at < block.hi
        )
    elif isinstance(block, Bottom):
        raws = {record.values[name] for record in records}
        shown = [value for value in block.sup if value in raws]
        rest = Bottom(tuple(value for value in block.sup if value not in shown))
        yield Candidate(0, (*map(Disclosed, shown), rest))
        assert isinstance(attribute, Suppressed)
        for value in shown:
            left = Bottom(tuple(other for other in block.sup if other != value))
            yield Candidate(1 + list(attribute.values).index(value), (Disclosed(value), left))
    elif isinstance(block, Node | Other):
        node, peeled = (block.node, block.peeled) if isinstance(block, Other) else (block, ())
        children = [child for child in node.children if child.label not in peeled and node.label not in finest]
        if children:
            yield Candidate(0, tuple(children))
        assert isinstance(attribute, Generalized)
        if f"{node.label}, other" not in labels(Node(attribute.tree)):
            for child in children:
                yield Candidate(1 + node.children.index(child), (child, Other(node, (*peeled, child.label))))


def least(requirement: Requirement) -> float:
    """The lowest level at which a requirement holds."""
    match requirement:
        case QID() | Headcount():
            return requirement.k
        case Template():
            return -float(Fraction(requirement.limit))
        case Diversity():
            return requirement.l if requirement.variant == "distinct" else log(requirement.l) - 1e-9
        case Closeness():
            return -requirement.t - 1e-9
        case Likeness():
            return -float(Fraction(requirement.beta)) - 1e-9
        case Spread():
            return float(Fraction(requirement.e))


def added(weighed: Sequence[Weighed]) -> Weighed:
    """The sums over several boxes."""
    return Weighed(*(sum(numbers) for numbers in zip(*weighed, strict=True)))


def labels(node: Node) -> set[str]:
    return {node.label}.union(*map(labels, node.children))


def position(block: Block, attribute: Attribute, problem: Problem) -> float:
    """Where a block begins in the order of its domain; a rest where its label begins."""
    if isinstance(block, Interval):
        return block.lo
    if isinstance(block, Bottom):
        return 0
    if isinstance(block, Disclosed):
        return list(attribute.values).index(block.label)  # type: ignore[union-attr]
    node = block.node if isinstance(block, Other) else block
    assert isinstance(attribute, Generalized)
    return Node(attribute.tree).leaves.index(node.leaves[0])


# ---- The search ----


@dataclass
class Local:
    """The split that a box would choose by itself."""

    rank: float
    """Below 0 if the split does not pay."""
    attribute: str
    candidate: Candidate
    gain: float
    cost: int


@dataclass
class Search:
    problem: Problem
    recoding: Literal["global", "local"]
    steering: Steering = Steering()
    boxes: dict[tuple[str, ...], list[Box]] = field(default_factory=dict)
    entered: int = 0

    def __post_init__(self) -> None:
        self.attributes = {attribute.name: attribute for attribute in self.problem.attributes}
        self.order = list(self.attributes)
        self.requirements = without_redundant(self.problem.requirements)
        sets = list(dict.fromkeys(self.named(r.attributes) for r in self.requirements))
        self.sharing = {name: sum(name in names for names in sets) for name in self.order}
        self.by_box = {name for name in self.order if self.recoding == "local" and self.sharing[name] == 1}
        total = size(self.problem.records)
        self.fine = 2.0 ** min(24, 56 - total.bit_length())
        numbers = [a for a in self.problem.attributes if isinstance(top(a), Interval)]
        records = self.problem.records
        self.cuts = {
            a.name: self.published(a.name, grid(a, records, a.name in self.by_box, self.steering)) for a in numbers
        }
        self.bits = {name: entropy(name, records) or 1.0 for name in self.order}
        marks = [self.steering.targets(record) for record in records]
        self.shares = sum(len(set(values)) - 1 for values in zip(*marks, strict=True))
        """How many shares say how the targets are distributed in a group."""
        self.endless = {names: self.ends_at_one(names) for names in sets}
        for names in sets:
            self.boxes[names] = [self.aged(box) for box in self.kept(names)]
            if not self.holds(names, [box.records for box in self.boxes[names]]):
                raise UnsatisfiedError

    def published(self, name: str, cuts: Sequence[float]) -> list[float]:
        """Where these cuts are published: at the roundest multiple of the step that the owner asks for, if any."""
        step = self.steering.finest.get(name)
        if not isinstance(step, float):
            return list(cuts)
        values = sorted({float(record.values[name]) for record in self.problem.records})
        return [roundest(max(value for value in values if value < at), at, step) for at in cuts]

    def kept(self, names: tuple[str, ...]) -> list[Box]:
        """The groups that the search starts with: everything masked, or what the owner keeps."""
        found = [Box({}, list(self.problem.records))]
        for name in names:
            cut = self.steering.keep.get(name, (top(self.attributes[name]),))
            found = [piece for box in found for piece in self.split(box, name, Candidate(0, cut))]
        return found

    def named(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=self.order.index))

    def aged(self, box: Box) -> Box:
        self.entered += 1
        box.age = self.entered
        return box

    # Whose records count

    def gaining(self, records: Sequence[Record]) -> Sequence[Record]:
        """Those whose gains count."""
        return records

    def shown(self, candidate: Candidate, boxes: Sequence[Box], name: str) -> tuple[str, ...]:
        """The labels of what a refinement of these boxes makes."""
        return tuple(child.label for child in candidate.children)

    def divides(self, holding: Sequence[tuple[tuple[str, ...], Box]], name: str, candidate: Candidate) -> bool:
        """Whether a candidate tells records of a group apart."""
        return any(len(pieces_of(box.records, name, candidate.children)) > 1 for _, box in holding)

    # Validity

    def holds(self, names: tuple[str, ...], pieces: Sequence[Sequence[Record]]) -> bool:
        """Whether the pieces of a group satisfy every requirement on these attributes.

        All other groups count as one: they satisfy the requirements already, so together they do.
        """
        inside = {id(record) for piece in pieces for record in piece}
        outside = [record for record in self.problem.records if id(record) not in inside]
        parts = [*pieces, *([outside] if outside else [])]
        mine = [r for r in self.requirements if self.named(r.attributes) == names]
        return all(r.holds(r.level([self.tally(r, part) for part in parts])) for r in mine)

    def tally(self, requirement: Requirement, records: Iterable[Record]) -> dict[str, int]:
        name = requirement.sensitive
        return tally(records, requirement, self.problem.sensitive[name] if name else ())

    def ends_at_one(self, names: tuple[str, ...]) -> bool:
        """Whether one record, with some value that occurs, could be a group: then only splits that pay are made."""
        by_sensitive: dict[str | None, list[Requirement]] = {}
        for requirement in self.requirements:
            if self.named(requirement.attributes) == names:
                by_sensitive.setdefault(requirement.sensitive, []).append(requirement)
        return all(
            any(all(self.holds_alone(r, record) for r in held) for record in self.problem.records)
            for held in by_sensitive.values()
        )

    def holds_alone(self, requirement: Requirement, record: Record) -> bool:
        """Whether one record would be a group that holds a requirement.

        What compares groups with the whole table is given the rest too, which is closer to the whole than one record.
        """
        one = self.tally(requirement, [replace(record, weight=1)])
        every = self.tally(requirement, self.problem.records)
        rest = {value: every[value] - one[value] for value in every}
        whole = isinstance(requirement, Closeness | Likeness) and any(rest.values())
        return requirement.holds(requirement.level([one, rest] if whole else [one]))

    def level(self, requirement: Requirement, records: Sequence[Record]) -> float:
        """How private a group is.

        What compares groups with the whole table is given so many tables that the others are as the whole.
        """
        one = self.tally(requirement, records)
        if not isinstance(requirement, Closeness | Likeness):
            return requirement.level([one])
        every = self.tally(requirement, self.problem.records)
        return requirement.level([one, {value: 10**6 * every[value] - one[value] for value in every}])

    def lost(self, names: tuple[str, ...], records: Sequence[Record], pieces: Sequence[Sequence[Record]]) -> float:
        """Which part of what a group has above the least level its least private piece lacks: the mean."""
        shares = []
        for requirement in self.requirements:
            if self.named(requirement.attributes) == names:
                before = self.level(requirement, records)
                after = min(before, *(self.level(requirement, piece) for piece in pieces))
                spare = float(before) - least(requirement)
                share = 0.0 if after == before else min(float(before - after) / spare, 1) if spare > 0 else 1.0
                shares.append(round(share, 6))
        return sum(shares) / len(shares)

    # Gains

    def weigh(self, names: tuple[str, ...], records: Sequence[Record], pieces: Sequence[Sequence[Record]]) -> Weighed:
        """What a split of a box is worth.

        Each piece more has its own shares of the targets; each share costs half a logarithm of the records.
        """
        records, pieces = self.gaining(records), [piece for piece in map(self.gaining, pieces) if piece]
        if not records:
            return Weighed(0, 0, 0, 0)
        gain = gained(records, pieces, self.steering)
        bits = xlogx(size(records)) - sum(xlogx(size(piece)) for piece in pieces)
        price = (len(pieces) - 1) * self.shares * log2(size(records)) / 2
        cost = self.lost(names, records, pieces) * size(records) if self.steering.per_anonymity else bits
        return Weighed(self.whole(gain), self.whole(bits), self.whole(cost), self.whole(price))

    def whole(self, bits: float) -> int:
        return max(floor(bits * self.fine + 0.5), 0)

    def worth(self, name: str, gain: int) -> float:
        """A gain in bits over the records, as much as the owner says it counts."""
        weight = self.steering.weights.get(name, 1.0)
        return gain / self.fine * (weight / self.bits[name] if self.steering.goal == "statistics" else weight)

    def ranked(self, name: str, weighed: Weighed, records: int, sharing: int = 1) -> tuple[float, float]:
        """What a candidate is worth, and its rank: below 0 if it does not pay, by what it tells about the attribute."""
        worth = self.worth(name, weighed.gain) / sharing
        if worth >= weighed.price / self.fine / sharing:
            return worth, self.rank(worth, weighed.cost, records)
        told = weighed.bits / self.fine * (self.steering.weights.get(name, 1.0) / self.bits[name]) / sharing
        return worth, -1 / self.rank(told, weighed.cost, records)

    def rank(self, gain: float, cost: int, records: int) -> float:
        each = max(cost / (max(records, 1) * self.fine), 0.01)
        return gain / (each if self.steering.per_anonymity else sqrt(each))

    def refinements(self, name: str, block: Block, records: Sequence[Record]) -> Iterator[Candidate]:
        finest = self.steering.finest.get(name, ())
        labels = finest if isinstance(finest, tuple) else ()
        return refinements(block, self.attributes[name], records, self.cuts.get(name, ()), labels)

    # One box by itself

    def options(self, names: tuple[str, ...], box: Box) -> list[Local]:
        """The best valid candidate of each attribute that is refined box by box."""
        best = []
        for name in names:
            found: Local | None = None
            if name not in self.by_box or not mixed(self.gaining(box.records), self.steering):
                continue
            for candidate in self.refinements(name, box.blocks[name], box.records):
                pieces = pieces_of(box.records, name, candidate.children)
                weighed = self.alone(names, box, name, candidate)
                if not self.splits(box, name, candidate, pieces) or weighed is None:
                    continue
                worth, rank = self.ranked(name, weighed, size(self.gaining(box.records)))
                if (rank >= 0 or not self.endless[names]) and (found is None or rank > found.rank):
                    found = Local(rank, name, candidate, worth, weighed.cost)
            if found is not None:
                best.append(found)
        return best

    def alone(self, names: tuple[str, ...], box: Box, name: str, candidate: Candidate) -> Weighed | None:
        """What a candidate is worth in a box; None if it is not valid."""
        pieces = pieces_of(box.records, name, candidate.children)
        return self.weigh(names, box.records, pieces) if self.holds(names, pieces) else None

    def splits(self, box: Box, name: str, candidate: Candidate, pieces: Sequence[Sequence[Record]]) -> bool:
        """Whether a candidate is one for this box: all parts at once, or something that tells records apart.

        Of several cuts that give the same pieces, it is the last one below the records on the right.
        """
        if not isinstance(box.blocks[name], Interval):
            return candidate.slot == 0 or len(pieces) > 1
        following = min((at for at in self.cuts[name] if at > candidate.slot), default=inf)
        raws = [float(record.values[name]) for record in box.records]
        return len(pieces) > 1 and any(candidate.slot <= raw < following for raw in raws)

    def choice(self, names: tuple[str, ...], box: Box) -> Local | None:
        """One step of lookahead: of the best few that pay, the one with the most to gain by it and by the next splits.

        If none pays there is nothing to look for, and the best is taken.
        """
        best = sorted(self.options(names, box), key=lambda option: -option.rank)[:WIDTH]
        scored = [(self.ahead(names, box, option), -number) for number, option in enumerate(best) if option.rank >= 0]
        return best[-max(scored)[1]] if scored else best[0] if best else None

    def ahead(self, names: tuple[str, ...], box: Box, option: Local) -> float:
        more, cost = 0.0, option.cost
        for piece in self.split(box, option.attribute, option.candidate):
            following = self.options(names, piece)
            if following:
                then = max(following, key=lambda one: one.rank)
                if then.rank >= 0:
                    more, cost = more + then.gain, cost + then.cost
        return self.rank(option.gain + more, cost, size(self.gaining(box.records)))

    def split(self, box: Box, name: str, candidate: Candidate) -> list[Box]:
        found = []
        for child in candidate.children:
            piece = [record for record in box.records if child.holds(record.values[name])]
            if piece:
                found.append(Box({**box.blocks, name: child}, piece))
        return found

    # Everywhere

    def everywhere(self) -> Iterator[tuple[float, str, float, Candidate, Block, float]]:
        """Every valid and beneficial candidate of the attributes that are refined in all boxes at once."""
        for name in self.order:
            if name in self.by_box or not self.sharing[name]:
                continue
            cut: list[Block] = []
            for names, boxes in self.boxes.items():
                cut += [box.blocks[name] for box in boxes if name in names and box.blocks[name] not in cut]
            for block in cut:
                yield from self.shared(name, block)

    def shared(self, name: str, block: Block) -> Iterator[tuple[float, str, float, Candidate, Block, float]]:
        holding = [
            (names, box)
            for names in self.boxes
            if name in names
            for box in self.boxes[names]
            if box.blocks[name] == block
        ]
        under = [record for _, box in holding for record in box.records]
        if not any(mixed(self.gaining(box.records), self.steering) for _, box in holding):
            return
        for candidate in self.refinements(name, block, under):
            weighed = self.together(holding, name, candidate)
            whole = candidate.slot == 0 and not isinstance(block, Interval)
            if weighed is not None and (self.divides(holding, name, candidate) or whole):
                records = sum(size(self.gaining(box.records)) for _, box in holding)
                worth, rank = self.ranked(name, weighed, records, self.sharing[name])
                place = position(block, self.attributes[name], self.problem)
                if rank >= 0 or not any(self.endless[names] for names in self.boxes if name in names):
                    yield -rank, name, place, candidate, block, worth

    def together(
        self, holding: Sequence[tuple[tuple[str, ...], Box]], name: str, candidate: Candidate
    ) -> Weighed | None:
        """What a candidate is worth in all boxes that hold its block together; None if it is not valid."""
        weighed = [self.alone(names, box, name, candidate) for names, box in holding]
        valid = [one for one in weighed if one is not None]
        return added(valid) if valid == weighed else None

    # The loop

    def steps(self) -> Iterator[Step]:
        while True:
            waiting = []
            for names, boxes in self.boxes.items():
                for box in boxes:
                    option = self.choice(names, box)
                    if option is not None:
                        block = box.blocks[option.attribute]
                        place = position(block, self.attributes[option.attribute], self.problem)
                        key = (-option.rank, self.order.index(option.attribute), place, option.candidate.slot, box.age)
                        waiting.append((key, names, box, option))
            shared = [
                ((rank, self.order.index(name), place, candidate.slot), name, candidate, block, gain)
                for rank, name, place, candidate, block, gain in self.everywhere()
            ]
            if not waiting and not shared:
                return
            one = min(waiting, key=lambda turn: turn[0], default=None)
            all_ = min(shared, key=lambda turn: turn[0], default=None)
            step = None
            if one is not None and (all_ is None or one[0][:4] < all_[0]):
                step = self.refine_box(*one[1:])
            elif all_ is not None:
                step = self.refine_everywhere(-all_[0][0], *all_[1:])
            if step is not None:
                yield step

    def refine_box(self, names: tuple[str, ...], box: Box, option: Local) -> Step | None:
        boxes = self.boxes[names]
        boxes.remove(box)
        boxes += [self.aged(piece) for piece in self.split(box, option.attribute, option.candidate)]
        group = {name: block.label for name, block in box.blocks.items()}
        into = self.shown(option.candidate, [box], option.attribute)
        refined = box.blocks[option.attribute].label
        return Step(option.attribute, refined, into, option.gain, option.rank, group)

    def refine_everywhere(self, rank: float, name: str, candidate: Candidate, block: Block, gain: float) -> Step | None:
        every = [box for names, boxes in self.boxes.items() if name in names for box in boxes]
        into = self.shown(candidate, [box for box in every if box.blocks[name] == block], name)
        for names, boxes in self.boxes.items():
            if name not in names:
                continue
            holding = sorted((box for box in boxes if box.blocks[name] == block), key=lambda box: box.age)
            pieces = [piece for box in holding for piece in self.split(box, name, candidate)]
            self.boxes[names] = [box for box in boxes if box not in holding] + [self.aged(piece) for piece in pieces]
        return Step(name, block.label, into, gain, rank, None)


def joint(problem: Problem, recoding: Literal["global", "local"], steering: Steering = UNSTEERED) -> Result:
    search = Search(problem, recoding, steering)
    steps = list(islice(search.steps(), problem.steps))
    return Result(steps, search.boxes)


def masked(problem: Problem, result: Result) -> list[Record]:
    """The masked table; an attribute in no requirement stays raw."""
    names = {name for held in result.boxes for name in held}
    return [
        replace(record, values={n: result.label(record, n) if n in names else v for n, v in record.values.items()})
        for record in problem.records
    ]
