"""Missing values that are kept: in every method and search, from files, on all engines, verified, and faults found."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unveil
from commands import Run
from unveil.errors import UnveilError
from unveil.schema import Taxonomy
from unveil.sklearn import TopDownRefinement

KINDS = {"not asked": ["N"], "unknown": ["?", ""]}
JOBS = Taxonomy(("Any", [("Office", [("clerk", []), ("sales", [])]), ("Craft", [("smith", []), ("baker", [])])]))
SEARCHES = (
    {"search": "paper"},
    {"search": "joint", "recoding": "global"},
    {"search": "joint", "recoding": "local"},
    {"search": "joint", "recoding": "local", "leave-out": "5%", "left-out": "mask"},
)


def people(rows: int = 240) -> pd.DataFrame:
    """Ages are missing in two ways, jobs are null, towns have a mark of their own, incomes are released as they are."""
    draw = np.random.default_rng(4)
    ages = draw.integers(20, 60, rows).astype(str).astype(object)
    ages[:70] = np.where(draw.random(70) < 0.5, "N", "?")
    return pd.DataFrame(
        {
            "age": ages,
            "job": draw.choice(np.array(["clerk", "sales", "smith", "baker", None], dtype=object), rows),
            "town": draw.choice(["Cork", "Oslo", "-9"], rows),
            "income": np.where(draw.random(rows) < 0.2, np.nan, draw.integers(1, 9, rows) * 100.0),
            "ill": np.where((ages == "N") ^ (draw.random(rows) < 0.1), "yes", "no"),
        }
    )


def spec(folder: Path | None = None, **publish: Any) -> dict[str, Any]:
    source = {} if folder is None else {"source": str(folder / "people.csv")}
    return {
        "table": {"class": "ill", **source, "missing": {"values": ["?", ""], "rows": "keep"}},
        "attributes": {
            "age": {"kind": "number", "range": [20, 60], "whole": True, "missing": {"keep": KINDS}},
            "job": {"kind": "category", "taxonomy": JOBS},
            "town": {"kind": "category", "missing": {"values": ["-9"]}},
            "income": {"kind": "number"},
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "job", "town"], "k": 6}],
        "publish": publish,
    }


def private(folder: Path, method: str) -> dict[str, Any]:
    content = spec(folder, method=method, **({"specializations": 5} if method == "diffgen" else {}))
    content["attributes"]["income"] |= {"range": [0, 1000], "step": 100}
    content["attributes"]["town"]["values"] = ["Cork", "Oslo"]
    content["attributes"]["ill"] = {"values": ["no", "yes"]}
    content["require"] = [{"kind": "differential-privacy", "epsilon": 4.0}]
    return content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def checked(release: unveil.Release, content: dict[str, Any], folder: Path) -> list[unveil.Finding]:
    release.write(folder / "release")
    return [*unveil.verify(folder / "release"), *unveil.verify(folder / "release", raw=content)]


@pytest.mark.parametrize("publish", SEARCHES, ids=str)
def test_every_search_keeps_them_and_verifies(publish: dict[str, str], folder: Path) -> None:
    content = spec(folder, **publish)
    release = unveil.publish(content)
    assert release.manifest.rows.dropped == 0
    streamed = unveil.publish(content, engine="stream")
    assert (release.manifest, release.table) == (streamed.manifest, streamed.table)
    assert checked(release, content, folder) == []
    rows, typed = release.to_pandas(intervals="text"), release.to_pandas()
    if "leave-out" not in publish:
        assert rows["income"].isna().sum() == people()["income"].isna().sum()
    alone = {block.label for block in release.masking["age"].blocks if block.numbers is None}
    assert typed["age"].isna().sum() == rows["age"].isin(alone).sum()
    assert {label for label in rows["age"] if "not asked" in label}


def test_later_rows_are_masked_as_those_of_the_release() -> None:
    release = unveil.publish(people(), spec(search="joint", recoding="local"))
    masked = release.masking.apply(people(), intervals="text").astype(str)
    assert Counter(masked.itertuples(index=False)) == Counter(
        release.to_pandas(intervals="text").astype(str).itertuples(index=False)
    )


def test_a_file_of_later_rows_is_masked_too(folder: Path, run: Run) -> None:
    unveil.publish(spec(folder, search="joint", recoding="local")).write(folder / "release")
    run("apply", folder / "release", folder / "people.csv", "--to", folder / "later.parquet")
    later = pd.read_parquet(folder / "later.parquet")
    assert later["income"].isna().sum() == people()["income"].isna().sum()
    assert later["income"].dtype == float
    assert any("not asked" in label for label in later["age"])


@pytest.mark.parametrize("method", ["diffgen", "additive"])
def test_a_private_release_has_them_as_public_values(method: str, folder: Path) -> None:
    content = private(folder, method)
    release = unveil.publish(content, unsafe_seed=3)
    assert {"not asked", "unknown"} <= set(" or ".join(release.masking["age"].shown).split(" or "))
    assert release.manifest.classes == ("no", "yes")
    assert checked(release, content, folder) == []
    nobody = people()[~people()["age"].isin(["N", "?"])].dropna().query("town != '-9'")
    empty = unveil.publish(nobody, content, unsafe_seed=3)
    assert " or ".join(empty.masking["income"].shown).endswith("missing")


def test_a_missing_sensitive_value_is_a_value() -> None:
    content = spec(search="paper")
    require = {
        "kind": "confidence",
        "channel": ["age", "job"],
        "sensitive": "town",
        "values": ["missing"],
        "limit": 0.45,
    }
    release = unveil.publish(people(), content | {"require": [require]})
    assert "the value 'missing' of town is held by at most 45%" in release.manifest.guarantee
    rows = release.to_pandas(intervals="text")
    shares = rows.assign(gone=rows["town"] == "missing").groupby(["age", "job"], observed=True)["gone"].mean()
    assert 0 < shares.max() <= 0.45


def test_the_class_keeps_them_only_if_its_own_section_says_so() -> None:
    rows = people()
    rows.loc[:20, "ill"] = None
    with pytest.raises(UnveilError, match="'ill' has missing values"):
        unveil.publish(rows, spec())
    for policy, labels in (("keep", {"yes", "no", "missing"}), ("drop", {"yes", "no"})):
        content = spec()
        content["attributes"]["ill"] = {"missing": policy}
        release = unveil.publish(rows, content)
        assert set(release.to_pandas()["ill"]) == labels
        assert release.manifest.rows.dropped == (21 if policy == "drop" else 0)


def test_numbers_that_mean_missing_are_missing_in_any_format() -> None:
    content = spec()
    content["attributes"]["income"]["missing"] = {"values": ["100"]}
    raw = people()["income"]
    text = people().assign(income=raw.map(lambda value: None if np.isnan(value) else f"{value:.0f}"))
    for rows in (people(), text):
        released = unveil.publish(rows, content).to_pandas()["income"]
        assert released.isna().sum() == (raw.isna() | (raw == 100)).sum()


def test_transformers_take_gaps_and_tell_them_apart() -> None:
    ages = np.arange(120.0) % 40
    ages[:40] = np.nan
    rows = pd.DataFrame({"age": ages, "income": np.where(ages == 3, np.nan, 1.0)})
    masker = TopDownRefinement(k=5, attributes={name: {"kind": "number", "missing": "keep"} for name in rows})
    masker.set_params(quasi_identifier=["age"])
    features = masker.fit(rows, np.isnan(ages)).transform(rows)
    names = list(masker.get_feature_names_out())
    assert not np.isnan(features).any()
    flags = [place for place, name in enumerate(names) if name.endswith("=missing")]
    assert len(flags) == 2
    assert features[:, flags].sum(axis=0).tolist() == [40, 2]
    assert masker.transform(pd.DataFrame({"age": [np.nan], "income": [np.nan]})).shape == (1, features.shape[1])


def test_classifiers_see_them() -> None:
    found = unveil.evaluate(people(), spec(search="joint", recoding="global"), classifiers=("tree", "bayes"))
    errors = {line.classifier: line.error for line in found.lines if line.setting == "released"}
    assert set(errors) == {"tree", "bayes"}
    assert max(errors.values()) < 0.25


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a block that claims other kinds": (
        lambda masking: masking["age"]["blocks"][-1].update(missing=["not asked"]),
        "label",
    ),
    "kinds in another order": (
        lambda masking: masking["age"].update(missing=dict(reversed(masking["age"]["missing"].items()))),
        "not next to each other",
    ),
    "a kind without a block": (
        lambda masking: masking["age"]["missing"].update(lost=["x"]),
        "the missing value 'lost' has no block",
    ),
    "a text of two kinds": (
        lambda masking: masking["age"]["missing"]["unknown"].append("N"),
        "the text 'N' means a missing value twice",
    ),
    "a leaf that is not there": (
        lambda masking: masking["job"]["missing"].update(gone=["g"]),
        "the missing value 'gone' has no block",
    ),
    "a block without bounds": (lambda masking: masking["age"]["blocks"][0].pop("to"), "lacks a bound"),
    "other texts than the owner's": (lambda masking: masking["town"]["missing"].update(missing=["-8"]), "by the spec"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, folder: Path) -> None:
    plant, words = FAULTS[fault]
    content = spec(folder, search="paper")
    assert checked(unveil.publish(content), content, folder) == []
    path = folder / "release" / "manifest.json"
    manifest = json.loads(path.read_text())
    plant(manifest["masking"])
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2))
    found = [*unveil.verify(path.parent), *unveil.verify(path.parent, raw=content)]
    assert any(words in finding.message for finding in found), found


def test_a_cut_of_missing_values_alone_is_found(folder: Path) -> None:
    """Also where the spec says how fine its bounds may be: it has none to compare."""
    content = spec(folder, search="joint", recoding="global")
    content["attributes"]["age"]["finest"] = 10
    assert checked(unveil.publish(content), content, folder) == []
    path = folder / "release" / "manifest.json"
    manifest = json.loads(path.read_text())
    blocks = manifest["masking"]["age"]["blocks"]
    blocks[:] = [{"label": "missing", "missing": list(KINDS)}]
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2))
    assert unveil.verify(path.parent, raw=content) != []


def test_a_missing_value_released_as_a_number_is_found(folder: Path) -> None:
    content = spec(folder, search="paper")
    release = unveil.publish(content)
    rows = people()
    rows.loc[0, "age"] = "33"
    rows.to_csv(folder / "people.csv", index=False)
    found = checked(release, content, folder)
    assert any(finding.claim == "truth" for finding in found), found
    shutil.rmtree(folder / "release")


def test_all_numbers_missing_needs_a_range() -> None:
    content = spec()
    content["require"][0]["quasi-identifier"].append("income")
    with pytest.raises(UnveilError, match="'income' is missing in every row, so it needs a declared range"):
        unveil.publish(people().assign(income=np.nan), content)


def test_parquet_csv_and_frames_give_the_same_release(tmp_path: Path) -> None:
    content, rows = spec(search="paper"), people()
    rows.to_csv(tmp_path / "people.csv", index=False)
    pa.parquet.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "people.parquet")
    tables = [unveil.publish(table, content).to_pandas() for table in (rows, tmp_path / "people.csv")]
    tables.append(unveil.publish(tmp_path / "people.parquet", content).to_pandas())
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other)
