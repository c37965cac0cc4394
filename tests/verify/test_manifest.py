"""Manifests with planted faults; every claim of a joint search on random tables holds, until one is broken."""

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
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import unveil
from bridge import spec_of, table_of
from oracles.problem import Problem
from oracles.strategies import mixed_problems, problems, spread_problems, template_problems
from unveil.errors import ReleaseError
from unveil.schema import Recoding, Spec
from unveil.verifier import files
from verdicts import verify_release
from verify.releases import edit_manifest, rehash, write_manifest, write_parquet

Content = dict[str, Any]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no such folder"):
        verify_release(tmp_path / "nothing")


def test_a_file_is_not_a_release(release: Path) -> None:
    with pytest.raises(ReleaseError, match="no such folder"):
        verify_release(release / "data.parquet")


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"it has no manifest\.json"):
        verify_release(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"schema_version": 1, "method": "refinement", "records": NaN}',
        b'{"schema_version": 1, "schema_version": 1}',
        b'{"guarantee": "\\ud800"}',
        b"[" * 100_000,
    ],
)
def test_a_manifest_that_is_not_json(release: Path, content: bytes) -> None:
    (release / "manifest.json").write_bytes(content)
    with pytest.raises(ReleaseError, match="not JSON in UTF-8"):
        verify_release(release)


def test_a_manifest_that_cannot_be_opened(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "read_bytes", refuse)
    with pytest.raises(ReleaseError, match="the manifest cannot be read: Permission denied"):
        verify_release(release)


@pytest.mark.parametrize("content", [[], "text", 1, None])
def test_a_manifest_that_is_not_an_object(release: Path, content: object) -> None:
    write_manifest(release, content)
    with pytest.raises(ReleaseError, match="not a JSON object"):
        verify_release(release)


@pytest.mark.parametrize("version", [2, "1", True, None])
def test_an_unknown_schema_version(release: Path, version: object) -> None:
    edit_manifest(release, lambda content: content.update(schema_version=version))
    with pytest.raises(ReleaseError, match=f"schema_version is {version!r}"):
        verify_release(release)


def test_an_unknown_method(release: Path) -> None:
    edit_manifest(release, lambda content: content.update(method="magic"))
    with pytest.raises(ReleaseError, match="method is 'magic'"):
        verify_release(release)


def _at(*steps: str | int, value: object) -> Callable[[Content], None]:
    def edit(content: Any) -> None:
        for step in steps[:-1]:
            content = content[step]
        content[steps[-1]] = value

    return edit


MALFORMED = {
    "unveil_version": _at("unveil_version", value=1),
    "guarantee": _at("guarantee", value=""),
    "class": _at("class", value=None),
    "weight": _at("weight", value=3),
    "requirements": _at("requirements", value=[]),
    "requirements.0": _at("requirements", value=["k-anonymity"]),
    "masking": _at("masking", value=[]),
    "masking.age": _at("masking", "age", "kind", value="rounding"),
    "masking.age.discretization.domain": _at("masking", "age", "domain", value="guessed"),
    "masking.age.discretization.whole": _at("masking", "age", "whole", value=1),
    "masking.age.discretization.blocks": _at("masking", "age", "blocks", value=[]),
    "masking.age.discretization.blocks.0.from": _at("masking", "age", "blocks", 0, "from", value="17"),
    "masking.age.discretization.blocks.1.to": _at("masking", "age", "blocks", 1, "to", value=10**400),
    "masking.education.generalization.blocks.0.values": _at("masking", "education", "blocks", 0, "values", value=[]),
    "masking.sex.suppression.disclosed.0": _at("masking", "sex", "disclosed", value=[1]),
    "masking.sex.suppression.marker": _at("masking", "sex", "marker", value=""),
    "masking.sex.suppression.hidden": _at("masking", "sex", "hidden", value=["F"]),
    "masking.hours.released.type": _at("masking", "hours", "type", value="float"),
    "rows.read": _at("rows", "read", value=-1),
    "rows.dropped": _at("rows", "dropped", value=1.5),
    "rows.released": _at("rows", "released", value=True),
    "records": _at("records", value="10"),
    "files.data.parquet.sha256": _at("files", "data.parquet", "sha256", value="0" * 63 + "\n"),
    "files.../secret.[key]": _at("files", "../secret", value={"sha256": "0" * 64}),
    "made": _at("made", value="2020-01-01"),
    "about": _at("about", value=None),
    "about.title": _at("about", value={"title": "Census\u202e5991"}),
    "about.owner": _at("about", value={"owner": "x" * 201}),
    "about.date": _at("about", value={"date": "2024-02-30"}),
    "about.seal": _at("about", value={"seal": "approved"}),
}


@pytest.mark.parametrize("place", MALFORMED)
def test_a_malformed_manifest_is_a_finding_that_names_the_place(release: Path, place: str) -> None:
    edit_manifest(release, MALFORMED[place])
    findings = verify_release(release)
    assert findings
    assert {finding.claim for finding in findings} == {"manifest"}
    assert any(f"{place}" in finding.message for finding in findings), findings


@pytest.mark.parametrize("key", [
    "unveil_version", "guarantee", "class", "weight", "requirements", "masking", "rows", "records", "files",
])  # fmt: skip
def test_a_lacking_key_is_a_finding(release: Path, key: str) -> None:
    edit_manifest(release, lambda content: content.pop(key))
    [finding] = verify_release(release)
    assert finding.claim == "manifest"
    assert f"{key}: Field required" in finding.message


def test_words_of_the_owner_are_allowed(release: Path) -> None:
    about = {"title": "Wards of Århus, 2023", "owner": "City Hospital", "date": "2024-05-31"}
    edit_manifest(release, lambda content: content.update(about=about))
    assert verify_release(release) == []


def test_the_type_of_every_field_is_checked(release: Path) -> None:
    """Puts a value of another type at every place of the manifest, one after the other."""
    original = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    for path in _paths(original):
        content = json.loads(json.dumps(original))
        _at(*path, value={"strange": [0.5]})(content)
        write_manifest(release, content)
        if path[0] in ("schema_version", "method"):
            with pytest.raises(ReleaseError):
                verify_release(release)
        else:
            assert verify_release(release), path


def _paths(content: Any, *before: str | int) -> list[tuple[str | int, ...]]:
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    found: list[tuple[str | int, ...]] = []
    for step, value in pairs:
        found.append((*before, step))
        if isinstance(value, dict | list):
            found += _paths(value, *before, step)
    return found


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
