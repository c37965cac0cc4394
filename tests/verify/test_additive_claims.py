"""An additive release with planted faults: its ledger, its plan, its cut, its tree and its weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from unveil.verifier import judge_release
from verdicts import verify_release
from verify.additive_releases import THREE, Manifest, content, planted, published, rewritten
from verify.private_releases import each

Edit = Callable[[Manifest], Any]


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """The releases here have so many rows that batches of three would take minutes."""


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("two"), seed=2)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("three"), spec=THREE)


def test_a_private_release_holds_and_says_what_cannot_be_seen(true: Path) -> None:
    verdict = judge_release(true)
    assert verdict.findings == []
    assert verdict.notes[0] == (
        "The arithmetic adds up. That noise was added cannot be seen from the release; --raw can test it."
    )
    assert "is not checked" in verdict.notes[1]


def test_a_release_of_three_classes_holds(three: Path) -> None:
    assert verify_release(three) == []
    assert len(content(three)["base"]) == 3


def test_the_releases_measure_every_kind_of_attribute(true: Path) -> None:
    """Otherwise the faults below would be planted in a part that nothing looks at."""
    assert {"age", "since", "education", "job"} <= set(content(true)["bins"])


def _ledger(place: int, **changed: str) -> Edit:
    return lambda manifest: manifest["ledger"][place].update(changed)


LEDGER: dict[str, tuple[Edit, str, str]] = {
    "charge left out": (lambda m: m["ledger"].pop(1), "ledger", "charge 2 is for 'sums of round 1'"),
    "charge twice": (lambda m: m["ledger"].insert(1, m["ledger"][0]), "ledger", "charge 2 is for 'class totals'"),
    "leaves unpaid": (lambda m: m["ledger"].pop(), "ledger", "for nothing, but the draws make it one for 'counts"),
    "charge for nothing": (lambda m: m["ledger"].append(dict(m["ledger"][0], purpose="a look")), "ledger", "'a look'"),
    "parallel": (_ledger(2, composition="parallel"), "ledger", "is parallel, but all records are in it"),
    "cheaper": (_ledger(0, epsilon="1/20"), "charge", "'class totals' is 1/20, but its share of ε is 3/50"),
}  # fmt: skip


@each(LEDGER)
def test_a_ledger_that_is_not_that_of_the_draws_is_found(
    true: Path, tmp_path: Path, case: tuple[Edit, str, str]
) -> None:
    edit, claim, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert {finding.claim for finding in findings} <= {claim, "budget"}
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def test_charges_above_epsilon_are_found(true: Path, tmp_path: Path) -> None:
    findings = verify_release(planted(true, tmp_path, _ledger(-1, epsilon="30000000001/100000000000")))
    assert {finding.claim for finding in findings} == {"charge", "budget"}


def _round(place: int, **changed: Any) -> Edit:
    return lambda manifest: manifest["rounds"][place].update(changed)


def _unpaid_round(manifest: Manifest) -> None:
    """One round more, with charges of its own, out of what the last one had."""
    manifest["rounds"].append(manifest["rounds"][-1])


def _cheap_round(manifest: Manifest) -> None:
    manifest["rounds"].pop()
    del manifest["ledger"][-3:-1]


PLAN: dict[str, tuple[Edit, str, str]] = {
    "an unpaid round": (_unpaid_round, "ledger", "the draws make it one for 'choice of round"),
    "a round that nobody drew": (_cheap_round, "measured", "rounds, but by the totals and ε there should be"),
    "unit": (_round(0, unit=256), "measured", "round 1 has the unit 256, but its charge makes it 512"),
    "class": (_round(0, **{"class": "low"}), "measured", "the class 'low', which has no model"),
    "attribute": (_round(0, attribute="x"), "measured", "'x', which is not an attribute"),
    "sums": (lambda m: m["rounds"][0]["within"].pop(), "measured", "numbers in within, but"),
    "steps": (lambda m: m["rounds"][0]["steps"].append(0), "measured", "numbers in steps, but"),
    "base": (lambda m: m.update(base=[m["base"][0] + 1]), "measured", "the base of 'high' is"),
    "two bases": (lambda m: m.update(base=[0, 0]), "measured", "base has 2 numbers, but there are 1 models"),
    "totals": (lambda m: m["totals"].append(3), "measured", "there are 3 totals of 2 classes"),
    "a leaf of one count": (lambda m: m["leaves"][0].pop(), "measured", "leaf 0 has 1 count for 2 classes"),
    "a text": (lambda m: m["totals"].append("3"), "manifest", "totals.2"),
    "a fraction": (lambda m: m["leaves"][0].append(0.5), "manifest", "leaves.0.2"),
    "rows": (lambda m: m.update(rows=3000), "manifest", "rows: Extra inputs"),
    "a true sum": (_round(0, true=[1]), "manifest", "rounds.0.true: Extra inputs"),
}  # fmt: skip


@each(PLAN)
def test_what_was_not_planned_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str, str]) -> None:
    edit, claim, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert any(finding.claim == claim and words in finding.message for finding in findings), findings


def _relabelled(name: str, place: int, label: str) -> Edit:
    def edit(manifest: Manifest) -> None:
        items = list(manifest["bins"][name].items())
        items[place] = (label, items[place][1])
        manifest["bins"][name] = dict(items)

    return edit


def _moved(name: str, place: int, block: int) -> Edit:
    """Puts a bin into another block."""

    def edit(manifest: Manifest) -> None:
        bins = manifest["bins"][name]
        bins[list(bins)[place]] = list(dict.fromkeys(bins.values()))[block]

    return edit


def _finer(manifest: Manifest) -> None:
    """An attribute that no round measured gets a second block."""
    entry = manifest["masking"]["height"]
    manifest["bins"].pop("height", None)
    manifest["rounds"] = [done for done in manifest["rounds"] if done["attribute"] != "height"]
    entry["blocks"] = [
        {"label": "[1.5, 1.7)", "from": 1.5, "to": 1.7},
        {"label": "[1.7, 2)", "from": 1.7, "to": 2},
    ]


CUT: dict[str, tuple[Edit, str]] = {
    "a block that nothing paid for": (_finer, "'height' has 2 blocks, but it was not measured"),
    "bins of an attribute that no round measured": (lambda m: m["bins"].update(zip={"a": "b"}), "has bins of"),
    "a gap": (_relabelled("age", 1, "[18, 18.5)"), "overlap or leave a gap"),
    "a wider end": (_relabelled("age", -1, "[70, 100)"), "does not hold it"),
    "a bin that is not an interval": (_relabelled("age", 0, "young"), "'young', which is not an interval"),
    "another spelling": (_relabelled("age", 0, "[17.0, 25)"), "is not an interval"),
    "a date in another block": (_moved("since", 0, -1), "but the blocks"),
    "a value in another block": (_moved("education", 0, -1), "'education' has"),
    "a hidden value that is disclosed": (_moved("job", 0, -1), "'job' has the bin 'baker' in the block"),
}


@each(CUT)
def test_a_cut_that_is_not_made_of_bins_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str]) -> None:
    edit, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert any(finding.claim == "bins" and words in finding.message for finding in findings), findings


def _test_node(manifest: Manifest) -> Manifest:
    node: Manifest = manifest["tree"][0]
    return node


TREE: dict[str, tuple[Edit, str]] = {
    "lost leaf": (lambda m: m["leaves"].pop(), "its leaves are not the"),
    "leaf twice": (lambda m: m["tree"][-1].update(leaf=0), "its leaves are not the"),
    "a loop": (lambda m: _test_node(m).update(left=_test_node(m)["right"]), "a node is below none or several others"),
    "unknown attribute": (lambda m: _test_node(m).update(attribute="x"), "tests 'x', which is not an attribute"),
    "unknown label": (lambda m: _test_node(m)["labels"].append("x"), "is not a part of the labels"),
    "all labels": (
        lambda m: _test_node(m).update(
            attribute="age", labels=[block["label"] for block in m["masking"]["age"]["blocks"]]
        ),
        "is not a part of the labels",
    ),
}


@each(TREE)
def test_a_tree_that_is_none_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str]) -> None:
    edit, words = case
    findings = verify_release(planted(true, tmp_path, edit))
    assert any(finding.claim == "tree" and words in finding.message for finding in findings), findings


PROMISE: dict[str, tuple[Edit, str]] = {
    "a promise too good": (lambda m: m.update(guarantee=m["guarantee"].replace("exp(2)", "exp(1)")), "guarantee"),
    "a seeded one": (lambda m: m.update(private=False), "guarantee"),
    "another ε": (lambda m: m["requirements"][0].update(epsilon="1"), "guarantee"),
    "an observed domain": (lambda m: m["masking"]["job"].update(domain="observed"), "domain"),
    "a class twice": (lambda m: m["classes"].append("low"), "classes"),
    "cells": (lambda m: m.update(cells=m["cells"] + 1), "cells"),
}


@each(PROMISE)
def test_a_false_claim_is_found(true: Path, tmp_path: Path, case: tuple[Edit, str]) -> None:
    edit, claim = case
    assert claim in {finding.claim for finding in verify_release(planted(true, tmp_path, edit))}


def _weights(change: Callable[[Any], Any]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        weights = change(table["weight"].to_numpy().copy())
        return table.set_column(table.num_columns - 1, "weight", pa.array(weights, from_pandas=False))

    return changed


def _first(value: float) -> Callable[[pa.Table], pa.Table]:
    def first(weights: Any) -> Any:
        weights[0] = value
        return weights

    return _weights(first)


ROWS: dict[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "a weight of another size": (_weights(lambda weights: np.round(weights * 1.001, 6)), "weights"),
    "one weight of another size": (_first(50.0), "weights"),
    "a row left out": (lambda table: table.slice(1), "weights"),
    "true counts in their place": (_weights(lambda weights: np.maximum(np.rint(weights), 1.0)), "weights"),
    "a negative weight": (_first(-1.0), "weight"),
    "no weight": (_first(0.0), "weight"),
    "not a number": (_first(float("nan")), "weight"),
    "an endless weight": (_first(float("inf")), "weight"),
    "seven decimals": (_first(1.0000001), "weight"),
    "counts": (_weights(lambda weights: np.rint(weights).astype(np.int64)), "columns"),
    "a row twice": (lambda table: pa.concat_tables([table.slice(0, 1), table]), "equal-rows"),
    "unsorted rows": (lambda table: table.take(pa.array(np.arange(table.num_rows)[::-1])), "order"),
    "a column more": (lambda table: table.append_column("n", table["weight"]), "columns"),
    "an unknown label": (
        lambda table: table.set_column(
            4, "job", pc.if_else(pc.equal(table["job"], table["job"][0]), "smith", table["job"])
        ),
        "label",
    ),
}


@each(ROWS)
def test_rows_that_were_not_measured_are_found(
    true: Path, tmp_path: Path, case: tuple[Callable[[pa.Table], pa.Table], str]
) -> None:
    change, claim = case
    assert claim in {finding.claim for finding in rewritten(true, tmp_path, change)}


@pytest.mark.parametrize("key", ["totals", "leaves"])
def test_numbers_that_do_not_make_the_weights_are_found(three: Path, tmp_path: Path, key: str) -> None:
    def edit(manifest: Manifest) -> None:
        held = manifest[key] if key == "totals" else manifest[key][0]
        held[0] += 40

    findings = verify_release(planted(three, tmp_path, edit))
    assert {finding.claim for finding in findings} <= {"weights", "measured", "cells"}
    assert findings
