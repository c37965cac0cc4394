"""The commands `evaluate`, `compare` and `explain`, and what they print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unveil.cli.terminal import Figures, SpecArgument, console, print_json, watched
from unveil.cli.verbs import show_exposure
from unveil.errors import braced, count_text

if TYPE_CHECKING:
    from unveil.evaluation.evaluation import Comparison, Evaluation, Measures
    from unveil.evaluation.population import Population
    from unveil.reasons import Explanation

SEEDS = 5
KEPT = "What statistics keep"
ATTRIBUTES = 20
"""This many attributes are shown, those that lost most."""
CLASSES = 12
"""This many classes are shown, the largest ones."""

Classifiers = Annotated[
    list[str] | None,
    typer.Option("--classifier", metavar="NAME", help="tree, bayes, boosting or c45; repeatable."),
]
FoldsOption = Annotated[int | None, typer.Option("--folds", metavar="K", min=2, help="Cross-validate in K folds.")]
TestOption = Annotated[
    float | None, typer.Option("--test", metavar="SHARE", help="Hold out this share of the rows; a third if omitted.")
]
SplitOption = Annotated[
    str | None,
    typer.Option("--split", metavar="COLUMN", help="A column that holds 'train' or 'test' for each row."),
]
Seeds = Annotated[
    int,
    typer.Option(min=1, help="How many hold-outs; with --folds or --split, how many private releases to draw."),
]
Together = Annotated[bool, typer.Option("--together", help="Mask training and test rows together, as the papers do.")]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", min=2, help="Use N rows drawn at random; a million for very large tables."),
]


def evaluate(
    spec: SpecArgument,
    classifiers: Classifiers = None,
    folds: FoldsOption = None,
    test: TestOption = None,
    split: SplitOption = None,
    seeds: Seeds = SEEDS,
    together: Together = False,
    sample: Sample = None,
    attacked: Annotated[bool, typer.Option("--attack", help="Also attack a release, as unveil attack does.")] = False,
    as_json: Figures = False,
) -> None:
    """Compare what a classifier learns from a release, from raw data and from full masking."""
    from unveil.workflow.evaluate import evaluate as run

    asked = experiment(classifiers, folds, test, split, seeds, together, sample)
    with watched() as progress:
        found = run(spec, **asked, progress=progress)
        exposure = None
        if attacked:
            from unveil.workflow.attack import attack

            exposure = attack(spec, sample=sample, progress=progress)
    if as_json:
        print_json(found.to_dict() | ({} if exposure is None else {"attacks": exposure.to_dict()["outcomes"]}))
        return
    show_evaluation(console, found)
    if exposure is not None:
        console.print()
        show_exposure(console, exposure)


def compare(
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC...", help="Specs of the same table.")],
    classifiers: Classifiers = None,
    folds: FoldsOption = None,
    test: TestOption = None,
    split: SplitOption = None,
    seeds: Seeds = SEEDS,
    together: Together = False,
    sample: Sample = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot accuracy against k, limit or ε: .png or .svg.")
    ] = None,
    as_json: Figures = False,
) -> None:
    """Evaluate several specs on the same held-out rows."""
    from unveil.evaluation.plots import check_plot
    from unveil.evaluation.plots import plot as draw
    from unveil.workflow.evaluate import compare as run

    if plot is not None:
        check_plot(plot)
    asked = experiment(classifiers, folds, test, split, seeds, together, sample)
    with watched() as progress:
        found = run(specs, **asked, progress=progress)
    if plot is not None:
        draw(found, plot)
    if as_json:
        print_json(found.to_dict())
        return
    show_comparison(console, found)
    if plot is not None:
        console.print(f"The plot is in {plot}.")


def experiment(
    classifiers: list[str] | None,
    folds: int | None,
    test: float | None,
    split: str | None,
    seeds: int,
    together: bool,
    sample: int | None,
) -> dict[str, Any]:
    """The arguments that both commands pass on. A private release is drawn once per hold-out, else once per seed."""
    from unveil.evaluation.protocol import Folds, Given, Holdout

    if sum(option is not None for option in (folds, test, split)) > 1:
        raise typer.BadParameter("only one of --folds, --test and --split can be given.")
    passed = {"classifiers": classifiers or ("tree",), "together": together, "sample": sample, "seeds": range(seeds)}
    if split is not None:
        return {**passed, "protocol": Given(split)}
    if folds is not None:
        return {**passed, "protocol": Folds(folds)}
    return {**passed, "protocol": Holdout(1 / 3 if test is None else test, range(seeds)), "seeds": range(1)}


def show_evaluation(console: Console, evaluation: Evaluation) -> None:
    """The result of `evaluate`."""
    from unveil.evaluation.classifiers import CLASSIFIERS
    from unveil.evaluation.evaluation import SCORES, SETTINGS

    console.print(f"{evaluation.spec.origin}: errors on test rows, {evaluation.protocol}.")
    for name in evaluation.classifiers:
        errors = _table("learned from", "error", "95% interval", "runs")
        others = _table("learned from", *SCORES)
        people = _table("for the population", "error", *SCORES)
        for line in evaluation.lines:
            if line.classifier == name:
                errors.add_row(SETTINGS[line.setting], f"{line.error:.2%}", line.bounds, str(line.n))
                others.add_row(SETTINGS[line.setting], *line.other)
                people.add_row(SETTINGS[line.setting], *line.population)
        console.print()
        console.print(CLASSIFIERS[name].label, style="bold")
        for table in (errors, others) if evaluation.population is None else (errors, others, people):
            console.print(table)
            console.print()
        _show_classes(console, evaluation, name)
    if evaluation.measures is not None:
        console.print()
        _show_measures(console, evaluation.measures)
    _show_statistics(console, evaluation)
    if evaluation.population is not None:
        _show_population(console, evaluation.population)
    _show_notes(console, evaluation.notes)


def _show_classes(console: Console, evaluation: Evaluation, classifier: str) -> None:
    """How well each class is found; of many classes the largest."""
    rows = evaluation.classes(classifier)
    heads = ("class", "share", "recall: raw", "released", "precision: raw", "released")
    _show_rows(console, heads, rows[:CLASSES])
    if len(rows) > CLASSES:
        console.print(f"The {CLASSES} largest of {len(rows):,} classes; --json has all.")


def show_comparison(console: Console, comparison: Comparison) -> None:
    """The result of `compare`: one row per spec and classifier."""
    from unveil.evaluation.classifiers import CLASSIFIERS
    from unveil.evaluation.evaluation import SCORES, guarantee_text
    from unveil.evaluation.statistics import EXPLAINED, TABLE_COLUMNS

    errors = _table("spec", "asks for", "classifier", "raw", "released", "95%", "masked")
    others = _table("spec", "classifier", *SCORES, "coarseness")
    tables = _table("spec", *TABLE_COLUMNS[1:])
    for item in comparison.evaluations:
        kept = item.statistics.overall
        tables.add_row(item.spec.origin, *kept)
        for name in item.classifiers:
            raw, released, masked = (item.line(setting, name) for setting in ("raw", "released", "masked"))
            reach = "" if released.high is None else f"± {released.high - released.error:.2%}"
            found = f"{raw.error:.2%}", f"{released.error:.2%}", reach, f"{masked.error:.2%}"
            errors.add_row(item.spec.origin, guarantee_text(item.spec), name, *found)
            others.add_row(item.spec.origin, name, *released.other, kept[0])
    console.print(f"Errors on the same test rows, {comparison.evaluations[0].protocol}.")
    console.print(errors)
    for name in comparison.evaluations[0].classifiers:
        console.print(f"{name}: {CLASSIFIERS[name].label}")
    for words, table in (("Other scores of what was learned from the releases", others), (KEPT, tables)):
        console.print()
        console.print(f"{words}:")
        console.print(table)
    console.print(EXPLAINED)
    _show_notes(console, comparison.notes)


def _show_statistics(console: Console, evaluation: Evaluation) -> None:
    """What survives of tables, means and quantiles; of many attributes those that lost most."""
    from unveil.evaluation.statistics import EXPLAINED, NUMBER_COLUMNS, TABLE_COLUMNS

    kept = evaluation.statistics
    rows = kept.table_rows()
    console.print()
    if evaluation.measures is not None:
        title = f"{KEPT} in the release of all records"
    else:
        title = f"{KEPT}, on average over {count_text(kept.releases, 'release')} of training rows"
    console.print(title, style="bold")
    _show_rows(console, TABLE_COLUMNS, [*rows[:-1][:ATTRIBUTES], rows[-1]])
    if len(rows) - 1 > ATTRIBUTES:
        console.print(f"The {ATTRIBUTES} worst of {len(rows) - 1:,} attributes; --json has all.")
    if kept.pairs is not None:
        console.print(f"Two-way: {kept.pairs} pairs of attributes, drawn at random.")
    if kept.numbers:
        console.print()
        units = {name: attribute.unit for name, attribute in evaluation.spec.attributes.items()}
        _show_rows(console, NUMBER_COLUMNS, kept.number_rows(units)[:ATTRIBUTES])
    console.print(EXPLAINED)


def _show_population(console: Console, found: Population) -> None:
    """Population estimates from the raw table, and what survives of them in a release with weights."""
    from unveil.evaluation.population import CLASS_COLUMNS
    from unveil.evaluation.statistics import TABLE_COLUMNS

    console.print()
    console.print("Population estimates", style="bold")
    console.print(found.sentence)
    columns = CLASS_COLUMNS if found.statistics is not None else CLASS_COLUMNS[:-1]
    _show_rows(console, columns, [row[: len(columns)] for row in found.class_rows(CLASSES)])
    if found.statistics is None:
        console.print("The release has no weights, so nobody can make such estimates from it.")
        return
    console.print()
    rows = found.statistics.table_rows()
    _show_rows(console, TABLE_COLUMNS, [*rows[:-1][:ATTRIBUTES], rows[-1]])
    console.print("The same as above, but tables count people instead of records.")


def _show_rows(console: Console, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = _table(*names)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _show_measures(console: Console, measures: Measures) -> None:
    loss = measures.loss
    console.print(f"A release of all {count_text(loss.records, 'record')}", style="bold")
    for name, figure, words in loss.lines():
        console.print(f"{name}: {figure}. {words}")
    for risk in measures.risks:
        console.print(
            f"Re-identification on {braced(risk.quasi_identifier, 8)}: at most {risk.prosecutor.highest:.1%} for "
            f"anyone, {risk.marketer:.2%} on average; {count_text(risk.uniques, risk.unit)} alone in their group."
        )
    whole = measures.whole_row
    console.print(
        f"Re-identification on all {count_text(len(whole.quasi_identifier), 'released column')} together: "
        f"{whole.uniques:,} of {count_text(whole.records, 'record')} ({whole.uniques / whole.records:.1%}) are "
        "unique. Anyone who knows these columns of a person can find the record. No requirement limits this.",
        style="bold red" if whole.uniques else None,
    )


def _show_notes(console: Console, notes: tuple[str, ...]) -> None:
    console.print()
    for note in notes:
        console.print(note, style="yellow")


def _table(*names: str) -> Table:
    return Table(*names, box=None, header_style="bold", pad_edge=False)


def explain(
    spec: SpecArgument,
    shadow: Annotated[
        bool, typer.Option("--shadow/--no-shadow", help="Also run with each requirement slightly relaxed.")
    ] = True,
    classifiers: Classifiers = None,
    seeds: Seeds = SEEDS,
    every: Annotated[bool, typer.Option("--all", help="Explain every block, not only every attribute.")] = False,
    release: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A differentially private release to explain.")
    ] = None,
    as_json: Figures = False,
) -> None:
    """Say why a release is as coarse as it is, and what relaxing its requirements would buy."""
    from unveil.evaluation.protocol import Holdout
    from unveil.workflow.explain import explain as run

    with watched() as progress:
        found = run(
            spec,
            shadow=shadow,
            classifiers=classifiers or ("tree",),
            protocol=Holdout(seeds=range(seeds)),
            release=release,
            progress=progress,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        show_explanation(console, found, every=every)


def show_explanation(console: Console, found: Explanation, *, every: bool) -> None:
    """The result of `explain`."""
    for number, part in enumerate(found.passages(every=every)):
        if number:
            console.print()
        if part.heading:
            console.print(part.heading, style="bold")
        for line in part.lines:
            console.print(line)
    _show_notes(console, found.notes)
