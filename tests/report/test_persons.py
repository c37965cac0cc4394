"""Groups of persons on the owner's pages, against the persons of the released rows, which a number tells apart."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from report.reading import read
from unveil.evaluation.evaluation import measures
from unveil.evaluation.reidentification import Whose, group_summaries
from unveil.schema import load_spec
from unveil.tables import load_table
from unveil.workflow.evaluate import Rows
from unveil.workflow.picture import picture_of

SETS = (("age", "town"), ("town", "job"))
SEARCHES: dict[str, dict[str, str]] = {
    "paper": {"search": "paper"},
    "global": {"recoding": "global"},
    "local": {"recoding": "local"},
    "dropped": {"recoding": "local", "leave-out": "20%"},
    "masked": {"recoding": "local", "leave-out": "40%", "left-out": "mask"},
    "dropped everywhere": {"recoding": "global", "leave-out": "20%"},
}


def visits(seed: int) -> pa.Table:
    """Persons with several rows, who often stay in their town; every released row shows its number."""
    draw = np.random.default_rng(seed)
    size = 120
    person = draw.integers(0, 40, size)
    return pa.table(
        {
            "number": np.arange(size),
            "who": [f"p{number}" for number in person],
            "age": np.where(draw.random(size) < 0.5, person * 3 % 20, draw.integers(0, 20, size)),
            "town": draw.choice(["a", "b", "c", "d"], size, p=[0.5, 0.3, 0.15, 0.05]),
            "job": draw.choice(["x", "y", "z"], size, p=[0.6, 0.35, 0.05]),
            "ill": draw.choice(["y", "n"], size),
        }
    )


def spec(publish: dict[str, str]) -> dict[str, Any]:
    return {
        "table": {"class": "ill", "person": "who", "others": "release"},
        "attributes": {"age": {"kind": "number"}, "town": {"kind": "category"}, "job": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": list(names), "k": 4} for names in SETS],
        "publish": publish,
    }


def persons_of_groups(raw: pa.Table, release: unveil.Release, names: tuple[str, ...]) -> list[int]:
    whose = dict(zip(raw["number"].to_pylist(), raw["who"].to_pylist(), strict=True))
    held: dict[tuple[Any, ...], set[str]] = {}
    for row in release.table.to_pylist():
        held.setdefault(tuple(row[name] for name in names), set()).add(whose[row["number"]])
    return sorted(map(len, held.values()))


@pytest.mark.parametrize("search", SEARCHES)
def test_groups_have_the_persons_of_the_released_rows(search: str) -> None:
    left_out = 0
    for seed in range(4):
        raw, asked = visits(seed), spec(SEARCHES[search])
        release, table = unveil.publish(raw, asked), load_table(load_spec(asked), raw)
        found = group_summaries(release, Whose.of(release, table))
        assert [(summary.names, summary.unit) for summary in found] == [(names, "person") for names in SETS]
        for summary in found:
            expected = persons_of_groups(raw, release, summary.names)
            assert summary.sizes.tolist() == expected
            assert (summary.smallest, summary.largest) == (expected[0], expected[-1])
            assert summary.smallest >= 4
        left_out += release.manifest.rows.left_out
        risks = measures(release, load_spec(asked), table)
        assert risks is not None
        assert [risk.unit for risk in risks.risks] == ["person", "person"]
        assert risks.risks[0].prosecutor.highest == 1 / persons_of_groups(raw, release, SETS[0])[0]
    assert bool(left_out) == ("leave-out" in SEARCHES[search])


def test_a_table_without_persons_has_no_groups_of_them() -> None:
    asked = spec({})
    del asked["table"]["person"]
    raw = visits(0).drop_columns(["who"])
    assert Whose.of(unveil.publish(raw, asked), load_table(load_spec(asked), raw)) is None


def test_the_owners_page_counts_persons_and_the_page_to_hand_out_says_that_it_cannot() -> None:
    raw, asked = visits(0), spec(SEARCHES["dropped"])
    release = unveil.publish(raw, asked)
    sizes = persons_of_groups(raw, release, SETS[0])
    owned = read(unveil.report(release, asked, table=raw, seeds=range(1))).text
    assert "Exact sizes, in persons" in owned
    assert "Share of the persons by the size of their group on age and town" in owned
    assert "Sizes count persons; somebody with records in several groups counts in each of them." in owned
    middle = int(np.median(sizes))
    assert f"largest age and town {len(sizes)} {sizes[0]} {middle} {sizes[-1]} town and job" in owned
    handed_out = read(unveil.report(release)).text
    assert "Share of the records by the size of their group" in handed_out
    assert (
        "Sizes count records here: the release does not show whose these are. The promise counts persons." in handed_out
    )


def test_the_picture_of_a_release_counts_persons() -> None:
    raw, asked = visits(1), spec(SEARCHES["local"])
    checked = load_spec(asked)
    rows = Rows(checked, load_table(checked, raw))
    found = picture_of(unveil.publish(raw, asked), rows, rows)["groups"]
    assert [group["unit"] for group in found] == ["person", "person"]
    assert found[0]["smallest"] == persons_of_groups(raw, unveil.publish(raw, asked), SETS[0])[0]
    assert all(item["text"].endswith("persons") for item in found[0]["classes"])
