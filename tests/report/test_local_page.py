"""Pages about a release whose groups are refined one by one."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unveil
from report.reading import read
from unveil.evaluation.information import block_penalties
from unveil.masking import LEAF, BoxTree, Generalization, Split, Suppression
from unveil.release import RefinementManifest, Release, Rows
from unveil.reports import handout_page
from unveil.reports.attributes import group_trees, leaf_records, taxonomy_branch
from unveil.reports.figures import coarse, exact, fineness
from unveil.schema import Taxonomy, load_spec

HOSTILE = "<img src=x onerror=alert(1)>"
ODD = 437
"""How many people there are: a number that appears on no page to hand out."""
TREE = ("Any", [("Office", [("Clerk", []), (HOSTILE, []), ("Temp", [])]), ("Manual", [("Crafts", []), ("Driver", [])])])


def people() -> pd.DataFrame:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 64, ODD),
            "job": random.choice(["Clerk", HOSTILE, "Temp", "Crafts", "Driver"], ODD, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "city": random.choice([f"town {number:02}" for number in range(30)], ODD),
        }
    )
    ill = (frame["age"] > 30) ^ (frame["job"] == "Clerk") ^ (random.random(ODD) < 0.1)
    return frame.assign(ill=np.where(ill, "yes", "no"))


def spec(recoding: str = "local") -> dict[str, Any]:
    return {
        "table": {"class": "ill", "title": "People"},
        "attributes": {
            "age": {"kind": "number", "range": [0, 64], "whole": True},
            "job": {"kind": "category", "taxonomy": Taxonomy(TREE)},
            "city": {"kind": "category"},
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "job", "city"], "k": 5}],
        "publish": {"search": "joint", "recoding": recoding},
    }


@pytest.fixture(scope="module")
def release() -> Release:
    return unveil.publish(people(), spec())


def test_records_are_counted_by_leaf(release: Release) -> None:
    (tree,), (walk,) = release.masking.boxes, release.masking.walks
    records = leaf_records(release, tree, walk)
    assert sum(records) == ODD
    groups = Counter(tuple(row[name] for name in tree.attributes) for row in release.table.to_pylist())
    assert sorted(count for count in records if count) == sorted(groups.values())


def test_the_top_of_the_tree_is_drawn_with_coarse_shares(release: Release) -> None:
    (drawn,) = group_trees(release, coarse, counted=False)
    assert drawn.rows[0].full == "all rows"
    assert len(drawn.rows) < 100
    assert all(re.fullmatch(r"(about \d+%|under 5%|over 95%)", row.share) for row in drawn.rows if row.share)
    (counted,) = group_trees(release, exact, counted=True)
    assert re.fullmatch(r"100\.0%, \d+ groups", counted.rows[0].share)


def test_fineness_is_a_distribution_over_records(release: Release) -> None:
    for name in ("age", "job"):
        chart = fineness(release, name, exact, None)
        costs = block_penalties(release.masking[name])
        exact_values = np.mean([costs[row[name]] == 0 for row in release.table.to_pylist()])
        shares = {bar.full: float(bar.text.strip("%")) for bar in chart.bars}
        assert sum(shares.values()) == pytest.approx(100, abs=0.3)
        assert shares.get("one value", 0) == pytest.approx(100 * exact_values, abs=0.06)
    hidden = {bar.full: bar.text for bar in fineness(release, "city", exact, None).bars}
    assert hidden.keys() <= {"one value", "more than half"}


def test_the_page_to_hand_out_is_escaped_and_tells_no_exact_count(release: Release, tmp_path: Path) -> None:
    release.write(tmp_path / "release")
    page = handout_page(unveil.open_release(tmp_path / "release"))
    assert HOSTILE not in page
    seen = read(page).text
    assert "How the records are divided into groups on" in seen
    assert "group by group" in seen
    assert str(ODD) not in seen
    assert not re.search(r"\d+ groups", seen)


def test_a_page_of_thousands_of_groups_stays_small() -> None:
    values = tuple(f"c{number:04}" for number in range(4_000))
    splits = tuple(Split(attribute="code", block="⊥", into=(value, "⊥")) for value in values)
    order = (*(number for place in range(len(values)) for number in (place, LEAF)), LEAF)
    tree = BoxTree(attributes=("code",), splits=splits, order=order)
    manifest = RefinementManifest(
        unveil_version="0",
        guarantee="",
        class_="ill",
        weight=None,
        requirements=({"kind": "k-anonymity", "quasi-identifier": ["code"], "k": 2},),
        columns={"code": Suppression(domain="declared", local=True, disclosed=values)},
        rows=Rows(read=8_000, dropped=0, released=8_000),
        records=8_000,
        boxes=(tree,),
    )
    rows = pa.table({"code": pa.array(sorted(values * 2)).dictionary_encode(), "ill": ["no", "yes"] * len(values)})
    page = handout_page(Release(rows, manifest))
    assert "… and 3,992 more" in page
    assert len(page) < 60_000


def test_a_rest_is_drawn_below_its_node() -> None:
    """The owner's whole taxonomy: what is left of a node has a label of its own, with its values behind the cut."""
    release = unveil.publish(people(), spec("global"))
    entry = release.masking["job"]
    assert isinstance(entry, Generalization)
    rest = Generalization.model_validate(
        {
            "domain": "declared",
            "blocks": [
                {"label": "Clerk", "values": ["Clerk"]},
                {"label": "Office, other", "values": [HOSTILE, "Temp"]},
                {"label": "Manual", "values": ["Crafts", "Driver"]},
            ],
        }
    )
    taxonomy = load_spec(spec()).attributes["job"].taxonomy
    assert taxonomy is not None
    root = taxonomy_branch(taxonomy.root, rest)
    office, manual = root.children
    assert [(child.label, child.state) for child in office.children] == [
        ("Clerk", "released"),
        ("Office, other", "released"),
    ]
    assert [child.state for child in office.children[1].children] == ["below", "below"]
    assert manual.state == "released"


def test_the_owners_page_says_what_the_records_left_out_buy() -> None:
    asked = {**spec(), "publish": {**spec()["publish"], "leave-out": "10%"}}
    made = unveil.publish(people(), asked)
    assert made.manifest.rows.left_out
    told = f"{made.manifest.rows.left_out} of {ODD} records are left out (10% may be), which buys "
    assert told in read(unveil.report(made, owner=asked, table=people())).text
    assert "which buys" not in read(unveil.report(made)).text
