"""The measured part of `docs/additive.md`: what private releases are worth, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, pstdev

Found = Mapping[str, Sequence[Mapping[str, Mapping[str, float]]]]
TITLES = {
    "additive": "additive",
    "statistics": "additive for statistics",
    "diffgen": "DiffGen, h = 10",
    "contingency": "noisy contingency table",
    "marginals": "noisy tables with the class",
    "aim": "AIM (δ = 10⁻⁹)",
    "mst": "MST (δ = 10⁻⁹)",
    "aim-authors": "AIM by its authors (δ = 10⁻⁹)",
    "mst-authors": "MST by its authors (δ = 10⁻⁹)",
    "diffprivlib tree": "diffprivlib, tree",
    "diffprivlib forest": "diffprivlib, forest",
}
POOR = "contingency"
"""The page shows one reader of it: none learns anything."""
READERS = {"tree": "tree", "LightGBM": "LightGBM", "naive Bayes": "naive Bayes", "itself": "itself"}


def private_parts(found: Mapping[str, Found], splits: int, draws: int) -> dict[str, str]:
    """The parts of the page, by what was found on each table; those of tables that were not measured are left out."""
    releases = f"{draws} {'release' if draws == 1 else 'releases'} of each"
    parts = {}
    for table, held in found.items():
        epsilons = sorted({float(key.rpartition("@")[2]) for key in held if not key.startswith("raw@")})
        if table == "census":
            heading = f"Mean ± standard deviation of {draws} {'release' if draws == 1 else 'releases'}."
            parts["census"] = "\n".join([heading, "", *_learned(held, epsilons, "balanced")])
            continue
        measured = {key.rpartition("@")[0] for key, runs in held.items() if any(runs)}
        absent = ", ".join(title for method, title in TITLES.items() if method not in measured)
        left_out = f" This run left out: {absent}." if absent else ""
        once = ", ".join(title for method, title in TITLES.items() if _once(held, method))
        left_out += f" One release of one split only: {once}." if once and splits * draws > 1 else ""
        parts |= {
            "runs": f"Mean ± standard deviation of {splits} random splits, {releases}.{left_out}",
            "adult": "\n".join(_learned(held, epsilons, "accuracy")),
            "tables": "\n".join(_tables(held, epsilons)),
        }
    return parts


def _once(found: Found, method: str) -> bool:
    """Whether a method has one release at each ε."""
    runs = [len(held) for key, held in found.items() if key.rpartition("@")[0] == method and any(held)]
    return bool(runs) and max(runs) == 1


def _learned(found: Found, epsilons: Sequence[float], score: str) -> Iterator[str]:
    """A score and the AUC of every method and reader at each ε."""
    yield f"| released by | read by | {' | '.join(f'ε = {epsilon:g}' for epsilon in epsilons)} |"
    yield f"|---|---|{'---|' * len(epsilons)}"
    for method, title in TITLES.items():
        for reader, called in READERS.items():
            cells = [_scores(found.get(f"{method}@{epsilon:g}", ()), reader, score) for epsilon in epsilons]
            if any(cells) and (method != POOR or reader == "LightGBM"):
                yield f"| {title} | {called} | {' | '.join(cell or '–' for cell in cells)} |"
    for reader in READERS:
        if cell := _scores(found.get("raw@1", ()), reader, score):
            yield f"| raw records | {reader} |{' |' * (len(epsilons) - 1)} {cell} |"


def _tables(found: Found, epsilons: Sequence[float]) -> Iterator[str]:
    yield f"| released by | tables of | {' | '.join(f'ε = {epsilon:g}' for epsilon in epsilons)} |"
    yield f"|---|---|{'---|' * len(epsilons)}"
    for method, title in TITLES.items():
        for width, called in (("one", "one column"), ("two", "two columns")):
            cells = [_cell(found.get(f"{method}@{epsilon:g}", ()), "tables", width) for epsilon in epsilons]
            if any(cells):
                yield f"| {title} | {called} | {' | '.join(cell or '–' for cell in cells)} |"


def _scores(runs: Sequence[Mapping[str, Mapping[str, float]]], reader: str, score: str) -> str:
    """A score with its deviation, and the mean AUC."""
    held = [100 * run[reader]["auc"] for run in runs if reader in run]
    return f"{_cell(runs, reader, score)} / {mean(held):.1f}" if held else ""


def _cell(runs: Sequence[Mapping[str, Mapping[str, float]]], reader: str, score: str) -> str:
    held = [100 * run[reader][score] for run in runs if reader in run]
    if len(held) < 2:
        return f"{held[0]:.1f}" if held else ""
    return f"{mean(held):.1f}±{pstdev(held):.1f}"
