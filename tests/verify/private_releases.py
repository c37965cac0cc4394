"""Differentially private releases made by hand, so that the tests of the verifier need nothing of the engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from unveil.verifier import Finding
from verdicts import verify_release
from verify.releases import TAXONOMY, Draft

Manifest = dict[str, Any]
Charge = dict[str, str]

COUNTS = "counts of all cells"
CLASSES = ("low", "high")
GUARANTEE = (
    "This release is ε-differentially private with ε = 1: adding or removing one record changes the probability of any "
    "release by a factor of at most exp(1)."
)
SEEDED = "None: it was made with a seed, for tests and experiments."
SPEC = """
[table]
source = "raw.csv"
class = "income"

[attributes.name]
role = "identifier"

[attributes.age]
kind = "number"
range = [17, 91]
whole = true

[attributes.height]
kind = "number"
range = [1.5, 2]
step = 0.1

[attributes.education]
kind = "category"
taxonomy = "education.tree"

[attributes.sex]
kind = "category"
values = ["F", "M"]

[attributes.job]
kind = "category"
values = ["baker", "cook", "clerk"]

[attributes.income]
values = ["low", "high"]

[[require]]
kind = "differential-privacy"
epsilon = 1

[publish]
method = "diffgen"
specializations = 6
"""


class PrivateDraft(Draft):
    """A private release before it is written."""

    @property
    def columns(self) -> list[str]:
        return [*self.manifest["masking"], self.manifest["class"], "count"]


Plant = Callable[[PrivateDraft], object]


def charge(purpose: str, epsilon: str, composition: str = "sequential") -> Charge:
    return {"purpose": purpose, "epsilon": epsilon, "composition": composition}


def ledger(share: str, counts: str, steps: int = 6) -> list[Charge]:
    """So many specializations, of which the first, third and fifth specialized numbers."""
    charges = [charge("first split of age", share), charge("first split of height", share)]
    for number in range(1, steps + 1):
        charges.append(charge(f"specialization {number}", share))
        if number in (1, 3, 5):
            charges.append(charge(f"splits after specialization {number}", share, "parallel"))
    return [*charges, charge(COUNTS, counts)]


def manifest() -> Manifest:
    return {
        "schema_version": 1,
        "unveil_version": "0.2.0",
        "method": "diffgen",
        "guarantee": GUARANTEE,
        "private": True,
        "class": "income",
        "classes": ["low", "high"],
        "requirements": [{"kind": "differential-privacy", "epsilon": "1"}],
        "masking": {
            "age": discretization((17, 30), (30, 37), (37, 91)),
            "height": {**discretization((1.5, 1.7), (1.7, 2)), "whole": False},
            "education": {
                "kind": "generalization",
                "domain": "declared",
                "blocks": [
                    {"label": "University", "values": ["Bachelors", "Masters"]},
                    {"label": "9th", "values": ["9th"]},
                    {"label": "10th", "values": ["10th"]},
                ],
            },
            "sex": {"kind": "suppression", "domain": "declared", "disclosed": ["F", "M"], "marker": "⊥"},
            "job": {"kind": "suppression", "domain": "declared", "disclosed": [], "marker": "⊥"},
        },
        "specializations": 6,
        "utility": "max",
        "choice": "permute-and-flip",
        "budget": "full",
        "ledger": ledger("1/28", "17/28"),
        "cells": 72,
        "threshold": None,
        "files": {},
    }


def discretization(*intervals: tuple[float, float]) -> dict[str, Any]:
    blocks = [{"label": f"[{lo}, {hi})", "from": lo, "to": hi} for lo, hi in intervals]
    return {"kind": "discretization", "domain": "declared", "whole": True, "blocks": blocks}


def private_draft() -> PrivateDraft:
    """A release of all cells, with counts from 0 to 4."""
    content = manifest()
    masking = content["masking"]
    labels = [[block["label"] for block in masking[name]["blocks"]] for name in ("age", "height", "education")]
    cells = product(*labels, ["F", "M"], ["⊥"], ["low", "high"])
    return PrivateDraft([(*cell, number % 5) for number, cell in enumerate(cells)], content)


def above_threshold(planted: PrivateDraft) -> None:
    """Leaves the cells whose count is at least 3."""
    planted.manifest["threshold"] = 3
    planted.rows = [row for row in planted.rows if row[-1] >= 3]


def as_in_the_paper(planted: PrivateDraft) -> None:
    planted.manifest.update(budget="paper", choice="exponential", ledger=ledger("1/28", "1/2"))


def spent(charges: list[Charge]) -> Fraction:
    return sum((Fraction(entry["epsilon"]) for entry in charges), Fraction(0))


def verify_private(folder: Path, plant: Plant, *, sort: bool = True, with_csv: bool = False) -> list[Finding]:
    """Verifies the true release after a defect was planted in it; hashes and order fit the defect."""
    planted = private_draft()
    plant(planted)
    return verify_release(planted.write(folder / "planted", sort=sort, with_csv=with_csv))


def found(findings: list[Finding], claim: str, words: str) -> None:
    """All findings are about the claim, and one says the words."""
    assert {finding.claim for finding in findings} == {claim}, findings
    assert any(words in finding.message for finding in findings), findings


def write_spec(folder: Path, spec: str = SPEC) -> Path:
    """Writes a spec, its taxonomy and a raw table from which the counts of the draft differ as by noise."""
    rows = [
        ["x", str(cell[0]), str(cell[1]), cell[2], cell[3], "cook", cell[4]]
        for number, cell in enumerate(product((17, 30, 37), (1.5, 1.7), ("Masters", "9th", "10th"), "FM", CLASSES))
        for _ in range((number + 1) % 5)
    ]
    header = ["name", "age", "height", "education", "sex", "job", "income"]
    (folder / "raw.csv").write_text("\n".join(map(",".join, [header, *rows])) + "\n", encoding="utf-8")
    (folder / "education.tree").write_text(TAXONOMY, encoding="utf-8")
    path = folder / "spec.toml"
    path.write_text(spec, encoding="utf-8")
    return path


def each(cases: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases.values(), ids=cases)
