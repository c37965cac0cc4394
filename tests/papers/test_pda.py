"""The worked examples of PDA (Wang, Fung, Yu, ICDM 2005), in the order of the paper."""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import unveil
from unveil.counting.engine import open_engine
from unveil.errors import RequirementError
from unveil.evaluation.risk import inference_risk
from unveil.publishers import redundant_atoms, resolved_requirements, start_search
from unveil.schema import Template, load_spec
from unveil.tables import load_table

pytestmark = pytest.mark.engines

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

# Job, Country, Child, Bankruptcy, Good, Bad
TABLE_1 = [
    ("Cook", "US", "No", "Current", 0, 4),
    ("Artist", "France", "No", "Current", 1, 3),
    ("Doctor", "US", "Yes", "Never", 4, 2),
    ("Trader", "UK", "No", "Discharged", 4, 0),
    ("Trader", "UK", "No", "Never", 1, 0),
    ("Trader", "Canada", "No", "Never", 1, 0),
    ("Clerk", "Canada", "No", "Never", 3, 0),
    ("Clerk", "Canada", "No", "Discharged", 1, 0),
]
NAMES = ["Job", "Country", "Child", "Bankruptcy"]


@pytest.fixture
def table_1() -> pa.Table:
    records = [(*row[:4], label, n) for row in TABLE_1 for label, n in zip("GB", row[4:], strict=True) if n]
    return pa.table(dict(zip([*NAMES, "Rating", "#Rec"], map(list, zip(*records, strict=True)), strict=True)))


def template(channel: list[str], limit: float) -> dict[str, Any]:
    return {
        "kind": "confidence",
        "channel": channel,
        "sensitive": "Bankruptcy",
        "values": ["Discharged"],
        "limit": limit,
    }


def spec(*requirements: dict[str, Any]) -> dict[str, Any]:
    return {
        "table": {"class": "Rating", "weight": "#Rec"},
        "attributes": {name: {"kind": "category"} for name in NAMES},
        "require": list(requirements),
        "publish": {"search": "paper"},
    }


def released(release: unveil.Release, *names: str) -> Counter:
    counts: Counter = Counter()
    for row in release.table.to_pylist():
        counts[tuple(row[name] for name in names)] += row["#Rec"]
    return counts


def test_example_1_the_raw_table_allows_the_inference(table_1: pa.Table) -> None:
    """{Trader, UK} → Discharged has support 5 and confidence 80%."""
    fit = unveil.check(table_1, spec(template(["Job", "Country"], 0.75)))
    (risk,) = fit.inferences
    (worst,) = risk.worst
    assert worst.channel == {"Job": "Trader", "Country": "UK"}
    assert (worst.held, worst.size, worst.confidence) == (4, 5, 0.8)
    assert risk.above[0.75] == 1
    assert risk.people == 4


def test_table_2_the_suppressed_table(table_1: pa.Table) -> None:
    release = unveil.publish(table_1, spec(template(["Job", "Country"], 0.75)))
    assert released(release, "Job", "Country", "Child", "Bankruptcy", "Rating") == {
        ("Cook", "US", "No", "Current", "B"): 4,
        ("Artist", "France", "No", "Current", "G"): 1,
        ("Artist", "France", "No", "Current", "B"): 3,
        ("Doctor", "US", "Yes", "Never", "G"): 4,
        ("Doctor", "US", "Yes", "Never", "B"): 2,
        ("⊥", "⊥", "No", "Never", "G"): 5,
        ("⊥", "⊥", "No", "Discharged", "G"): 5,
    }


def test_example_2_two_templates(table_1: pa.Table, tmp_path: Path) -> None:
    release = unveil.publish(table_1, spec(template(["Job", "Country"], 0.5), template(["Job", "Child"], 0.5)))
    for channel in (("Job", "Country"), ("Job", "Child")):
        sizes, held = released(release, *channel), Counter()
        for row in release.table.to_pylist():
            held[tuple(row[name] for name in channel)] += row["#Rec"] * (row["Bankruptcy"] == "Discharged")
        assert max(held[group] / size for group, size in sizes.items()) <= 0.5
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release") == []


def test_figures_1_and_2_clerk_and_then_canada(table_1: pa.Table) -> None:
    """The candidates' losses tell the confidences of the IC trees: 20.83% at the start, 25% after Clerk."""
    checked = load_spec(spec(template(["Job", "Country"], 0.5), template(["Job", "Child"], 0.5)))
    outline, counts = open_engine(checked, table_1)
    search = start_search(outline, checked, counts)
    # One guard per IC tree; a guard keeps the confidence of each template, negated.
    assert [float(-guard.now[0]) for guard in search._guards] == [pytest.approx(5 / 24), pytest.approx(5 / 24)]
    assert pytest.approx(20.83, abs=0.01) == 100 * 5 / 24
    by_value = {step.refinement.children[0].label: step for step in search.candidates()}
    # Disclosing Clerk splits 5 of 24 into 1 of 4 and 4 of 20: the largest confidence is 25%.
    assert by_value["Clerk"].loss == pytest.approx(1 / 4 - 5 / 24)

    clerk = next(number for number, offer in enumerate(search._offers) if "Clerk" in _disclosed(search, number))
    search._perform(clerk)
    assert [float(-guard.now[0]) for guard in search._guards] == [pytest.approx(0.25), pytest.approx(0.25)]
    canada = next(number for number, offer in enumerate(search._offers) if "Canada" in _disclosed(search, number))
    search._perform(canada)
    # {⊥Job, Canada}: 0 of 1; {⊥Job, ⊥Country}: 4 of 19; {Clerk, Canada}: 1 of 4. The IC2 tree is as it was.
    assert [float(-guard.now[0]) for guard in search._guards] == [pytest.approx(0.25), pytest.approx(0.25)]


def _disclosed(search: Any, number: int) -> set[str]:
    offer = search._offers[number]
    return {offer.parts[number - offer.first].label}


def test_lemma_3_1_redundant_templates_are_dropped_and_reported(table_1: pa.Table) -> None:
    weaker, stronger = template(["Job"], 0.8), template(["Job", "Country"], 0.75)
    both = unveil.publish(table_1, spec(weaker, stronger))
    assert both.redundant == (Template(("Job",), "Bankruptcy", "Discharged", 0.8),)
    assert both.trace == unveil.publish(table_1, spec(stronger)).trace
    assert [item["limit"] for item in both.manifest.requirements] == [0.8, 0.75]
    checked = load_spec(spec(template(["Job"], 0.5), stronger))
    assert redundant_atoms(resolved_requirements(load_table(checked, table_1), checked)) == ()


def test_lemma_3_3_what_cannot_hold_is_reported_before_the_search(table_1: pa.Table) -> None:
    with pytest.raises(RequirementError, match=r"Discharged, 20%⟩: its smallest reachable confidence is 20\.83%"):
        unveil.publish(table_1, spec(template(["Job", "Country"], 0.2)))


def test_a_set_of_values_is_one_template_per_value(table_1: pa.Table) -> None:
    together = template(["Job", "Country"], 0.75) | {"values": ["Discharged", "Current"]}
    apart = [template(["Job", "Country"], 0.75) | {"values": [value]} for value in ("Discharged", "Current")]
    assert unveil.publish(table_1, spec(together)).trace == unveil.publish(table_1, spec(*apart)).trace


@pytest.fixture
def crx() -> pd.DataFrame:
    path = SHARED / "uci" / "crx.data"
    if not path.exists():
        pytest.skip(f"the CRX data is not next to the checkout ({path.name})")
    names = [*(f"A{number}" for number in range(1, 16)), "class"]
    rows = pd.read_csv(path, header=None, names=names, dtype=str)
    return rows[~(rows == "?").any(axis=1)]


def test_table_3_the_crx_row(crx: pd.DataFrame) -> None:
    """Top4 are sensitive in their 50% least frequent values; the other categorical attributes are the channel."""
    assert len(crx) == 653
    top4 = ["A9", "A10", "A7", "A6"]
    categories = ["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"]
    channel = [name for name in categories if name not in top4]
    table = load_table(
        load_spec(
            {
                "table": {"class": "class", "others": "drop"},
                "attributes": {name: {"kind": "category"} for name in categories},
                "require": [{"kind": "k-anonymity", "quasi-identifier": channel, "k": 1}],
            }
        ),
        crx,
    )
    above: Counter = Counter()
    for name in top4:
        counts = crx[name].value_counts().sort_values(kind="stable")
        rare = list(counts.index[: len(counts) // 2])
        above.update(inference_risk(table, channel, name, rare, limit=0.9).above)
    assert [above[share] for share in (0.1, 0.3, 0.5, 0.7, 0.9)] == [40, 27, 15, 8, 6]
