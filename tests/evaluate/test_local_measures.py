"""Information loss, risk and classifiers on a release whose groups have labels of their own, against plain counting."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from masking.test_local_views import grown
from masking.trees import AGES, CITIES, JOBS, LEAVES
from unveil.counting.engine import open_engine
from unveil.errors import TableError
from unveil.evaluation.classifiers import classifier, error_rate
from unveil.evaluation.examples import Examples, Numbers, encoded_ends, encoded_nested
from unveil.evaluation.information import information_loss
from unveil.evaluation.reidentification import reidentification_risk
from unveil.masking import LeftOut
from unveil.release import LeaveOut, RefinementManifest, Release, Rows
from unveil.schema import Spec, Taxonomy, load_spec

LABELS = {"age": "[0, 64)", "job": "Any", "city": "⊥", "home": "⊥"}


def _branch(label: str) -> Any:
    return label, [_branch(child) for child in JOBS.get(label, ())]


def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(*AGES, 400),
            "job": random.choice(LEAVES, 400),
            "city": random.choice(CITIES, 400),
            "home": random.choice(CITIES, 400),
        }
    )
    ill = (frame["age"] >= 32) & (frame["job"] == "Clerk") | (random.random(400) < 0.1)
    return frame.assign(ill=np.where(ill, "yes", "no"))


def spec() -> Spec:
    return load_spec(
        {
            "table": {"class": "ill"},
            "attributes": {
                "age": {"kind": "number", "range": list(AGES), "whole": True},
                "job": {"kind": "category", "taxonomy": Taxonomy(_branch("Any"))},
                "city": {"kind": "category", "values": list(CITIES)},
                "home": {"kind": "category", "values": list(CITIES)},
            },
            "require": [
                {"kind": "k-anonymity", "quasi-identifier": ["age", "job", "home"], "k": 5},
                {"kind": "k-anonymity", "quasi-identifier": ["city", "home"], "k": 5},
            ],
        }
    )


def released(left_out: LeftOut | None = None) -> Release:
    masking = grown().masking
    table, engine = open_engine(spec(), people(), "memory")
    rows = engine.released(masking, None, left_out)
    aside = None if left_out is None else LeaveOut(share="50%", records=left_out.records, as_="mask", labels=LABELS)
    manifest = RefinementManifest(
        unveil_version="0",
        guarantee="",
        class_="ill",
        weight=None,
        requirements=({"kind": "k-anonymity", "quasi-identifier": ["age", "job", "home"], "k": 5},),
        columns=masking.columns,
        rows=Rows(read=table.read, dropped=0, released=rows.num_rows),
        records=rows.num_rows,
        boxes=masking.boxes,
        leave_out=aside,
    )
    return Release(rows, manifest)


WIDTHS = {"Any": 7 / 7, "Office": 4 / 7, "Office, other": 4 / 7, "Manual": 2 / 7, "Clerk": 0, "None": 0}


def test_a_label_costs_what_it_covers_at_most() -> None:
    loss = information_loss(released(), spec())
    labels = released().table.to_pylist()
    assert loss.penalties["age"] == pytest.approx(31 / 63)
    assert loss.penalties["job"] == pytest.approx(np.mean([WIDTHS[row["job"]] for row in labels]))
    assert loss.penalties["city"] == pytest.approx(np.mean([row["city"] == "⊥" for row in labels]))
    assert loss.penalties["home"] == 1
    heights = {"Any": 1, "Office": 1 / 2, "Office, other": 1 / 2, "Manual": 1 / 2, "Clerk": 0, "None": 0}
    assert loss.precisions["job"] == pytest.approx(1 - np.mean([heights[row["job"]] for row in labels]))


def test_rows_that_are_left_out_and_masked_cost_all() -> None:
    old = int((people()["age"] < 32).sum())
    release = released(LeftOut(grown().masking.boxes, ((0,), ()), old, LABELS))
    ages = release.table["age"].to_pylist()
    assert ages.count("[0, 64)") == old
    costs = {"[0, 64)": 1.0, "[32, 64)": 31 / 63}
    assert information_loss(release, spec()).penalties["age"] == pytest.approx(np.mean([costs[age] for age in ages]))


def test_the_population_is_masked_by_the_tree() -> None:
    """A journalist's groups: the people of the population whom the tree puts under the same labels."""
    everybody = pd.concat([people()] * 3, ignore_index=True)
    release = released()
    risk = reidentification_risk(release, ["age", "job"], population=everybody)
    smallest = release.table.to_pandas().groupby(["age", "job"], observed=True).size().min()
    assert risk.prosecutor.highest == pytest.approx(1 / smallest)
    assert risk.journalist.highest == pytest.approx(1 / (3 * smallest))


def test_a_population_must_have_the_attributes_of_the_tree() -> None:
    with pytest.raises(TableError, match="the population has no attribute 'home'"):
        reidentification_risk(released(), ["age"], population=people()[["age", "job"]])


def test_classifiers_learn_from_labels_that_overlap() -> None:
    release = released()
    examples = Examples.of(release.table, "ill", None, release.masking)
    ends = [column for column in encoded_ends(examples, examples) if isinstance(column, Numbers)]
    ages, jobs = release.table["age"].to_pylist(), release.table["job"].to_pylist()
    places = {"[0, 32)": (0, 1), "[32, 64)": (1, 2)}
    assert list(zip(ends[0].train, ends[1].train, strict=True)) == [places[age] for age in ages]
    leaves = {"Any": (0, 7), "Office": (0, 4), "Office, other": (0, 4), "Clerk": (LEAVES.index("Clerk"),) * 2}
    for job, first, last in zip(jobs, ends[2].train, ends[3].train, strict=True):
        assert (first, last - (job == "Clerk")) == leaves.get(job, (first, last))
    nested = [column for column in encoded_nested(examples, examples) if isinstance(column, Numbers)]
    covered = [["Office", "Office, other", "Clerk"], ["Manual"]]
    under = [[float(job in held) for job in jobs] for held in covered]
    assert [column.train.tolist() for column in nested[2:]] == under
    missed = {"tree": 0.15, "boosting": 0.15, "bayes": 0.15}
    assert all(error_rate(name, examples, examples) < most for name, most in missed.items())
    taken = examples.take(np.arange(10)).select(["age"])
    assert len(list(encoded_ends(taken, taken))) == 2


def test_naive_bayes_reads_a_label_as_the_values_that_it_covers() -> None:
    """By hand: records count evenly for the places of their labels, and a label says the mean of what these say."""
    release = released()
    examples = Examples.of(release.table, "ill", None, release.masking).select(["job"])
    covers = {"Any": LEAVES, "Office": LEAVES[:4], "Office, other": LEAVES[:4], "Manual": LEAVES[4:6]}
    prior = {ill: (examples.labels == ill).sum() for ill in ("no", "yes")}
    held = {(leaf, ill): 1.0 for leaf in LEAVES for ill in prior}
    for job, ill in zip(examples.columns["job"], examples.labels, strict=True):
        covered = covers.get(job, [job])
        for leaf in covered:
            held[leaf, ill] += 1 / len(covered)
    likely = {(leaf, ill): count / (prior[ill] + len(LEAVES)) for (leaf, ill), count in held.items()}
    answers = classifier("bayes").answers(examples, examples).chances
    for job, chances in zip(examples.columns["job"], answers, strict=True):
        covered = covers.get(job, [job])
        odds = [
            (prior[ill] + 1)
            * np.mean([likely[leaf, ill] / (likely[leaf, "no"] + likely[leaf, "yes"]) for leaf in covered])
            for ill in ("no", "yes")
        ]
        assert chances == pytest.approx(np.array(odds) / sum(odds))
