"""Writes `docs/results.md`: our figures next to what the papers say. Every number on it comes from the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from reproduce.data import SEED
from reproduce.figures import NEAR, Figure, Statement
from reproduce.plots import draw
from reproduce.points import Cache, Results, key_of

PAPERS = {
    "TDR": "Fung, Wang, Yu: Anonymizing classification data for privacy preservation (TKDE 2007). Unless noted, "
    "training and test records are masked together, and numbers are discretized.",
    "PDA": "Wang, Fung, Yu: Template-based privacy preservation in classification problems (ICDM 2005). Categories "
    "only. From all other attributes, none of the 50% least frequent values of a sensitive attribute may be inferred "
    "above h. Training and test records are suppressed together; the classifier is C4.5.",
    "DiffGen": "Mohammed, Chen, Fung, Yu: Differentially private data release for data mining (KDD 2011). C4.5 learns "
    "from the cells, weighted by their noisy counts. With more than 100,000 cells, only those that reach a public "
    "threshold are released; the paper lists all. “Our budget” spends the same ε without waste ([DiffGen in the "
    "code](papers/diffgen.md)).",
}
"""Who wrote each paper, and what all of its figures share."""
SIGNS = {True: "✓", False: "✗", None: "–"}
HEAD = f"""# The papers' experiments, run again

<!-- Written by `make reproduce`; do not edit. -->

What the papers say → what this library gives. ✓: within {NEAR} points of the printed percentage, or the limit is kept;
–: nothing to compare. C4.5 is Weka's J48 with its defaults. BE is the error on raw data, UE without the attributes of
the requirement, AE and SE on masked data, RE without the sensitive attributes; BA, LA and CA are accuracies.
"""


def write_page(
    page: Path,
    images: Path,
    figures: Sequence[Figure],
    cache: Cache,
    sources: Mapping[str, str],
    versions: Mapping[str, str],
) -> None:
    """Writes the page and its pictures.

    Args:
        page: The page.
        images: The folder of the pictures, at or below the folder of the page.
        figures: The figures, in order.
        cache: The finished points.
        sources: What taxonomies, ranges and splits each data set came with.
        versions: What it was measured with.
    """
    results = {figure.name: cache.results(figure.settings) for figure in figures}
    parts = [HEAD, _overview(figures, results)]
    for paper, citation in PAPERS.items():
        parts.append(f"## {paper}\n\n{citation}\n")
        for figure in figures:
            if figure.paper == paper:
                picture = draw(figure, results[figure.name], images)
                link = None if picture is None else picture.relative_to(page.parent).as_posix()
                parts.append(_section(figure, results[figure.name], link))
    parts.append(_origin(results.values(), sources, versions))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")


def _overview(figures: Sequence[Figure], results: Mapping[str, Results]) -> str:
    judged = [item.holds for figure in figures for item in figure.compare(results[figure.name])]
    counted = [holds for holds in judged if holds is not None]
    partly = [_short(figure) for figure in figures if len(results[figure.name]) < len(figure.settings)]
    points = f" Not all points of these were measured: {', '.join(partly)}." if partly else ""
    return f"{sum(counted)} of {len(counted)} statements agree.{points}\n"


def _short(figure: Figure) -> str:
    return figure.title.partition(":")[0]


def _section(figure: Figure, results: Results, picture: str | None) -> str:
    parts = [f"### {figure.title}\n"]
    if figure.protocol:
        parts.append(f"{figure.protocol}\n")
    statements = figure.compare(results)
    if not statements:
        parts.append("Not measured in this run.\n")
        return "\n".join(parts)
    parts.append("".join(f"- {SIGNS[item.holds]} {item.paper} → {item.ours}\n" for item in statements))
    parts += [f"{remark}\n" for remark in _remarks(statements)]
    if picture is not None:
        parts.append(f"![{_short(figure)}]({picture})\n")
    return "\n".join(parts)


def _remarks(statements: Sequence[Statement]) -> list[str]:
    """Why some statements do not hold, each reason once."""
    return list(dict.fromkeys(item.remark for item in statements if item.holds is False and item.remark))


def _origin(results: Iterable[Results], sources: Mapping[str, str], versions: Mapping[str, str]) -> str:
    commits: dict[str, int] = {}
    points = {key_of(point.setting): point for found in results for point in found}
    for point in points.values():
        commits[point.commit] = commits.get(point.commit, 0) + 1
    commits_text = "; ".join(f"{count} points at commit {name}" for name, count in commits.items())
    data = "; ".join(f"{name}: {source}" for name, source in sources.items())
    tools = ", ".join(f"{name} {number}" for name, number in versions.items())
    return (
        "## Where these numbers come from\n\n"
        f"- Measured: {commits_text or 'nothing yet'}.\n"
        f"- Data: {data}. The rows are the bundled ones.\n"
        f"- Seeds: everything random follows from {SEED} (private runs: `seed_of` in `reproduce/diffgen.py`).\n"
        f"- Versions: {tools}.\n"
        "- Again: `make reproduce`, or `make reproduce QUICK=1` for a few points of each figure.\n"
    )
