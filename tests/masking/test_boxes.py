"""Trees of boxes: the walk against the boxes themselves and against a plain walk, damaged trees, deep trees."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from masking.trees import CITIES, Box, Grown, frozen, maskings, refinements, root_block, rows
from oracles import boxes as oracle
from unveil.errors import BrokenPromiseError, ReleaseError, TableError
from unveil.masking import BoxTree, Generalization, Masking, Split, Suppression, walk
from unveil.masking.entries import Generalized
from unveil.masking.walk import Walk
from unveil.release import LeaveOut, RefinementManifest, Rows
from unveil.release.folder import check_limits
from unveil.release.manifest import read_manifest_text


def as_json(masking: Masking) -> dict[str, Any]:
    entries = {name: entry.model_dump(mode="json", by_alias=True) for name, entry in masking.columns.items()}
    return json.loads(json.dumps({"masking": entries, "boxes": [tree.model_dump() for tree in masking.boxes]}))


@settings(deadline=None, max_examples=200)
@given(maskings(), st.lists(rows, min_size=1, max_size=30))
def test_rows_get_the_labels_of_the_box_that_holds_them(grown: Grown, held: list[dict[str, Any]]) -> None:
    found = grown.masking.labels(pa.Table.from_pylist(held)).to_pylist()
    manifest = as_json(grown.masking)
    with pytest.MonkeyPatch.context() as small:
        small.setattr(walk, "TABLE", 0)  # every step is searched
        again = Masking(grown.masking.columns, boxes=grown.masking.boxes)
        assert again.labels(pa.Table.from_pylist(held)).to_pylist() == found
    for row, labels in zip(held, found, strict=True):
        assert labels == grown.labels(row)
        assert labels == oracle.labels(manifest, row)


@settings(deadline=None, max_examples=100)
@given(maskings(), rows, st.sampled_from(["age", "job"]))
def test_a_row_with_an_unseen_value_stops_where_it_is_tested(grown: Grown, row: dict[str, Any], name: str) -> None:
    row = row | {name: {"age": 99, "job": "Pilot"}[name]}
    table = pa.Table.from_pylist([row])
    with pytest.raises(TableError, match="has no block in this release"):
        grown.masking.labels(table)
    (found,) = grown.masking.labels(table, unseen="suppress").to_pylist()
    assert found[name] == "⊥"
    expected = oracle.labels(as_json(grown.masking), row)
    assert found | {name: None} == expected | {name: None}


def test_a_walk_that_is_off_by_one_cell_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    root = _root("age", "job", "home")
    root.split = Split(attribute="age", block="[0, 64)", into=("[0, 30)", "[30, 64)"))
    root.children = [Box(root.blocks | {"age": block}) for block in refinements("age", root.blocks["age"])[29]]
    grown = Grown(frozen([root, _root("city", "home")]), [root, _root("city", "home")])
    held = [{"age": age, "job": "None", "city": "Bern", "home": "Bern"} for age in range(64)]
    expected = [grown.labels(row) for row in held]
    assert [row["age"] for row in expected] == ["[0, 30)"] * 30 + ["[30, 64)"] * 34
    assert grown.masking.labels(pa.Table.from_pylist(held)).to_pylist() == expected
    right = Walk.nodes

    def off_by_one(walk: Walk, codes: Any, cell_of: Any) -> Any:
        return right(walk, codes, [np.minimum(cell + 1, cell.max()) for cell in cell_of])

    monkeypatch.setattr(Walk, "nodes", off_by_one)
    assert grown.masking.labels(pa.Table.from_pylist(held)).to_pylist() != expected


DEEP = 20_000


def deep() -> Masking:
    """A chain that tells one value apart after the other, and then splits another attribute."""
    values = tuple(f"v{number:05}" for number in range(DEEP))
    splits = [Split(attribute="code", block="⊥", into=(value, "⊥")) for value in values]
    order = [number for place in range(DEEP) for number in (place, -1)]
    sex = Split(attribute="sex", block="⊥", into=("f", "⊥"))
    tree = BoxTree(attributes=("code", "sex"), splits=(*splits, sex), order=(*order, DEEP, -1, -1))
    return Masking(
        {
            "code": Suppression(domain="observed", local=True, disclosed=values),
            "sex": Suppression(domain="observed", local=True, disclosed=("f",)),
        },
        boxes=[tree],
    )


def test_a_tree_may_be_deep() -> None:
    masking = deep()
    codes = [f"v{number % (DEEP + 1):05}" for number in range(3 * DEEP)]
    found = masking.labels(pa.table({"code": codes, "sex": ["f"] * len(codes)}))
    assert found["code"].to_pylist() == ["⊥" if code == f"v{DEEP:05}" else code for code in codes]
    assert found["sex"].to_pylist() == ["f" if code == f"v{DEEP:05}" else "⊥" for code in codes]


def test_alternating_attributes_may_be_deep() -> None:
    values = [str(number) for number in range(2_000)]
    splits = [Split(attribute="ab"[n % 2], block="⊥", into=(values[n], "⊥")) for n in range(len(values))]
    order = [number for place in range(len(values)) for number in (place, -1)] + [-1]
    columns = {name: Suppression(domain="observed", local=True, disclosed=tuple(values)) for name in "ab"}
    masking = Masking(columns, boxes=[BoxTree(attributes=("a", "b"), splits=tuple(splits), order=tuple(order))])
    found = masking.labels(pa.table({"a": ["1998", "x", "0"], "b": ["x", "1999", "1"]})).to_pylist()
    assert found == [{"a": "1998", "b": "⊥"}, {"a": "⊥", "b": "1999"}, {"a": "0", "b": "⊥"}]


def test_leaves_are_numbered_as_they_appear() -> None:
    masking = deep()
    walk = masking.walks[0]
    assert masking.boxes[0].leaves == DEEP + 2
    assert walk.leaf_of[[0, 1, 2, 3]].tolist() == [-1, 0, -1, 1]


TREE = {"attributes": ("city",), "splits": ({"attribute": "city", "block": "⊥", "into": ("Bern", "⊥")},)}
TWICE = {"attribute": "city", "block": "⊥", "into": ("Bern", "Bern", "⊥")}
SUPPRESSED = Suppression(domain="declared", local=True, disclosed=("Bern", "Chur"))
OFFICE = Generalization(
    domain="declared",
    local=True,
    blocks=(Generalized(label="Any", values=("a", "b", "c")), Generalized(label="ac", values=("a", "c"))),
)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"order": ()}, "ends after 0 nodes"),
        ({"order": (0, -1)}, "is not complete"),
        ({"order": (0, -1, -1, -1)}, "ends at node 3"),
        ({"order": (1, -1, -1)}, "split 1, which the tree does not have"),
        ({"order": (-2,)}, "split -2, which the tree does not have"),
        ({"splits": ({"attribute": "city", "block": "⊥", "into": ()},), "order": (0,)}, "split 0"),
        ({"attributes": ("job",)}, "'job' is not a masked attribute"),
        ({"splits": ({"attribute": "job", "block": "⊥", "into": ("Bern", "⊥")},)}, "not an attribute of its tree"),
        ({"splits": ({"attribute": "city", "block": "⊥", "into": ("Rom", "⊥")},)}, "nothing says what 'Rom' covers"),
        ({"splits": (TWICE,), "order": (0, -1, -1, -1)}, "two parts of a split overlap"),
        ({"order": (0, 0, -1, -1, -1)}, "node 1 does not hold '⊥' of 'city'"),
    ],
)
def test_a_damaged_tree_is_refused(damage: dict[str, Any], message: str) -> None:
    tree = BoxTree.model_validate({**TREE, "order": (0, -1, -1), **damage})
    with pytest.raises(ReleaseError, match=message):
        Walk(tree, {"city": SUPPRESSED})


def test_a_label_must_be_a_range_of_values() -> None:
    with pytest.raises(ReleaseError, match="the values of 'ac' are not a range"):
        Walk(BoxTree(attributes=("job",), splits=(), order=(-1,)), {"job": OFFICE})


def test_a_local_attribute_is_in_one_tree() -> None:
    tree = BoxTree(attributes=("city",), splits=(), order=(-1,))
    for boxes, number in (((), 0), ((tree, tree), 2)):
        with pytest.raises(ReleaseError, match=f"'city' is in {number} trees"):
            Masking({"city": SUPPRESSED}, boxes=boxes).labels(pa.table({"city": ["Bern"]}))


def test_a_vocabulary_alone_masks_nothing() -> None:
    with pytest.raises(BrokenPromiseError, match="no label without its boxes"):
        SUPPRESSED.labels(["Bern"])


def test_a_tree_of_one_leaf_masks_everything() -> None:
    (labels,) = {
        tuple(row.items())
        for row in frozen([_root("age", "job", "home"), _root("city", "home")])
        .labels(pa.table({"age": [3, 4], "job": ["Clerk", "None"], "city": list(CITIES[:2]), "home": ["Bern"] * 2}))
        .to_pylist()
    }
    assert dict(labels) == {"age": "[0, 64)", "job": "Any", "city": "⊥", "home": "⊥"}


def _root(*names: str) -> Any:
    return Box({name: root_block(name) for name in names})


def manifest(masking: Masking, **more: Any) -> RefinementManifest:
    return RefinementManifest(
        unveil_version="0",
        guarantee="",
        class_="class",
        weight=None,
        requirements=(),
        columns=masking.columns,
        rows=Rows(read=5, dropped=1, released=3, left_out=1),
        records=3,
        boxes=masking.boxes,
        **more,
    )


@settings(deadline=None, max_examples=30)
@given(maskings())
def test_a_manifest_holds_the_trees(grown: Grown) -> None:
    left_out = LeaveOut(share="25%", records=1, as_="mask", labels={"age": "[0, 64)"})
    written = manifest(grown.masking, search="joint", recoding="local", leave_out=left_out)
    assert read_manifest_text(written.to_json(), "manifest.json") == written
    assert read_manifest_text(written.to_json(), "manifest.json").masking.boxes == grown.masking.boxes


def test_a_manifest_has_no_key_for_what_a_release_does_not_use() -> None:
    plain = Masking({"city": Suppression(domain="declared", disclosed=("Bern",))})
    content = json.loads(manifest(plain).model_copy(update={"rows": Rows(read=1, dropped=0, released=1)}).to_json())
    assert content["masking"]["city"] == {
        "kind": "suppression", "domain": "declared", "disclosed": ["Bern"], "marker": "⊥"
    }  # fmt: skip
    assert content["rows"] == {"read": 1, "dropped": 0, "released": 1}
    assert not content.keys() & {"search", "recoding", "leave-out", "boxes"}


def test_a_tree_too_large_to_be_verified_is_not_written(tmp_path: Path) -> None:
    tree = BoxTree(attributes=("city",), splits=(), order=(-1,) * 2_000_000)
    with pytest.raises(ReleaseError, match=r"the manifest would have .* bytes; it has 16,777,216 at most"):
        check_limits(manifest(Masking({"city": SUPPRESSED}, boxes=[tree])), tmp_path)
