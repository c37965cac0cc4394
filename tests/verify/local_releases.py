"""Local releases made by hand: every group has labels of its own, and a tree of boxes says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify.releases import OLD, SPEC, YOUNG, Draft, Row, draft

ALL = "[17, 91)"
LOCAL_ROWS: list[Row] = [
    (YOUNG, "Bachelors", "M", 40.0, "low"),
    (YOUNG, "Bachelors", "M", 35.5, "high"),
    (YOUNG, "Masters", "⊥", 40.0, "low"),
    (YOUNG, "Masters", "⊥", 8.0, "high"),
    (OLD, "University", "M", 40.0, "high"),
    (OLD, "University", "M", 40.0, "high"),
    (OLD, "University", "M", 12.0, "low"),
    (OLD, "Any, other", "⊥", 40.0, "low"),
    (OLD, "Any, other", "⊥", 40.0, "low"),
    (OLD, "Any, other", "⊥", 0.0, "high"),
]
LEAVES = ["Bachelors", "Masters", "9th", "10th"]
AGES = [
    {"label": ALL, "from": 17, "to": 91},
    {"label": YOUNG, "from": 17, "to": 37},
    {"label": OLD, "from": 37, "to": 91},
]
EDUCATIONS: list[dict[str, Any]] = [
    {"label": "Any", "values": LEAVES},
    {"label": "Any, other", "values": LEAVES, "rest": True},
    {"label": "University", "values": LEAVES[:2]},
    {"label": "Bachelors", "values": ["Bachelors"]},
    {"label": "Masters", "values": ["Masters"]},
    {"label": "School", "values": LEAVES[2:]},
]
SPLITS = [
    ("age", ALL, [YOUNG, OLD]),
    ("education", "Any", ["University", "School"]),
    ("education", "University", ["Bachelors", "Masters"]),
    ("sex", "⊥", ["M", "⊥"]),
    ("education", "Any", ["University", "Any, other"]),
]
ORDER = [0, 1, 2, 3, -1, -1, -1, -1, 4, 3, -1, -1, -1]
LOCAL = SPEC + '\n[publish]\nsearch = "joint"\nrecoding = "local"\n'
"""The spec of the local release."""
JOINT = LOCAL + 'leave-out = "20%"\n'
SHARED = LOCAL.replace(
    """quasi-identifier = ["age", "education", "sex"]
k = 2
""",
    """quasi-identifier = ["age", "sex"]
k = 2

[[require]]
kind = "k-anonymity"
quasi-identifier = ["age", "education"]
k = 3
""",
)
"""That of the release with two trees."""


def split(attribute: str, block: str, into: list[str]) -> dict[str, Any]:
    return {"attribute": attribute, "block": block, "into": list(into)}


def local_draft() -> Draft:
    """A true local release of the raw rows."""
    release = draft()
    release.rows = list(LOCAL_ROWS)
    masking = release.manifest["masking"]
    masking["age"] |= {"local": True, "blocks": [dict(block) for block in AGES]}
    masking["education"] |= {"local": True, "blocks": [dict(block) for block in EDUCATIONS]}
    masking["sex"] |= {"local": True}
    tree = {
        "attributes": ["age", "education", "sex"],
        "splits": [split(*item) for item in SPLITS],
        "order": list(ORDER),
    }
    _add(release, {"search": "joint", "recoding": "local", "boxes": [tree]})
    return release


def shared_draft() -> Draft:
    """A true release of two trees that share an attribute, which is refined everywhere: two ages by education."""
    release = draft()
    release.manifest["requirements"] = [
        {"kind": "k-anonymity", "quasi-identifier": ["age", "sex"], "k": 2},
        {"kind": "k-anonymity", "quasi-identifier": ["age", "education"], "k": 3},
    ]
    masking = release.manifest["masking"]
    masking["sex"] |= {"local": True}
    masking["education"] |= {"local": True, "blocks": [EDUCATIONS[0], EDUCATIONS[2], EDUCATIONS[5]]}
    release.rows = [
        (age, "University" if age == YOUNG else "Any", sex if age == OLD else "⊥", hours, income)
        for age, _, sex, hours, income in release.rows
    ]
    ages = split("age", ALL, [YOUNG, OLD])
    first = {"attributes": ["age", "sex"], "splits": [ages, split("sex", "⊥", ["M", "⊥"])], "order": [0, -1, 1, -1, -1]}
    second = {
        "attributes": ["age", "education"],
        "splits": [ages, split("education", "Any", ["University", "School"])],
        "order": [0, 1, -1, -1, -1],
    }
    _add(release, {"search": "joint", "recoding": "local", "boxes": [first, second]})
    return release


def shared_rest_draft() -> Draft:
    """Education is refined everywhere, one value after the other; age and sex group by group, here not at all."""
    release = shared_draft()
    manifest = release.manifest
    manifest["requirements"][0]["quasi-identifier"] = ["education", "sex"]
    manifest["masking"]["age"] |= {"local": True, "blocks": [{"label": ALL, "from": 17, "to": 91}]}
    manifest["masking"]["sex"]["disclosed"] = []
    manifest["masking"]["education"] = {
        "kind": "generalization",
        "domain": "declared",
        "blocks": [
            {"label": "University", "values": ["Bachelors", "Masters"]},
            {"label": "9th", "values": ["9th"]},
            {"label": "School, other", "values": ["10th"]},
        ],
    }
    splits = [
        split("education", "Any", ["University", "School"]),
        split("education", "School", ["9th", "School, other"]),
    ]
    manifest["boxes"] = [
        {"attributes": names, "splits": list(splits), "order": [0, -1, 1, -1, -1]}
        for names in (["education", "sex"], ["age", "education"])
    ]
    release.rows = [
        (ALL, "9th" if income == "9th" else "University", "⊥", hours, income) for _, _, _, hours, income in release.rows
    ]
    return release


def dropped_draft(make: Callable[[], Draft] = local_draft) -> Draft:
    """Two of ten records are dropped."""
    release = make()
    release.rows = [row for row in release.rows if row[1] != "Masters" or row[0] != YOUNG]
    release.rows = release.rows[2:] if make is draft else release.rows
    release.manifest["rows"]["released"] = release.manifest["records"] = 8
    leave_out(release, 2)
    return release


def masked_draft(make: Callable[[], Draft] = local_draft) -> Draft:
    """Two of ten records are released fully masked."""
    release = make()
    first = [row for row in release.rows if row[0] == YOUNG][-2:]
    release.rows = [row for row in release.rows if row not in first]
    release.rows += [(ALL, "Any", "⊥", *row[3:]) for row in first[: 10 - len(release.rows)]]
    leave_out(release, 2, "mask")
    return release


def leave_out(release: Draft, rows: int, how: str = "drop", share: str = "20%") -> None:
    """States that so many rows are left out, without changing the rows."""
    stated: dict[str, Any] = {"share": share, "records": rows, "as": how}
    if how == "mask":
        stated["labels"] = {"age": ALL, "education": "Any", "sex": "⊥"}
    release.manifest["rows"]["left_out"] = rows
    _add(release, {"search": "joint", "leave-out": stated})


def _add(release: Draft, keys: dict[str, Any]) -> None:
    """Adds keys before `files`, where the engine writes them."""
    files = release.manifest.pop("files")
    release.manifest |= keys
    release.manifest["files"] = files
