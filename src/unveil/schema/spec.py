"""The spec: what the owner says about a table and about its release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from unveil import html
from unveil.errors import SpecError, count_text
from unveil.schema.attributes import REFUSED, Attribute, Missing
from unveil.schema.derivations import Derivation
from unveil.schema.descriptions import inherited, needed, read_attribute, read_class, read_missing
from unveil.schema.files import Query, check_query, read_toml, source_of
from unveil.schema.grid import fraction
from unveil.schema.privacy import Plan, check_dropped, check_public, read_plan
from unveil.schema.requirements import Requirement
from unveil.schema.sections import (
    Criterion,
    DifferentialPrivacySection,
    Goal,
    LeftOut,
    Recoding,
    SearchName,
    SpecSections,
    TableSection,
    check_derived,
    check_history,
    check_kinds,
    check_person,
    check_readable,
    check_requirements,
)
from unveil.schema.sentences import read_sections
from unveil.schema.steering import check_steering, recoding_of, rounded_down, search_of, share_of
from unveil.schema.weights import settled_weights

Bounds = Literal["round", "observed"]


@dataclass(frozen=True)
class TableSpec:
    """Where the rows come from and which column is which."""

    class_: str
    source: str | None = None
    query: str | None = None
    name: str | None = None
    """The name of the table in the owner's ledger if it has no path."""
    class_values: tuple[str, ...] | None = None
    class_derive: Derivation | None = None
    """What the class is derived from, if the table does not have it."""
    missing: Missing = REFUSED
    class_missing: Missing = REFUSED
    """The policy for a missing class; kinds that are kept are among its labels."""
    invalid: Literal["drop", "refuse"] = "refuse"
    """For differential privacy: what happens to a row with a value outside its domain, or that cannot be read."""
    others: Literal["refuse", "drop", "release"] = "refuse"
    budget: Fraction | None = None
    """The total ε of all differentially private releases of this table."""
    weight: str | None = None
    person: tuple[str, ...] = ()
    """The columns that say whose row it is, never released; without any, each record is its own person."""
    title: str | None = None
    """What the table is called, who answers for the release, and its date: for readers of the release."""
    owner: str | None = None
    date: str | None = None

    @property
    def drops_invalid(self) -> bool:
        """Whether rows are read one by one and invalid ones dropped."""
        return self.invalid == "drop"


@dataclass(frozen=True)
class Spec:
    """A checked spec: taxonomies are read, names are known, and there are no contradictions."""

    table: TableSpec
    attributes: dict[str, Attribute]
    requirements: tuple[Requirement, ...]
    search: SearchName = "joint"
    recoding: Recoding = "local"
    """Whether the joint search refines a block everywhere, or in each group by itself."""
    leave_out: Fraction = Fraction(0)
    """The share of the records, or persons, that the joint search may leave out; rounded down to what a spec says."""
    left_out: LeftOut = "drop"
    """What happens to them: they are dropped, or released fully masked."""
    goal: Goal = "class"
    """What the joint search keeps information about."""
    criterion: Criterion = "score"
    """What ranks refinements; `score` is the default of either search."""
    bounds: Bounds = "round"
    """Where a split between two values is published: at a round number between them, or at the upper one."""
    history: Path | None = None
    """The private folder that says whom each release shows and how, so that later ones keep their promise with it."""
    margin: int = 0
    """How many more than k a group must have, on average over releases: the number is drawn anew and kept secret."""
    surplus: int | None = None
    """That number for one release; None before it is drawn. Never in a file."""
    learn: Fraction = Fraction(0)
    """The share of the rows, or of the persons, that only choose the masking and are not released."""
    secret: bytes | None = None
    """What says which rows these are in one release; None before it is drawn. Never in a file."""
    plan: Plan | None = None
    """For differential privacy: how the budget is spent. None means refinement."""
    draft: bool = False
    """Whether nobody has read it yet: it was drafted from the data, so nothing is published by it."""
    origin: str = "spec"
    folder: Path = field(default_factory=Path)
    is_file: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "leave_out", rounded_down(self.leave_out))

    @property
    def source_path(self) -> Path:
        """The table's file or folder, or the database to query."""
        if self.table.source is None:
            raise SpecError(f"{self.origin}: [table] names no source, and no table was given.")
        return self.folder / self.table.source

    @property
    def source(self) -> Path | Query:
        """Where the rows come from."""
        return source_of(self.source_path, self.table.query, by_row=self.plan is not None)

    @property
    def derived(self) -> dict[str, Derivation]:
        """The columns that the table does not have: how each is derived."""
        derived = {name: item.derive for name, item in self.attributes.items() if item.derive is not None}
        class_ = self.table.class_derive
        return derived if class_ is None else {**derived, self.table.class_: class_}

    @property
    def unread(self) -> frozenset[str]:
        """The columns that others are derived from and that have no other use, so that they are not released."""
        used = {*self.attributes, self.table.class_, self.table.weight, *self.table.person}
        return frozenset(item.from_ for item in self.derived.values()) - used

    @property
    def released(self) -> tuple[Attribute, ...]:
        """The attributes that a release shows, in the order of the spec."""
        return tuple(attribute for attribute in self.attributes.values() if attribute.shown)

    @property
    def survey_weight(self) -> Attribute | None:
        """The attribute that says how many people of the population a record represents, released or not."""
        return next((item for item in self.attributes.values() if item.weighting is not None), None)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that every row needs and that are not released: whose it is, and its survey weight."""
        weight = self.survey_weight
        hidden = () if weight is None or weight.shown or self.plan is not None else (weight.name,)
        return tuple(dict.fromkeys((*self.table.person, *hidden)))

    @property
    def masked(self) -> frozenset[str]:
        """The attributes that are masked: those in some requirement, ∪QID, or all for differential privacy."""
        if self.plan is not None:
            return frozenset(attribute.name for attribute in self.released)
        return frozenset(name for requirement in self.requirements for name in requirement.attributes)

    @property
    def as_is(self) -> tuple[str, ...]:
        """The attributes that no requirement protects: not masked, and not sensitive."""
        aside = {requirement.sensitive for requirement in self.requirements}
        aside |= {item.name for item in self.released if item.weighting is not None and item.weighting.groups}
        return tuple(item.name for item in self.released if item.name not in self.masked | aside)

    @property
    def promises(self) -> tuple[str, ...]:
        """What a release by this spec will promise, in sentences."""
        if self.plan is not None:
            return (self.plan.sentence(weighted=self.table.weight is not None),)
        return tuple(requirement.sentence() for requirement in self.requirements)

    def missing_of(self, name: str) -> Missing:
        """The policy for missing values of a column. A row without a weight cannot be kept."""
        if name == self.table.class_:
            return self.table.class_missing
        if name in self.attributes and self.attributes[name].role != "identifier":
            return self.attributes[name].missing
        return needed(self.table.missing, self.table.invalid)

    def __repr__(self) -> str:
        known = f"{count_text(len(self.released), 'attribute')}, class {self.table.class_!r}"
        return f"Spec({self.origin}: {known}: {' '.join(self.promises)})"

    def _repr_html_(self) -> str:
        """The requirements and the columns, for notebooks."""
        rows = ((item.name, *_use(item, self.masked)) for item in self.attributes.values())
        return html.page_part(
            html.paragraph(f"{self.origin}, to predict {self.table.class_}"),
            *(html.paragraph(sentence, stripe=html.PLAIN) for sentence in self.promises),
            html.table(("attribute", "masked by", "domain"), rows),
        )


def _use(attribute: Attribute, masked: frozenset[str]) -> tuple[str, str]:
    """How an attribute is released, and where its domain comes from."""
    if attribute.role == "identifier":
        return "never released", ""
    if attribute.weighting is not None:
        return f"survey weight, released: {attribute.weighting.release}", ""
    use = attribute.masking if attribute.name in masked else "released as it is"
    return use, "declared" if attribute.declared else "observed"


SpecLike = str | Path | Mapping[str, Any] | Spec
"""The path of a spec file, a mapping of the same shape, or a spec."""


def load_spec(
    source: SpecLike,
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda content: content,
) -> Spec:
    """Reads a spec from a TOML file, or checks one given as a mapping of the same shape.

    Args:
        source: A path, a mapping, or a `Spec`, which is returned unchanged.
        change: Changes the content before it is checked, so that values set by a caller are checked like those of the
            file, and messages still name the file.
    """
    if isinstance(source, Spec):
        return source
    if isinstance(source, Mapping):
        return _resolve(read_sections(change(source), "spec"), "spec", None)
    if not isinstance(source, str | Path):
        raise SpecError(
            f"a spec is a path, a mapping or a Spec, not a {type(source).__name__}; give it after the table."
        )
    path = Path(source)
    return spec_of(change(read_toml(path)), path)


def spec_of(content: Mapping[str, Any], path: Path) -> Spec:
    """Checks what a spec file at this path says, or would say if it were written. It may hold taxonomies themselves."""
    return _resolve(read_sections(content, path.name), path.name, path.parent)


def _resolve(sections: SpecSections, origin: str, parent: Path | None) -> Spec:
    """Reads taxonomies and checks the rules between sections."""
    folder = parent or Path()
    table, publish = sections.table, sections.publish
    check_query(table.source, table.query, origin)
    described = dict(sections.attributes)
    policy = read_missing(table.missing, REFUSED, f"{origin}: [table]")
    class_policy = needed(inherited(table.class_, described, policy, origin), table.invalid)
    class_ = read_class(described.pop(table.class_, None), table.class_, origin, folder, class_policy)
    attributes = {
        name: read_attribute(name, section, origin, folder, inherited(name, described, policy, origin))
        for name, section in described.items()
    }
    _check_columns(sections, attributes, class_, origin)
    plan = read_plan(sections, origin)
    requirements = _requirements(sections, attributes, origin)
    attributes = settled_weights(attributes, requirements, sections, origin)
    _check_method(sections, plan, attributes, requirements, class_, origin)
    return Spec(
        table=_table_spec(table, class_, policy, origin),
        attributes=attributes,
        requirements=requirements,
        search=search_of(publish),
        recoding=recoding_of(publish),
        leave_out=share_of(publish, "leave-out", origin),
        left_out=publish.left_out or "drop",
        goal=publish.goal,
        criterion=publish.criterion or "score",
        bounds=publish.bounds,
        history=None if publish.history is None else folder / publish.history,
        margin=publish.margin or 0,
        learn=share_of(publish, "learn", origin),
        plan=plan,
        draft=sections.draft,
        origin=origin,
        folder=folder,
        is_file=parent is not None,
    )


def _check_columns(sections: SpecSections, attributes: Mapping[str, Attribute], class_: Attribute, origin: str) -> None:
    """Columns can be read, have one meaning each, and some of them are protected."""
    table, publish = sections.table, sections.publish
    named = [attribute for attribute in attributes.values() if attribute.role != "identifier"]
    check_readable(named, class_, table.weight, origin)
    if table.weight is not None and (table.weight in attributes or table.weight == table.class_):
        raise SpecError(f"{origin}: [table] weight names {table.weight!r}, which is described as another column.")
    check_derived({**attributes, class_.name: class_}, table.weight, origin)
    check_history(publish.history, publish.method, table.person or (), origin)
    check_person(table.person or (), table, attributes, origin)
    if not sections.require:
        raise SpecError(f"{origin}: there is no [[require]] section, so nothing would be protected.")


def _requirements(sections: SpecSections, attributes: Mapping[str, Attribute], origin: str) -> tuple[Requirement, ...]:
    """What refinement must satisfy; of persons, if the table says who they are."""
    found = tuple(item for item in sections.require if not isinstance(item, DifferentialPrivacySection))
    check_requirements(found, attributes, sections.table.class_, origin)
    return tuple(requirement.of_persons() for requirement in found) if sections.table.person else found


def _check_method(
    sections: SpecSections,
    plan: Plan | None,
    attributes: Mapping[str, Attribute],
    requirements: Sequence[Requirement],
    class_: Attribute,
    origin: str,
) -> None:
    """What the method needs, and what it cannot work with."""
    table = sections.table
    kept = [attribute for attribute in attributes.values() if attribute.role == "attribute"]
    if plan is not None:
        check_public(plan, kept, class_, table.others, origin)
        check_dropped(table, [class_, *kept], origin)
        return
    check_steering(sections.publish, attributes, requirements, table.class_, origin)
    check_kinds(kept, {name for requirement in requirements for name in requirement.attributes}, origin)
    if table.budget is not None:
        raise SpecError(f"{origin}: [table] budget is what differential privacy may cost; it needs a private method.")
    if table.invalid == "drop":
        raise SpecError(
            f"{origin}: [table] invalid = 'drop' is for differential privacy; refinement refuses such rows."
        )
    if clamped := [attribute.name for attribute in kept if attribute.outside == "clamp"]:
        raise SpecError(
            f"{origin}: [attributes.{clamped[0]}] outside = 'clamp' would release values that are not true."
        )


def _table_spec(table: TableSection, class_: Attribute, policy: Missing, origin: str) -> TableSpec:
    return TableSpec(
        class_=table.class_,
        source=table.source,
        query=table.query,
        name=table.name,
        class_values=class_.values,
        class_derive=class_.derive,
        missing=policy,
        class_missing=class_.missing,
        invalid=table.invalid,
        others=table.others,
        budget=_budget(table.budget, origin),
        weight=table.weight,
        person=table.person or (),
        title=table.title,
        owner=table.owner,
        date=table.date,
    )


def _budget(amount: float | None, origin: str) -> Fraction | None:
    if amount is None:
        return None
    if not (math.isfinite(amount) and amount > 0):
        raise SpecError(f"{origin}: [table] budget is {amount}, but it must be above 0 and finite.")
    return fraction(amount)
