"""The figures as a person reads them: a table and sentences, on the terminal and in `docs/scale.md`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from results import Case, Measured, Peers, Results
from rich.console import Console
from rich.table import Table
from settings import ASKED_COMMAND, ASKED_ROWS, GA_LOCAL, SETTINGS, Setting

from peers import ANJANA, SUPPRESSION

HEADER = ("setting", "rows", "read", "search", "CPU", "steps", "write", "command", "CPU", "GB")
OTHERS = (
    *("rows", "pandas.read_csv", "read from parquet", f"{ANJANA} (at most {SUPPRESSION}% left out)"),
    *("× search", "× search and write", "× command", "result"),
)
GB = 1e9
ASKED = "asked"
"""Marks the line with what was asked for; it is not on the page."""


FIGURES: tuple[tuple[Callable[[Case], float], str], ...] = (
    (lambda case: case.stages.read, ".2f"),
    (lambda case: case.stages.search, ".2f"),
    (lambda case: case.stages.search_cpu, ".2f"),
    (lambda case: case.stages.refinements, ".0f"),
    (lambda case: case.stages.write, ".2f"),
    (lambda case: case.command.seconds, ".2f"),
    (lambda case: case.command.cpu, ".2f"),
    (lambda case: case.command.peak / GB, ".2f"),
)


def table_rows(results: Results, sizes: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    for setting in SETTINGS:
        for rows in sizes:
            yield from _lines(results.of(setting.name, rows))
            if rows == ASKED_ROWS:
                yield _asked(setting)


def _lines(measured: Measured) -> Iterator[tuple[str, ...]]:
    """One line, or the mean and the maximum of several requirements."""
    name = measured.setting
    several = len(measured.cases) > 1
    for title, summary in ((f"{name}, mean", measured.mean), (f"{name}, max", measured.max))[: 1 + several]:
        cells = (format(summary(figure), form) for figure, form in FIGURES)
        yield (title if several else name, f"{measured.rows:,}", *cells)


def _asked(setting: Setting) -> tuple[str, ...]:
    return ("", ASKED, "", f"< {setting.asked}", "", "", "", f"< {ASKED_COMMAND}", "", f"< {setting.asked_peak}")


def linearity(results: Results) -> Iterator[str]:
    first, last = results.sizes[0], results.sizes[-1]
    if first == last:
        return
    for setting in SETTINGS:
        few, many = results.of(setting.name, first), results.of(setting.name, last)
        wall, cpu = (many.mean(figure) / few.mean(figure) for figure in (FIGURES[1][0], FIGURES[2][0]))
        yield (
            f"{setting.name}: {last / first:.1f} times the rows ({first:,} to {last:,}) take {wall:.1f} times the "
            f"search time and {cpu:.1f} times the CPU."
        )


def local_ratio(results: Results) -> Iterator[str]:
    """What refining every group by itself costs, next to the papers' search."""
    rows = results.sizes[-1]
    paper, local = (results.of(name, rows).cases[0] for name in ("GA", GA_LOCAL))
    search, command = (figure(local) / figure(paper) for figure in (FIGURES[2][0], FIGURES[6][0]))
    yield (
        f"{GA_LOCAL}, {rows:,} rows: {search:.1f} times the CPU of GA for the search, {command:.1f} times for the "
        f"whole command, and {local.command.peak / GB:.2f} GB instead of {paper.command.peak / GB:.2f}."
    )


def other_rows(results: Results) -> Iterator[tuple[str, ...]]:
    """Reading and anjana on the tables of GA, in seconds and as multiples of what is done here."""
    for peers in results.peers:
        case = results.of("GA", peers.rows).cases[0]
        yield f"{peers.rows:,}", f"{peers.read_csv:.2f}", f"{case.stages.read_parquet:.2f}", *_anjana(case, peers)


def _anjana(case: Case, peers: Peers) -> tuple[str, ...]:
    if peers.anjana is None:
        return ("skipped without --full", "", "", "", "")
    call, made = peers.anjana.call, case.stages.search + case.stages.write
    multiples = (call / case.stages.search, call / made, (peers.anjana.read + call) / case.command.seconds)
    return (f"{call:.1f}", *(f"{multiple:.0f}" for multiple in multiples), peers.anjana.outcome(peers.rows))


def deaths(results: Results) -> Iterator[str]:
    died = sum(case.command.died for measured in results.measured for case in measured.cases)
    if died:
        yield f"A signal ended {died} of the commands; they were run again and are not in the figures."


def markdown(header: tuple[str, ...], *rows: tuple[str, ...]) -> str:
    rule = ("---",) + ("---:",) * (len(header) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def print_report(console: Console, results: Results) -> None:
    table = Table(title="seconds, refinements (steps), and peak memory in gigabytes")
    for place, title in enumerate(HEADER):
        table.add_column(title, justify="left" if place == 0 else "right", no_wrap=True)
    for row in table_rows(results, tuple(results.sizes)):
        table.add_row(*row, style="dim" if row[1] == ASKED else None)
    console.print(table)
    console.print(f"Load of the machine: {results.load_before} before, {results.load_after} after.", highlight=False)
    others = Table(*OTHERS, title="other tools on GA, seconds")
    for row in other_rows(results):
        others.add_row(*row)
    console.print(others)
    for sentence in (*linearity(results), *local_ratio(results), *deaths(results)):
        console.print(f"- {sentence}", markup=False, highlight=False, soft_wrap=True)
