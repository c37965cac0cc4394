"""Live: a table that is read once, and releases of it as they would be under one spec after another.

Nothing here is written or charged. Everything that comes out is computed from raw rows and private to the owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unveil.counting.memory import KeptEngine
from unveil.drafts import Look, draft, look_at, spec_text
from unveil.errors import TableError, UnveilError
from unveil.evaluation.classifiers import tested
from unveil.evaluation.evaluation import Evaluation, guarantee_text, reference_columns
from unveil.evaluation.information import information_loss
from unveil.evaluation.protocol import Holdout, Scores
from unveil.evaluation.risk import table_warnings
from unveil.progress import Watcher, unwatched
from unveil.publishers import trial_release
from unveil.reasons import Cut
from unveil.reasons.explanation import summary
from unveil.reasons.prices import blocks_of, with_bound
from unveil.release import Release
from unveil.schema import KAnonymity, Spec, Taxonomy, bound_text, plain_number, widened, widened_days
from unveil.tables import Table, load_table, part_of
from unveil.workflow.evaluate import VALUES_FOR_PAGE, Rows, evaluate_rows, learned_from
from unveil.workflow.explain import cuts_at_end
from unveil.workflow.picture import figures_of, picture_of

QUICK_ROWS = 6_000
"""A quick fit has this many rows at most, a third of them to be tested on, and fewer where there are many columns."""
FEWEST = 300
CLASSIFIER = "tree"
TELLING = 0.001
"""An attribute is finer if its labels cover so much less of it."""


class SupersededError(Exception):
    """A newer wish has taken the place of this one, so nobody waits for the answer."""


def halting(superseded: Callable[[], bool], progress: Watcher = unwatched) -> Watcher:
    """A watcher that ends the work as soon as nobody waits for it."""

    def watch(what: str, done: int, total: int | None) -> None:
        if superseded():
            raise SupersededError
        progress(what, done, total)

    return watch


@dataclass(frozen=True)
class Held:
    """A coded table, what counts it, and some of its rows for quick fits."""

    key: object
    table: Table
    engine: KeptEngine
    some: Table | None
    """None if the rows are too few, or of one class."""


class Live:
    """A table in memory. Specs that read it the same way share its codes and its counts."""

    def __init__(self, source: Any) -> None:
        self.look: Look = look_at(source)
        self._held: Held | None = None
        self._references: dict[tuple[object, tuple[str, ...]], Scores] = {}

    def rows(self, spec: Spec, progress: Watcher = unwatched) -> Rows:
        """The rows as a spec reads them; coded again only if it reads them in another way than the last one."""
        return Rows(spec, replace(self._coded(spec, progress).table, attributes=spec.released))

    def release(self, spec: Spec, progress: Watcher = unwatched) -> Release:
        """The release as it would be; a private one is drawn from a seed and is not private."""
        rows, held = self.rows(spec, progress), self._coded(spec, progress)
        return trial_release(rows.checked, spec, engine=held.engine, progress=progress)

    def picture(self, spec: Spec, progress: Watcher = unwatched) -> tuple[dict[str, Any], Release]:
        """What a page draws of the release, and the release for its figures."""
        release = self.release(spec, progress)
        rows = self.rows(spec)
        return picture_of(release, rows, self._some(spec) or rows), release

    def figures(self, spec: Spec, release: Release) -> dict[str, Any]:
        """What the release costs and risks, and what a quick fit learns from it."""
        return {"measures": figures_of(release, self.rows(spec)), "fit": self._fit(spec, release)}

    def first_spec(self, table: Path, target: Path) -> str:
        """The text of a first spec for the table, as `init` drafts it."""
        return spec_text(self.look.guess, self.look.rows.origin, table, target)

    def domain(self, column: str) -> dict[str, Any]:
        """The domain of a column as it is observed: what its owner may declare, if it is public."""
        place = [guess.name for guess in self.look.guess.columns].index(column)
        guess, profile = self.look.guess.columns[place], self.look.profiles[place]
        if guess.bounds is not None and guess.role in ("number", "date"):
            wide = widened_days(*guess.bounds) if guess.role == "date" else widened(*guess.bounds, whole=guess.whole)
            lo, hi = (bound_text(bound, "date") if guess.role == "date" else plain_number(bound) for bound in wide)
            return {"range": [lo, hi]}
        if profile.distinct > len(profile.values):
            raise TableError(f"{column!r} has {profile.distinct:,} values, too many to declare; draft a taxonomy.")
        return {"values": sorted(profile.values)}

    def warnings(self, spec: Spec) -> list[str]:
        """What in the table may undo the promise of a release by this spec."""
        rows = self.rows(spec)
        as_is = (*spec.as_is, *rows.checked.others.names)
        return list(table_warnings(replace(spec, draft=False), rows.checked, as_is, self.look.rows))

    def evaluation(self, spec: Spec, progress: Watcher = unwatched) -> Evaluation:
        """The evaluation of the owner's page, on the rows that are held."""
        return evaluate_rows(self.rows(spec), self.look.rows, Holdout(1 / 3, range(3)), (), progress, sampled=False)

    def reasons(self, spec: Spec, progress: Watcher = unwatched) -> list[dict[str, Any]]:
        """What each attribute waits for, with its price: a lower k that makes it finer, tried out."""
        if spec.plan is not None:
            return []
        rows = self.rows(spec, progress)
        _, cuts, _ = cuts_at_end(rows.checked, spec, progress)
        before = self._covered(spec, progress)
        return [
            {"attribute": cut.attribute, "why": summary(cut), "price": self._price(spec, cut, before, progress)}
            for cut in cuts
        ]

    def draft(self, column: str, by: str | None, missing: tuple[str, ...]) -> tuple[Taxonomy, str]:
        """A proposed taxonomy of a column, and why it was proposed."""
        found = draft(self.look.rows.frame.select([column]), column, by, missing)
        return found.taxonomy, found.reason

    def compared(self, specs: list[Spec], progress: Watcher = unwatched) -> Iterator[dict[str, Any]]:
        """Several specs of the table, one after the other: what each gives."""
        for spec in specs:
            try:
                release = self.release(spec, progress)
            except UnveilError as error:
                yield {"asks": guarantee_text(spec), "problem": str(error)}
                continue
            labels = {name: len(shown) for name, shown in blocks_of(release).items()}
            yield {"asks": guarantee_text(spec), "labels": labels, **self.figures(spec, release)}

    def _price(self, spec: Spec, cut: Cut, before: dict[str, float], progress: Watcher) -> dict[str, Any] | None:
        """A lower k with which a release is finer in an attribute; the search is greedy, so it is tried."""
        number, nearest = _nearest_k(cut)
        for k in dict.fromkeys([nearest, nearest * 4 // 5]) if nearest > 1 else ():
            covered = self._covered(with_bound(spec, number, "k", k), progress)[cut.attribute]
            if covered < before[cut.attribute] - TELLING:
                kept = 1 - before[cut.attribute], 1 - covered
                return {"requirement": number, "k": k, "before": kept[0], "after": kept[1]}
        return None

    def _covered(self, spec: Spec, progress: Watcher) -> dict[str, float]:
        """How much of each masked attribute a label covers: 1 where nothing of it is shown."""
        release = self.release(spec, progress)
        return information_loss(release, spec, table=self.rows(spec).checked).penalties

    def _coded(self, spec: Spec, progress: Watcher = unwatched) -> Held:
        key = _reading(spec)
        if self._held is None or self._held.key != key:
            self._held = None  # frees the old codes before new ones are made
            # Lines that cannot be read are left out one by one, which only the file itself allows.
            source = spec.source if spec.table.drops_invalid else self.look.rows
            table = load_table(spec, source, progress)
            self._references.clear()
            self._held = Held(key, table, KeptEngine(table), _some_rows(table, spec))
        return self._held

    def _some(self, spec: Spec) -> Rows | None:
        some = self._coded(spec).some
        return None if some is None else Rows(spec, replace(some, attributes=spec.released))

    def _fit(self, spec: Spec, release: Release) -> dict[str, Any] | None:
        """Accuracy and AUC of a tree that learns from few rows: raw, released, and with everything masked."""
        rows = self._some(spec)
        if rows is None:
            return None
        count = rows.checked.rows
        train, test = np.arange(count * 2 // 3), np.arange(count * 2 // 3, count)
        scores = {}
        for setting, names in reference_columns(spec, rows.names).items():
            key = setting, tuple(names)
            if key not in self._references:
                known = rows.raw.select(names)
                self._references[key] = tested(CLASSIFIER, known.take(train), known.take(test))
            scores[setting] = self._references[key]
        masked = rows.masked(release, test)
        learned = rows.masked(release, train) if spec.plan is None else learned_from(release, len(train))
        scores["released"] = tested(CLASSIFIER, learned, masked)
        kept = {setting: {"accuracy": item.accuracy, "auc": item.auc} for setting, item in scores.items()}
        return {"scores": kept, "train": len(train), "test": len(test)}


def evaluation_facts(found: Evaluation) -> dict[str, Any]:
    """An evaluation in plain values, as a page shows it."""
    lines = [
        {"setting": line.setting, **asdict(line.scores), "low": line.low, "high": line.high, "runs": line.n}
        for line in found.lines
    ]
    return {"lines": lines, "protocol": found.protocol, "notes": list(found.notes)}


def _nearest_k(cut: Cut) -> tuple[int, int]:
    """The requirement whose k alone holds an attribute back, and the k that its nearest refinement has; else 0."""
    breaks = cut.invalid[0].breaks if cut.invalid else ()
    if len(breaks) != 1 or not isinstance(breaks[0].atom, KAnonymity):
        return 0, 0
    return breaks[0].requirement, int(breaks[0].level)


def _reading(spec: Spec) -> object:
    """What decides how a table is read and coded: not the requirements, nor how the search is steered."""
    plain = [
        (
            replace(attribute, taxonomy=None, gain_weight=1.0, keep=None, finest=None),
            None if attribute.taxonomy is None else str(attribute.taxonomy),
        )
        for attribute in spec.attributes.values()
    ]
    return replace(spec.table, budget=None, title=None, owner=None, date=None), plain, spec.plan is None, spec.learn > 0


def _some_rows(table: Table, spec: Spec) -> Table | None:
    """Rows drawn at random, the same for every spec."""
    most = min(QUICK_ROWS, max(FEWEST, VALUES_FOR_PAGE // max(len(table.columns), 1)))
    places = np.random.default_rng(0).permutation(table.rows)[:most]
    if len(places) < 3:
        return None
    try:
        return part_of(table, spec, places, table.origin)
    except TableError:  # all of one class
        return None
