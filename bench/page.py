"""`docs/benchmarks.md`, written from the figures of a run."""

from __future__ import annotations

import json

from results import Results
from settings import K
from side_results import HEADER as SIDE_HEADER
from side_results import KEPT as SIDE
from side_results import Outcome, lines

from report import HEADER, beside_others, deaths, linearity, markdown, table_rows

PAGE_TEXT = """# Speed and memory

Written by `python bench/run.py --full --write-docs`, which is `make bench` with two options; do not edit.

{machine}

## What was measured

- The bundled Adult, 45,222 records without missing values, blown up as in Section V-C of the TDR paper: variations are
  added to the original records, and in each of them q attributes, q ~ U[1, 14], have a random value of the observed
  domain. One table serves all settings. Taxonomies are the bundled ones; numbers are discretized; k = 50.
- GA: one QID, {{age, workclass, education, marital-status, occupation, race, sex, native-country}}. AllAttQID: one QID
  of all 14 attributes. MultiQID: 10 random requirements as in Section V-A, U[3, 7] QIDs of one length U[2, 9]; the
  table shows mean and maximum.
- Read: the csv file, checked against the spec and coded. Search: histograms, index and refinement. Both are taken
  in-process after a run on 5,000 rows, so that loading the compiled kernels is not counted; both are the best of three.
- Write: the rows masked, sorted and put into a parquet file with its manifest; once.
- Command: `unveil publish SPEC --to DIR` in a fresh process, csv to release, start of Python included; the best
  of three (MultiQID: once for each requirement). GB: the largest resident set of that process.
- CPU: processor seconds of the column before it, all threads together. What else runs on the machine stretches the
  others more than this one.
- The first command after an installation also compiles the kernels: {compiling:.0f} s more, once. No other figure
  holds it.

## Figures

Seconds, refinements (steps), and peak memory in gigabytes.

{table}

"asked" is what was asked for on the machine this is built on.

## Growth with rows

{linearity}

## Side by side

{side}

## Beside other tools

GA, the same file, in the same run.

{others}

anjana generalizes whole attributes level by level and does not look at the class, so the releases are not alike. Its
hierarchies are the same taxonomies, and intervals of 5, 10, 20 and 40 years for age.

Reported elsewhere, on another machine: about 80 s for AllAttQID with 1M records, reading and writing excluded, on a
Pentium IV 2.6 GHz with 1 GB (Fung, Wang and Yu, Anonymizing Classification Data for Privacy Preservation, IEEE TKDE
19(5), 2007, Section V-C).
"""


def page(results: Results) -> str:
    machine = results.machine
    libraries = ", ".join(f"{name} {number}" for name, number in machine.libraries.items())
    return PAGE_TEXT.format(
        machine=f"{machine.cores} cores, {machine.memory_gb} GB of memory; Python {machine.python}, {libraries}. "
        f"Others may use the machine, so figures vary between runs: its load was {results.load_before} before this run "
        f"and {results.load_after} at its end, of which the benchmark is about 1.",
        compiling=results.compiling,
        table=markdown(HEADER, *table_rows(results)),
        linearity=_list(*linearity(results)),
        side=side_section(),
        others=_list(*beside_others(results), *deaths(results)),
    )


def _list(*sentences: str) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences) or "- One size only."


SIDE_TEXT = """k = {k} on the 8 attributes of GA, from a csv file to a csv file of released rows, each tool in a process
of its own, in one run. A tool is stopped after {limit:.0f} s, and its line is empty then. Ratio: seconds as a multiple
of unveil's. The rows are 30,000 of the original records, and variations of them. k is what pycanon counts in the
result. NCP: which part of the domain a released value covers, the mean over attributes and rows; a row that was left
out costs 1. Accuracy: a decision tree that learns from the released rows, on the 15,222 other records, masked in the
same way; anonypy has no way to mask records that it has not released, so it has none. Raw test: the same on the raw
records, for every tool alike: the tree learns from released rows in which each label is replaced by one of the values
that it covers, drawn at random. The load of the machine was {load} before.

{table}

anonypy recodes locally: each group has blocks of its own, which may be finer than those of a cut that holds for the
whole table, and later rows cannot be masked by them. unveil refines what tells the classes apart, and NCP does not ask
for that."""


def side_section() -> str:
    """The other tools on the same rows, from their last run."""
    if not SIDE.exists():
        return "Not measured yet: `python bench/side_by_side.py`, then this script again, fill this in."
    told = json.loads(SIDE.read_text(encoding="utf-8"))
    outcomes = [Outcome(**one) for one in told["outcomes"]]
    return SIDE_TEXT.format(k=K, limit=told["limit"], load=told["load"], table=markdown(SIDE_HEADER, *lines(outcomes)))
