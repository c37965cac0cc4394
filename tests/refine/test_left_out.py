"""Records that the joint search leaves out: never more than the owner allows; every other group keeps its promise."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import BrokenPromiseError
from unveil.refine.omissions import Judged
from unveil.schema import Attribute, KAnonymity, Requirement, Spec, TableSpec, Taxonomy
from unveil.schema.requirements import LDiversity

JOBS = (
    "Any",
    [("Office", [("Clerk", []), ("Lawyer", []), ("Judge", [])]), ("Outside", [("Farmer", []), ("Guide", [])])],
)
QID = ("age", "job", "town")


def people(seed: int, rows: int = 300) -> pa.Table:
    """Few judges and few people in some towns: leaving them out lets everybody else be shown finer."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["Clerk", "Lawyer", "Judge", "Farmer", "Guide"], rows, p=[0.4, 0.3, 0.01, 0.19, 0.1])
    town = rng.choice(["north", "south", "islet"], rows, p=[0.6, 0.38, 0.02])
    age, ill = rng.integers(0, 40, rows), rng.choice(["flu", "cold", "none"], rows)
    label = np.where((age > 20) ^ (job == "Clerk") ^ (rng.random(rows) < 0.2), "Y", "N")
    return pa.table({"age": age, "job": job, "town": town, "ill": ill, "class": label})


def spec(*requirements: Requirement, **keys: object) -> Spec:
    attributes = {
        "age": Attribute("age", kind="number", range=(0, 40), whole=True),
        "job": Attribute("job", taxonomy=Taxonomy(JOBS)),
        "town": Attribute("town"),
        "ill": Attribute("ill"),
    }
    made = Spec(table=TableSpec(class_="class"), attributes=attributes, requirements=requirements, search="joint")
    return replace(made, **keys)  # type: ignore[arg-type]


SPECS = st.builds(
    spec,
    st.sampled_from((KAnonymity(quasi_identifier=QID, k=10), LDiversity(quasi_identifier=QID, sensitive="ill", l=3))),
    st.sampled_from(
        (KAnonymity(quasi_identifier=QID, k=5), LDiversity(quasi_identifier=QID[1:], sensitive="ill", l=2))
    ),
    recoding=st.sampled_from(("local", "global")),
    leave_out=st.sampled_from((Fraction(1, 100), Fraction(5, 100))),
    left_out=st.sampled_from(("drop", "mask")),
)


@settings(deadline=None, max_examples=20)
@given(SPECS, st.integers(0, 1000))
def test_no_more_are_left_out_than_allowed_and_the_release_verifies(
    tmp_path_factory: pytest.TempPathFactory, asked: Spec, seed: int
) -> None:
    table, folder = people(seed), tmp_path_factory.mktemp("left") / "release"
    release = unveil.publish(table, asked)
    omitted, rows = release.manifest.leave_out, release.manifest.rows
    assert omitted is not None
    assert omitted.records == rows.left_out <= asked.leave_out * table.num_rows
    assert rows.released == table.num_rows - (omitted.records if omitted.as_ == "drop" else 0)
    release.write(folder)
    assert unveil.verify(folder, asked, table=table) == []


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_handful_no_longer_blocks_everybody(recoding: str) -> None:
    require = KAnonymity(quasi_identifier=QID, k=20)
    table = people(3, rows=3000)
    whole = unveil.publish(table, spec(require, recoding=recoding))
    release = unveil.publish(table, spec(require, recoding=recoding, leave_out=Fraction(2, 100)))
    assert release.manifest.rows.left_out > 0
    assert sum(step["gain"] for step in release.trace) > sum(step["gain"] for step in whole.trace)


def test_the_order_of_rows_decides_nothing() -> None:
    asked = spec(KAnonymity(quasi_identifier=QID, k=20), recoding="local", leave_out=Fraction(5, 100))
    table = people(3)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    release, other = unveil.publish(table, asked), unveil.publish(shuffled, asked)
    assert release.manifest == other.manifest
    assert release.table.equals(other.table)


@pytest.mark.parametrize(
    ("share", "stated"), [(Fraction(1, 3), "33.333333%"), (1 / 3, "33.333333%"), (0.29, "29%"), (1e-7, "0.00001%")]
)
def test_a_share_that_no_percentage_says_exactly_is_rounded_down(
    share: Fraction | float, stated: str, tmp_path: Path
) -> None:
    """What the release states is what it keeps to, so that neither check of it finds more than the owner allows."""
    asked = spec(KAnonymity(quasi_identifier=QID, k=20), leave_out=share)
    release = unveil.publish(people(3), asked)
    assert release.manifest.leave_out is not None
    assert release.manifest.leave_out.share == stated
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", asked, table=people(3)) == []


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_leaving_out_too_many_stops_the_release(recoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted defect: everything is affordable."""
    monkeypatch.setattr(Judged, "affordable", lambda self, spare: self.cost < 1 << 40)
    monkeypatch.setattr("unveil.refine.partitions.Cuts.spend", lambda self, records: None)
    asked = spec(KAnonymity(quasi_identifier=QID, k=40), recoding=recoding, leave_out=Fraction(3, 100))
    with pytest.raises(BrokenPromiseError, match="more than it may"):
        unveil.publish(people(3), asked)


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_a_handful_no_longer_blocks_everybody_in_several_sets(recoding: str, tmp_path: Path) -> None:
    two = (KAnonymity(quasi_identifier=("age", "job"), k=20), KAnonymity(quasi_identifier=("age", "town"), k=30))
    table = people(3, rows=3000)
    whole = unveil.publish(table, spec(*two, recoding=recoding))
    asked = spec(*two, recoding=recoding, leave_out=Fraction(2, 100))
    release = unveil.publish(table, asked)
    assert 0 < release.manifest.rows.left_out <= 60
    assert sum(step["gain"] for step in release.trace) > sum(step["gain"] for step in whole.trace)
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", asked, table=table) == []
