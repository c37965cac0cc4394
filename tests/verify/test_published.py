"""Releases of the joint search on random tables: every claim holds, also against the raw table; a defect is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import unveil
from bridge import spec_of, table_of
from oracles.problem import Problem
from oracles.strategies import mixed_problems, problems, spread_problems, template_problems
from unveil.schema import Recoding, Spec
from verify.releases import edit_manifest, rehash, write_parquet

RECODINGS: SearchStrategy[Recoding] = st.sampled_from(("local", "global"))
ANY = st.one_of(problems(), template_problems(), mixed_problems(), spread_problems())


def joint_spec(problem: Problem, recoding: Recoding) -> Spec:
    return replace(spec_of(problem), search="joint", recoding=recoding, criterion="score")


@settings(deadline=None, max_examples=25)
@given(ANY, RECODINGS, st.integers(0, 20))
def test_every_claim_of_a_joint_search_holds(problem: Problem, recoding: Recoding, steps: int) -> None:
    table, spec = table_of(problem), joint_spec(problem, recoding)
    release = unveil.publish(table, spec, steps=steps)
    assert unveil.verify(release, spec, table=table) == []


@settings(deadline=None, max_examples=25)
@given(ANY, st.randoms(use_true_random=True))
def test_a_row_with_another_label_is_found(problem: Problem, draw: Random) -> None:
    table, spec = table_of(problem), joint_spec(problem, "local")
    release = unveil.publish(table, spec)
    with TemporaryDirectory() as place:
        folder = Path(place) / "release"
        release.write(folder)
        rows = pq.read_table(folder / "data.parquet").to_pylist()
        name = draw.choice(sorted(spec.masked))
        row = draw.choice(rows)
        others = sorted({*release.manifest.columns[name].shown, "⊥"} - {row[name]})
        if not others:
            return
        row[name] = draw.choice(others)
        rewrite(folder, rows)
        assert unveil.verify(folder, spec, table=table)


def rewrite(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Writes rows in the form of a release, sorted, with a hash that fits."""
    schema = pq.read_schema(folder / "data.parquet")
    rows.sort(key=lambda row: [value.encode() if isinstance(value, str) else value for value in row.values()])
    write_parquet(pa.Table.from_pylist(rows, schema), folder / "data.parquet")
    rehash(folder)


def _shorter(tree: dict[str, Any], draw: Random) -> None:
    tree["order"].pop()


def _longer(tree: dict[str, Any], draw: Random) -> None:
    tree["order"].append(-1)


def _swapped(tree: dict[str, Any], draw: Random) -> None:
    into = draw.choice(tree["splits"])["into"]
    into[0], into[-1] = into[-1], into[0]


def _renamed(tree: dict[str, Any], draw: Random) -> None:
    draw.choice(tree["splits"])["block"] += " "


def _dropped(tree: dict[str, Any], draw: Random) -> None:
    draw.choice(tree["splits"])["into"].pop()


def _cut_off(tree: dict[str, Any], draw: Random) -> None:
    """A split becomes a leaf, and what was below it is gone."""
    inner = [place for place, number in enumerate(tree["order"]) if number >= 0]
    place = draw.choice(inner)
    end, open_ = place, 1
    while open_:
        number = tree["order"][end]
        open_ += len(tree["splits"][number]["into"]) - 1 if number >= 0 else -1
        end += 1
    tree["order"][place:end] = [-1]


def _unused(tree: dict[str, Any], draw: Random) -> None:
    split = draw.choice(tree["splits"])
    tree["splits"].append({**split, "into": [*split["into"], "x"]})


DEFECTS = (_shorter, _longer, _swapped, _renamed, _dropped, _cut_off, _unused)


@settings(deadline=None, max_examples=25)
@given(ANY, st.sampled_from(DEFECTS), st.randoms(use_true_random=True))
def test_a_tree_with_a_defect_is_found(
    problem: Problem, defect: Callable[[dict[str, Any], Random], None], draw: Random
) -> None:
    """A single child in its own place is not a defect."""
    table, spec = table_of(problem), joint_spec(problem, "local")
    release = unveil.publish(table, spec)
    trees = [place for place, tree in enumerate(release.manifest.boxes) if tree.splits]
    if not trees:
        return
    chosen = draw.choice(trees)
    with TemporaryDirectory() as place:
        folder = Path(place) / "release"
        release.write(folder)
        before = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        edit_manifest(folder, lambda content: defect(content["boxes"][chosen], draw))
        if json.loads((folder / "manifest.json").read_text(encoding="utf-8")) != before:
            assert unveil.verify(folder, spec, table=table)
