"""The parts of `docs/scale.md` that come from the figures of a run."""

from __future__ import annotations

from results import Results
from same_k_results import kept, page_rows, ways
from side_results import HEADER as SIDE_HEADER
from side_results import lines, outcomes

from report import ASKED, HEADER, deaths, linearity, local_ratio, markdown, table_rows


def speed_parts(results: Results) -> dict[str, str]:
    """What was measured, by the names that the page has for it: in detail for the largest table, and how time grows."""
    parts = {
        "machine": f"{results.machine} Load of the machine: {results.load_before} before, {results.load_after} after.",
        "compiling": f"{results.compiling:.0f} s",
        "figures": markdown(HEADER, *(row for row in table_rows(results, (results.sizes[-1],)) if row[1] != ASKED)),
        "growth": _list(*linearity(results), *local_ratio(results), *deaths(results)),
    }
    return parts | side_part() | same_k_parts()


def _list(*sentences: str) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences) or "- One size only."


def side_part() -> dict[str, str]:
    """The tools on the largest table of their last run; nothing if there was none (`bench/side_by_side.py`)."""
    found = outcomes()
    most = max((one.rows for one in found), default=0)
    return {"side": markdown(SIDE_HEADER, *lines([one for one in found if one.rows == most]))} if found else {}


def same_k_parts() -> dict[str, str]:
    """What releases were worth at the same k in the last runs; nothing if there was none (`bench/same_k.py`)."""
    found = kept()
    if not found.cells:
        return {}
    header = ("table", "measure", *ways(found))
    return {
        "same_k_machine": f"{found.machine} Boosted trees: {found.boosting}.",
        "same_k": markdown(header, *page_rows(found)),
    }
