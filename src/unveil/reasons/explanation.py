"""An explanation: why a release is as coarse as it is. Counted on raw rows, so it is private to the owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unveil import html
from unveil.errors import count_text, listed
from unveil.reasons.pieces import Fewest
from unveil.reasons.prices import Bought, Price
from unveil.reasons.spending import Spending
from unveil.reasons.stops import Break, Cut, Stop
from unveil.schema import SUPPRESSED, Spec

REFINED = {"generalization": "labels", "suppression": "values", "discretization": "intervals"}
"""What the blocks of an attribute are called."""
REASONS = {
    "unveiled": "as fine as can be",
    "unheld": "no record holds it",
    "pure": "all its {:,} records are of one class, so nothing is gained",
    "noise": "its parts would say less about the class than chance could",
}
"""Why a block was not refined, by the number of its records."""


@dataclass(frozen=True)
class Passage:
    """Some lines of an explanation, under a heading where they have one."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a search stopped where it did, and what relaxing its requirements would buy."""

    spec: Spec
    steps: int | None
    """How many refinements were made; None where the release is drawn."""
    requirements: tuple[str, ...]
    """The requirements, in the order by which reasons number them."""
    cuts: tuple[Cut, ...]
    """For refinement: the masked attributes and what prevents refining them."""
    spending: Spending | None
    """For differential privacy: where the budget went."""
    prices: tuple[Price, ...]
    """What relaxing would buy; what buys most comes first."""
    unpriced: tuple[str, ...]
    """What was not relaxed or not measured, and why."""
    protocol: str | None
    """How the accuracies of the prices were measured; None without prices."""
    notes: tuple[str, ...]
    """What a reader must know about the reasons."""
    bought: Bought | None = None
    """What the records left out buy, if some may be."""

    def passages(self, *, every: bool = False) -> list[Passage]:
        """The explanation in lines, with the reason of `every` block or only of every attribute."""
        found = [Passage("", tuple(self._first()))]
        if self.cuts:
            found.append(Passage("Why no attribute is finer", tuple(_cut_lines(self.cuts, every=every))))
        unpriced = tuple(f"Not priced: {line}" for line in self.unpriced)
        if self.prices:
            prices = (f"  {price.sentence()}" for price in self.prices)
            measured = f"Accuracy on the same test rows, {self.protocol}; intervals of 95%."
            found.append(Passage("What relaxing one number would buy", (*prices, measured, *unpriced)))
        elif unpriced:
            found[-1] = Passage(found[-1].heading, (*found[-1].lines, *unpriced))
        return found

    def _first(self) -> Iterator[str]:
        if self.steps is not None:
            yield f"{self.spec.origin}: the search ends after {count_text(self.steps, 'refinement')}."
            for number, sentence in enumerate(self.requirements, start=1):
                yield f"Requirement {number}: {sentence}"
            if self.bought is not None:
                yield self.bought.sentence()
        elif self.spending is not None:
            source = f"{self.spending.draws} draws from seeds" if self.spending.seeded else "the release"
            yield f"{self.spec.origin}: where the budget of ε = {float(self.spending.epsilon):g} goes, by {source}."
            yield from (f"  {sentence}" for sentence in self.spending.sentences())

    def __repr__(self) -> str:
        parts = ["\n".join(filter(None, (part.heading, *part.lines))) for part in self.passages()]
        return "\n\n".join([*parts, "\n".join(self.notes)])

    def _repr_html_(self) -> str:
        """The same for notebooks; private as the table is."""
        parts = []
        for part in self.passages():
            parts += [html.heading(part.heading)] if part.heading else []
            parts += [html.paragraph(line.strip()) for line in part.lines]
        return html.page_part(*parts, *(html.paragraph(note, stripe=html.BAD) for note in self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "spec": self.spec.origin,
            "steps": self.steps,
            "requirements": list(self.requirements),
            "left-out": None if self.bought is None else self.bought.to_dict(),
            "attributes": [{**cut.to_dict(), "sentence": summary(cut)} for cut in self.cuts],
            "spending": None if self.spending is None else self.spending.to_dict(),
            "prices": [price.to_dict() for price in self.prices],
            "unpriced": list(self.unpriced),
            "protocol": self.protocol,
            "notes": list(self.notes),
        }


def _cut_lines(cuts: Sequence[Cut], *, every: bool) -> Iterator[str]:
    for cut in cuts:
        yield f"  {summary(cut)}"
        for stop in cut.stops if every else ():
            yield f"    {reason(stop)}"


def summary(cut: Cut) -> str:
    """Why an attribute is not finer, in one sentence: what prevents it, and what is nearest to valid."""
    counts: Counter[str] = Counter(stop.why for stop in cut.stops)
    clauses = [_against(cut)] if cut.invalid else []
    clauses += [
        f"{counts[why]} {words}"
        for why, words in (
            ("pure", "of one class only, so nothing is gained"),
            ("noise", "whose parts would say less about the class than chance could"),
            ("unveiled", "as fine as can be"),
            ("unheld", "held by no record"),
        )
        if counts[why]
    ]
    if set(counts) <= {"unveiled", "unheld"}:
        clauses = ["as fine as can be"]
    return f"{cut.attribute}, {_blocks(cut)}: {'; '.join(clauses)}."


def reason(stop: Stop) -> str:
    """Why a block was not refined."""
    if stop.why == "invalid":
        return f"{_step(stop)}: {_breaks(stop.breaks)}."
    return f"{stop.block}: {REASONS[stop.why].format(stop.records)}."


def _blocks(cut: Cut) -> str:
    blocks = "1 block" if cut.blocks == 1 else f"{cut.blocks:,} {REFINED[cut.masking]}"
    if cut.groups is not None:
        return f"{blocks} in {count_text(cut.groups, 'group')}"
    return f"{blocks} with {listed(cut.hidden, 5)} behind {SUPPRESSED}" if cut.hidden else blocks


def _against(cut: Cut) -> str:
    """Which requirements prevent refining it, and the way that is nearest to valid."""
    ways = len(cut.invalid)
    what = "group" if cut.groups is not None else "hidden value" if cut.masking == "suppression" else "block"
    which = " and ".join(
        f"requirement {number}" + ("" if count == ways else f" ({count:,})") for number, count in cut.against.items()
    )
    several = cut.blocks > 1 or (cut.groups or 0) > 1
    many = f"{ways:,} {what}s " if ways > 1 else f"1 {what} " if several else ""
    held = f"{many}held back by {which or 'rounding at a bound'}"
    nearest = cut.invalid[0]
    farthest = sorted(nearest.breaks, key=lambda item: -item.share)[:1]
    clause = f"{held}; {'nearest is ' if ways > 1 else ''}{_step(nearest)}: {_breaks(farthest)}"
    costs = [
        (_few(stop.fewest), _step(replace(stop, into=stop.fewest.into)), stop.fewest.leave_out)
        for stop in cut.invalid
        if stop.fewest is not None
    ]
    if not costs:
        return clause
    (count, unit), step, share = min(costs)
    many = f" (and {count_text(len(costs) - 1, f'other {what}')} theirs)" if len(costs) > 1 else ""
    price = f"{count_text(count, unit)} in groups that fall short cost you {step}{many}"
    return f'{clause}; {price}: leave-out = "{share}" would cover {"it" if count == 1 and unit == "record" else "them"}'


def _few(fewest: Fewest) -> tuple[int, str]:
    """How many records keep a block from being refined, or persons if they are counted."""
    return (fewest.records, "record") if fewest.persons is None else (fewest.persons, "person")


def _step(stop: Stop) -> str:
    if stop.block == SUPPRESSED:
        return f"to disclose {', '.join(label for label in stop.into if label != SUPPRESSED)}"
    return f"{stop.block} → {', '.join(stop.into)}"


def _breaks(breaks: Sequence[Break]) -> str:
    return "; and ".join(item.sentence() for item in breaks) or "ruled out by rounding at a bound"
