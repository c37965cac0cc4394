"""An explanation against brute force: every reason recounted on the masked table by plain group-bys."""

from dataclasses import replace
from fractions import Fraction
from math import exp, isclose

from oracles.blocks import Block, Bottom, Cuts, mask
from oracles.problem import (
    QID,
    Closeness,
    Diversity,
    Group,
    Headcount,
    Likeness,
    Problem,
    Record,
    Requirement,
    Spread,
    Template,
    equal_distance,
    ordered_distance,
    shares,
    tally,
)
from oracles.tdr import assess, held, refined, refinements, size, tdr
from unveil import Explanation
from unveil.reasons import Break, Cut, Stop
from unveil.schema import Template as OurTemplate
from unveil.schema.requirements import Atom, BetaLikeness, KAnonymity, KEAnonymity, LDiversity, TCloseness

ROUNDING = Fraction(1, 10**9)
"""How far a gain, a float, may pass its bound."""


def confirm(problem: Problem, explanation: Explanation) -> None:
    """Every block has its reason, every reason is true, and relaxed to what it reports it is none any more."""
    result = tdr(problem)
    assert explanation.steps == len(result.steps)
    assert [cut.attribute for cut in explanation.cuts] == list(result.cuts)
    for cut in explanation.cuts:
        confirm_cut(problem, result.cuts, cut)


def confirm_cut(problem: Problem, cuts: Cuts, cut: Cut) -> None:
    name = cut.attribute
    stops = {(stop.block, stop.into): stop for stop in cut.stops}
    assert len(stops) == len(cut.stops)
    blocks = [block for block in cuts[name] if not (isinstance(block, Bottom) and not block.sup)]
    assert cut.blocks == len(blocks)
    for block in blocks:
        records = held(problem.records, name, block)
        ways = refinements(problem.records, name, block)
        if ways and len({record.cls for record in records}) > 1:
            for children in ways:
                stop = stops.pop((block.label, tuple(child.label for child in children)))
                assert stop.records == size(records)
                confirm_invalid(problem, cuts, name, block, children, stop)
            if isinstance(block, Bottom):
                assert set(cut.hidden) == {children[0].label for children in ways}
        else:
            stop = stops.pop((block.label, ()))
            assert stop.why == ("unheld" if not records else "pure" if ways else "unveiled")
            assert stop.breaks == ()
    assert not stops


def confirm_invalid(
    problem: Problem, cuts: Cuts, name: str, block: Block, children: tuple[Block, ...], stop: Stop
) -> None:
    assert stop.why == "invalid"
    assert not assess(problem, cuts, name, block, children).valid
    table = mask(problem.records, refined(cuts, name, block, children))
    breaks = {item.atom: item for item in stop.breaks}
    assert len(breaks) == len(stop.breaks)
    for requirement in problem.requirements:
        held_by = members(table, requirement)
        values = problem.sensitive[requirement.sensitive] if requirement.sensitive else ()
        groups = {key: tally(records, requirement, values) for key, records in held_by.items()}
        whole = added(groups.values())
        broken = [group for group in groups.values() if not requirement.holds(level(requirement, group, whole))]
        found = next((item for atom, item in breaks.items() if same(atom, requirement)), None)
        assert (found is None) == (not broken)
        if found is not None:
            worst = min(level(requirement, group, whole) for group in broken)
            confirm_break(found, requirement, groups, whole, float(worst), len(broken))
            assert found.records == size(held_by[tuple(found.group[name] for name in requirement.attributes)])
    assert all(any(same(atom, requirement) for requirement in problem.requirements) for atom in breaks)
    assert assess(relaxed(problem, stop), cuts, name, block, children).valid


def confirm_break(
    found: Break,
    requirement: Requirement,
    groups: dict[tuple[str, ...], Group],
    whole: Group,
    worst: float,
    broken: int,
) -> None:
    assert set(found.group) == set(requirement.attributes)
    named = groups[tuple(found.group[name] for name in requirement.attributes)]
    assert isclose(float(level(requirement, named, whole)), worst, abs_tol=1e-9)
    assert isclose(found.level, float(unit(requirement, named, whole)), abs_tol=1e-9)
    assert isclose(found.bound, bound(requirement), abs_tol=1e-12)
    assert found.broken == broken
    assert found.pieces >= broken
    assert found.short > 0


def relaxed(problem: Problem, stop: Stop) -> Problem:
    """The problem with the bounds of what would break lowered to what would be left, and not a bit further."""
    every = [
        next((lowered(requirement, item) for item in stop.breaks if same(item.atom, requirement)), requirement)
        for requirement in problem.requirements
    ]
    return replace(
        problem,
        qids=[item for item in every if isinstance(item, QID | Headcount)],
        inferences=[item for item in every if not isinstance(item, QID | Headcount)],
    )


def lowered(requirement: Requirement, item: Break) -> Requirement:
    match requirement:
        case QID() | Headcount():
            return requirement._replace(k=int(item.level))
        case Template():
            return replace(requirement, limit=Fraction(round(item.level * item.records), item.records))
        case Diversity():
            return replace(requirement, l=item.level)
        case Closeness():
            return replace(requirement, t=item.level)
        case Likeness():
            return replace(requirement, beta=Fraction(item.level) + ROUNDING)
        case Spread():
            return replace(requirement, e=str(item.level))


def members(table: list[Record], requirement: Requirement) -> dict[tuple[str, ...], list[Record]]:
    """The records of each group."""
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in table:
        found.setdefault(tuple(str(record.values[name]) for name in requirement.attributes), []).append(record)
    return found


def added(groups) -> Group:
    groups = list(groups)
    return {value: sum(group[value] for group in groups) for value in groups[0]}


def level(requirement: Requirement, group: Group, whole: Group):
    """The level of one group; a distance is to the whole table."""
    if isinstance(requirement, Likeness):
        p, q = shares(group), shares(whole)
        return -max(share / other - 1 for share, other in zip(p, q, strict=True) if other)
    if not isinstance(requirement, Closeness):
        return requirement.level([group])
    somewhere = [value for value, count in whole.items() if count]
    p, q = (shares({value: counts[value] for value in somewhere}) for counts in (group, whole))
    return -(equal_distance(p, q) if requirement.distance == "equal" else ordered_distance(p, q))


def unit(requirement: Requirement, group: Group, whole: Group) -> float:
    """The level as a reader counts it."""

    found = level(requirement, group, whole)
    if isinstance(requirement, Template | Closeness | Likeness):
        return -float(found)
    entropy = isinstance(requirement, Diversity) and requirement.variant == "entropy"
    return exp(float(found)) if entropy else float(found)


def bound(requirement: Requirement) -> float:
    match requirement:
        case QID(k=k) | Headcount(k=k):
            return k
        case Template(limit=limit):
            return float(Fraction(limit))
        case Diversity(l=least):
            return least
        case Closeness(t=t):
            return t
        case Likeness(beta=beta):
            return float(Fraction(beta))
        case Spread(e=e):
            return float(e)


def same(atom: Atom, requirement: Requirement) -> bool:
    """Whether a requirement of the explanation is this one of the problem."""
    if tuple(atom.attributes) != tuple(requirement.attributes) or atom.sensitive != requirement.sensitive:
        return False
    match atom, requirement:
        case KAnonymity(k=k), QID() | Headcount():
            return k == requirement.k
        case OurTemplate(value=value, limit=limit), Template():
            return value == requirement.value and limit == float(requirement.limit)
        case LDiversity(l=least, variant=variant), Diversity():
            return (least, variant) == (requirement.l, requirement.variant)
        case TCloseness(t=t, distance=distance), Closeness():
            return (t, distance) == (requirement.t, requirement.distance)
        case BetaLikeness(beta=beta), Likeness():
            return beta == float(requirement.beta)
        case KEAnonymity(k=k, e=e), Spread():
            return (k, e) == (requirement.k, float(requirement.e))
    return False
