"""The pages about a release, each one HTML file that loads nothing: to hand out, for its owner, and as an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.attacks import Exposure
from unveil.errors import count_text, named
from unveil.evaluation.classifiers import CLASSIFIERS
from unveil.evaluation.evaluation import COMPARED, SCORES, SETTINGS, Evaluation, Line, Measures
from unveil.evaluation.population import CLASS_COLUMNS, released_shares
from unveil.evaluation.reidentification import GroupSummary, ReidentificationRisk, group_summaries, whole_row_risk
from unveil.evaluation.risk import GroupRisk, InferenceRisk
from unveil.evaluation.statistics import EXPLAINED, NUMBER_COLUMNS, TABLE_COLUMNS, Statistics
from unveil.masking import Discretization
from unveil.release import RefinementManifest, Release
from unveil.reports.attributes import group_trees, panels, untouched
from unveil.reports.drawings import Dot, Dots
from unveil.reports.figures import STEP, Figure, Share, about, coarse, detail_chart, exact, groups_chart, number
from unveil.reports.guarantee import limits, private_facts, promise
from unveil.schema import Spec

READER = "anyone with the folder"
HOLDER = "anyone with the folder and the owner's public key"
OWNER = "the owner, with the raw table"
NOBODY = "nobody, from these files"

KINDS = {
    "refinement": "A masked table",
    "diffgen": "Noisy counts",
    "additive": "Weights",
    "statistics": "Weights to count and",
    "safe": "A sample of masked rows",
}
"""What a release of each method is."""


@dataclass(frozen=True)
class Owner:
    """What the owner's spec and raw table add to a release."""

    spec: Spec
    read: int
    """Rows of the raw table."""
    dropped: int
    """Rows left out for missing values."""
    records: int
    evaluation: Evaluation
    """What classifiers learn from releases made by the same spec."""
    measures: Measures | None
    """What this release costs and risks; None for noisy counts."""
    statistics: Statistics
    """What survives of tables, means and quantiles in this release."""
    trace: Sequence[dict[str, Any]] | None
    """The steps that led to the release; None where they are not known."""
    exposure: Exposure
    """What attacks on this release gain."""
    bought: str | None = None
    """What the records left out buy, if some may be."""
    groups: Sequence[GroupRisk] = ()
    """What the raw table would give away about who is who."""
    inferences: Sequence[InferenceRisk] = ()
    """What the raw table would give away about sensitive values."""
    persons: int | None = None
    """How many persons the records are of, if the table says so."""
    summaries: Sequence[GroupSummary] = ()
    """The sizes of the groups of the release, in records, and also in persons if the table says whose these are."""


@dataclass(frozen=True)
class Accuracy:
    """What a classifier keeps: drawn, in a sentence, and in tables of other scores and of the classes."""

    chart: Dots
    sentence: str
    scores: Sequence[tuple[str, ...]]
    people: Sequence[tuple[str, ...]]
    """The error and other scores for the population, if the table is a survey."""
    classes: Sequence[tuple[str, ...]]


def accuracies(evaluation: Evaluation) -> list[Accuracy]:
    """The accuracy of each classifier on the release, between what raw rows and fully masked rows give."""
    found = []
    for name in evaluation.classifiers:
        lines = [line for line in evaluation.lines if line.classifier == name]
        # What was learned from, without the papers' name for the error.
        settings = [(SETTINGS[line.setting].rpartition(" (")[0], line) for line in lines]
        chart = Dots(f"Accuracy of a {CLASSIFIERS[name].label}", [_dot(setting, line) for setting, line in settings])
        scores = [(setting, *line.other) for setting, line in settings]
        people = [(setting, *line.population) for setting, line in settings]
        sentence, classes = _sentence(evaluation, name), evaluation.classes(name)[:CLASSES]
        found.append(Accuracy(chart, sentence, scores, people, classes))
    return found


def _dot(setting: str, line: Line) -> Dot:
    low = line.accuracy if line.high is None else 1 - min(line.high, 1.0)
    high = line.accuracy if line.low is None else 1 - max(line.low, 0.0)
    reach = "" if line.high is None else f" ± {100 * (line.high - line.error):.1f}"
    return Dot(setting, line.setting, line.accuracy, low, high, f"{line.accuracy:.1%}{reach}")


def _sentence(evaluation: Evaluation, classifier: str) -> str:
    raw, released, masked = (evaluation.line(setting, classifier).accuracy for setting in COMPARED)
    return (
        f"Trained on the release it is right for {released:.1%} of the rows: {_points(released - raw)} than with "
        f"raw data, {_points(released - masked)} than with everything masked."
    )


def _points(difference: float) -> str:
    return f"{abs(100 * difference):.1f} points {'more' if difference >= 0 else 'less'}"


DATA = "data.parquet"
CLASSES = 20
"""This many classes are shown, the largest ones."""


def handout_page(release: Release) -> str:
    """The page to hand out. It says what follows from the release folder, in coarse shares and without exact counts."""
    # A reader who has the release can count who is alone on all released columns together.
    masked = isinstance(release.manifest, RefinementManifest)
    alone = _share_alone(whole_row_risk(release), coarse) if masked else None
    more = {
        "owner": None,
        "population": _people(release, None),
        "alone": alone,
        "alarm": alone is not None and alone.drawn >= STEP,
    }
    return render("page.html", {**_facts(release, coarse, None, group_summaries(release)), **more})


def owner_page(release: Release, owner: Owner) -> str:
    """The owner's page, which is private: exact figures, steps, risks and what classifiers keep."""
    whole = None if owner.measures is None else owner.measures.whole_row
    units = {name: attribute.unit for name, attribute in owner.spec.attributes.items()}
    more = {
        "owner": owner,
        "accuracy": accuracies(owner.evaluation),
        "score_names": list(SCORES),
        "kept": {
            "tables": (TABLE_COLUMNS, owner.statistics.table_rows()),
            "numbers": (NUMBER_COLUMNS, owner.statistics.number_rows(units)),
            "words": EXPLAINED,
        },
        "population": _people(release, owner),
        "summaries": owner.summaries,
        "alone": None if whole is None else _share_alone(whole, exact),
        "alarm": whole is not None and whole.uniques > 0,
    }
    return render("page.html", {**_facts(release, exact, owner.spec, owner.summaries), **more})


def _people(release: Release, owner: Owner | None) -> dict[str, Any] | None:
    """Population estimates: coarse and from the release alone, or the owner's, next to the raw table's."""
    found = None if owner is None else owner.evaluation.population
    if found is not None:
        return {"weight": found.weight, "names": CLASS_COLUMNS, "rows": found.class_rows(CLASSES)}
    weight = release.manifest.survey_weight
    if weight is None:
        return None
    shares = sorted(released_shares(release).items(), key=lambda item: -item[1])
    names = (CLASS_COLUMNS[0], CLASS_COLUMNS[2])
    return {
        "weight": weight,
        "names": names,
        "rows": [(label, coarse(share).text) for label, share in shares[:CLASSES]],
    }


def _facts(release: Release, figure: Figure, spec: Spec | None, summaries: Sequence[GroupSummary]) -> dict[str, Any]:
    manifest = release.manifest
    private = not isinstance(manifest, RefinementManifest)
    shown = panels(release, figure, spec)
    numbers = {name: entry for name, entry in manifest.columns.items() if isinstance(entry, Discretization)}
    return {
        "manifest": manifest,
        "kind": f"{KINDS[manifest.method]} to predict {manifest.class_} from",
        "about": manifest.about,
        "unstated": [key for key, text in manifest.about if text is None],
        "private": None if isinstance(manifest, RefinementManifest) else private_facts(manifest),
        "records": about(manifest.records) if isinstance(manifest, RefinementManifest) else None,
        "persons": about(getattr(manifest, "persons", None) or 0),
        "promises": [] if private else [promise(entry) for entry in manifest.requirements],
        "limits": limits(getattr(manifest, "persons", None)),
        "panels": shown,
        "untouched": untouched(shown),
        "groups": [groups_chart(release, summary, figure) for summary in summaries],
        "trees": [] if private else group_trees(release, figure, counted=spec is not None),
        "detail": detail_chart(release, figure, spec),
        "sized": [(item["quasi-identifier"], item["k"]) for item in manifest.requirements if item.get("k", 1) > 1],
        "as_is": manifest.as_is,
        "numbers": list(numbers),
        "interval": next((entry.blocks[0] for entry in numbers.values()), None),
        "count": manifest.weighed_by,
        "sha256": manifest.files[DATA].sha256 if DATA in manifest.files else None,
    }


def _share_alone(risk: ReidentificationRisk, figure: Figure) -> Share:
    """The share of the records that are alone on all released columns together."""
    return figure(risk.uniques / risk.records)


def render(template: str, facts: dict[str, Any]) -> str:
    """A page from its template; labels are data, and are escaped."""
    # Only this verb needs templates, so the others do not wait for them.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("unveil.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"counted": count_text, "named": named, "number": number}
    return environment.get_template(template).render(facts)


@dataclass(frozen=True)
class Paper:
    """A file behind a release."""

    name: str
    sha256: str
    text: str | None = None
    """What it says, for a spec or a taxonomy."""


@dataclass(frozen=True)
class Audit:
    """What was collected about a release."""

    release: Release
    day: str
    files: Sequence[Paper]
    """The files of the release."""
    papers: Sequence[Paper]
    """What the owner declared: the spec and the files that it names."""
    versions: Mapping[str, str]
    checks: Sequence[tuple[str, str]]
    """The commands that were run, and what they found."""
    notes: Sequence[str]
    """What a reader must judge."""
    exposure: Exposure
    spent: Sequence[tuple[str, str]]
    """The entries of the owner's ledger: a spec and its ε."""
    key: str | None
    """The name of the key that signed the release."""


def audit_page(audit: Audit) -> str:
    """The page."""
    manifest = audit.release.manifest
    charges = [] if isinstance(manifest, RefinementManifest) else manifest.ledger
    duties = _duties(private=manifest.method != "refinement", signed=audit.key is not None)
    facts = {"audit": audit, "manifest": manifest, "about": manifest.about, "charges": charges, "duties": duties}
    return render("audit.html", facts)


def _duties(*, private: bool, signed: bool) -> list[tuple[str, str, str]]:
    shown = "the arithmetic of the ledger, the cut and the plan" if private else "every requirement, in every group"
    behind = "that the noise follows its law" if private else "that the rows are true, and none was lost or moved"
    return [
        (f"{shown}, the sentence of the guarantee, the files", READER, "unveil verify DIR"),
        *(
            [("that the owner released it and nobody changed it", HOLDER, "unveil verify DIR --key FILE")]
            if signed
            else []
        ),
        (behind, OWNER, "unveil verify DIR --raw SPEC"),
        ("what attacks gain", OWNER, "unveil attack DIR --raw SPEC"),
        ("that the raw table is true, and that the spec names what strangers may know", NOBODY, "judgement"),
    ]
