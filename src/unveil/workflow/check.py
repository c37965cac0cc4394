"""Check: whether a spec fits its table, whether its requirements can hold, and what the raw table would give away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unveil import html
from unveil.counting import Engine
from unveil.counting.learning import parted
from unveil.counting.memory import MemoryEngine
from unveil.errors import count_text, rows_text
from unveil.evaluation.population import Population, population
from unveil.evaluation.risk import GroupRisk, InferenceRisk, group_risk, inference_risk, table_warnings
from unveil.progress import Watcher, unwatched
from unveil.publishers import make_guards, redundant_atoms, resolved_requirements, start_joint, tried
from unveil.schema import Atom, KAnonymity, Requirement, Spec, SpecLike, Template, load_spec, share_text
from unveil.tables import Outline, Table, Withheld, load_table
from unveil.workflow.succession import earlier_of, succeeding

ALONE = "The history plays no part in these figures: they are those of the table by itself."


@dataclass(frozen=True, repr=False)
class Fit:
    """The result of a check that passed: the spec fits its table, and a release exists."""

    spec: Spec
    table: Table
    requirements: tuple[Requirement, ...]
    groups: tuple[GroupRisk, ...]
    inferences: tuple[InferenceRisk, ...]
    warnings: tuple[str, ...] = ()
    """What may undo the promise, as far as the table shows."""

    @property
    def redundant(self) -> tuple[Atom, ...]:
        """Requirements that others imply."""
        return redundant_atoms(self.requirements)

    @property
    def as_is(self) -> tuple[str, ...]:
        """The columns that no requirement protects and that a release would show as they are."""
        return (*self.spec.as_is, *self.table.others.names)

    @property
    def observed(self) -> tuple[str, ...]:
        """Attributes whose domain nobody declared."""
        return tuple(item.name for item in self.spec.released if not item.declared)

    @property
    def summary(self) -> str:
        """That the spec fits, and what of the table can be released."""
        dropped = f", {rows_text(self.table.dropped)} left out" if self.table.dropped else ""
        records, persons = count_text(self.table.records, "record"), self.table.persons
        whose = "" if persons is None else f" of {count_text(persons.count, 'person')}"
        return f"{self.spec.origin} fits {self.table.origin}: {records}{whose} can be released{dropped}"

    @property
    def held_back(self) -> str | None:
        """How many people a release could not show together with earlier ones; None if it could show everybody."""
        if not self.table.withheld:
            return None
        return (
            f"{rows_text(self.table.withheld)} would be held back to keep the promise together with earlier releases."
        )

    @property
    def persons(self) -> str | None:
        """How many persons have several rows, and the most of one, if the table says whose row each is."""
        held = self.table.persons
        if held is None:
            return None
        every = count_text(held.count, "person")
        said = f"Each of {every} has one row."
        if held.several:
            said = f"{held.several:,} of {every} have several rows, {held.most:,} at most."
            said = " ".join([said, *bound_notes(self.spec, self.table)])
        if self.spec.leave_out:
            most, share = int(self.spec.leave_out * held.count), share_text(self.spec.leave_out)
            said += f" Records of at most {most:,} of them may be left out (leave-out = {share})."
        return said

    @property
    def population(self) -> Population | None:
        """Population estimates, if the table is a survey."""
        return population(self.spec, self.table)

    def __repr__(self) -> str:
        can = " ".join(requirement.sentence() for requirement in self.requirements)
        return f"Fit({self.summary}; can hold: {can})"

    def _repr_html_(self) -> str:
        """What can hold and what the raw table would give away, for notebooks; private as the table is."""
        risks = [
            (f"{{{', '.join(group.quasi_identifier)}}}", f"groups below {group.k:,}", group.small, group.people)
            for group in self.groups
        ]
        risks += [
            (f"{{{', '.join(risk.channel)}}} → {risk.sensitive}", f"above {risk.limit:.0%}", count, risk.people)
            for risk in self.inferences
            for count in (risk.above[risk.limit],)
        ]
        return html.page_part(
            html.paragraph(f"{self.summary}.", stripe=html.GOOD),
            *(html.paragraph(f"Can hold: {requirement.sentence()}") for requirement in self.requirements),
            *(html.paragraph(f"Warning: {warning}.", stripe=html.BAD) for warning in self.warnings),
            html.heading("What the raw table would give away"),
            html.table(("on", "what", "how many", "people"), risks),
        )


def alone_notes(spec: Spec) -> tuple[str, ...]:
    """What a verb leaves out that publishes some rows for the owner's figures: earlier releases."""
    return () if spec.history is None else (ALONE,)


def bound_notes(spec: Spec, table: Table) -> tuple[str, ...]:
    """What a bound on the rows of a person leaves out, for the owner; nothing if there is none."""
    most = None if spec.plan is None else spec.plan.contributions
    if most is None:
        return ()
    rows = "1 row of a person is" if most == 1 else f"{most:,} rows of a person are"
    used = f"With contributions = {most:,}, at most {rows} used"
    return (f"{used}, so {table.beyond(most):,} of {rows_text(table.rows)} are left out.",)


def check(table: Any, spec: SpecLike | None = None, *, progress: Watcher = unwatched) -> Fit:
    """Reads spec and table; raises the error that `publish` would raise.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table. Or a spec file, which names its
            own table.
        spec: The spec: a path to a TOML file, a mapping of the same shape, or a `Spec`.
        progress: Called as the work is done.
    """
    checked = load_spec(table if spec is None else spec)
    source = None if spec is None else table
    opened, engine = _opened(checked, source, progress)
    fit = fit_of(checked, opened, progress, engine)
    return replace(fit, warnings=tuple(table_warnings(checked, fit.table, fit.as_is, source)))


def _opened(spec: Spec, source: Any, progress: Watcher) -> tuple[Table, MemoryEngine]:
    """The table without those who would be held back because of earlier releases, and what counts it."""

    def opened(withheld: Withheld | None = None) -> tuple[Table, MemoryEngine]:
        table = load_table(spec, source, progress, withheld)
        return table, MemoryEngine(table)

    earlier = earlier_of(spec, None)
    return opened() if earlier is None else succeeding(spec, earlier, opened)


def fit_of(spec: Spec, table: Table, progress: Watcher = unwatched, engine: MemoryEngine | None = None) -> Fit:
    """Checks a table that was read already."""
    requirements = resolved_requirements(table, spec)
    released: tuple[Outline, Engine] = table, engine or MemoryEngine(table)
    if spec.learn:
        released = parted(tried(spec), released[1])[:2]
    if spec.plan is None and spec.search == "joint":
        start_joint(released[0], spec, released[1], progress)
    else:
        make_guards(released[0], spec, requirements, released[1], progress)
    progress("counting risks", 0, None)
    return Fit(spec, table, requirements, _groups(table, requirements), _inferences(table, requirements))


def _groups(table: Table, requirements: tuple[Requirement, ...]) -> tuple[GroupRisk, ...]:
    atoms = [atom for requirement in requirements for atom in requirement.atoms()]
    return tuple(group_risk(table, atom.attributes, atom.k) for atom in atoms if isinstance(atom, KAnonymity))


def _inferences(table: Table, requirements: tuple[Requirement, ...]) -> tuple[InferenceRisk, ...]:
    limited = [[atom for atom in item.atoms() if isinstance(atom, Template)] for item in requirements]
    return tuple(
        inference_risk(
            table, some[0].channel, some[0].sensitive, tuple(template.value for template in some), some[0].limit
        )
        for some in limited
        if some
    )
