"""Information loss, worked by hand and counted again by brute force."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil.errors import ReleaseError, SpecError, TableError
from unveil.evaluation.information import (
    average_class_size,
    discernibility,
    information_loss,
    precision,
)
from unveil.release import RefinementManifest
from unveil.schema import Spec, load_spec
from unveil.tables import Table, load_table
from verify.releases import OLD, RAW_HEADER, YOUNG, Draft, draft, write_raw

TREE = "Any job\n  Office\n    clerk\n    Law\n      judge\n      lawyer\n  baker\n"
DOMAINS = {"age": list(range(10)), "job": ["clerk", "judge", "lawyer", "baker"], "town": ["A", "B", "C", "D"]}
SIZES = {"age": 10, "job": 4, "town": 4}

Row = tuple[int, str, str, str, int]


def release_of(planted: Draft) -> unveil.Release:
    return unveil.Release(planted.table(), RefinementManifest.model_validate(planted.manifest))


@pytest.fixture
def owner(tmp_path: Path) -> tuple[Spec, Table]:
    """What the owner has of the release that `draft` makes: age in [17, 91), a taxonomy of 4 leaves, sex F, M or X."""
    spec = load_spec(write_raw(tmp_path))
    return spec, load_table(spec)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    """Whole numbers of 0 to 9, a lopsided tree of height 3 and 4 leaves, and a flat domain of 4 values."""
    file = tmp_path_factory.mktemp("trees") / "job.tree"
    file.write_text(TREE, encoding="utf-8")
    return load_spec(
        {
            "table": {"class": "ill", "weight": "n"},
            "attributes": {
                "age": {"kind": "number", "range": [0, 10], "whole": True},
                "job": {"kind": "category", "taxonomy": str(file)},
                "town": {"kind": "category", "values": DOMAINS["town"]},
            },
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "job", "town"], "k": 2}],
            "publish": {"search": "paper"},
        }
    )


def frame(rows: list[Row]) -> pa.Table:
    return pa.table([list(values) for values in zip(*rows, strict=True)], names=["age", "job", "town", "ill", "n"])


def test_worked_by_hand(owner: tuple[Spec, Table]) -> None:
    """4 records in [17, 37) × University × M, 3 in [37, 91) × 9th × ⊥, 3 in [37, 91) × University × M."""
    found = information_loss(release_of(draft()), owner[0], table=owner[1])
    assert found.quasi_identifier == ("age", "education", "sex")
    assert (found.records, found.groups, found.k) == (10, 3, 2)
    assert found.penalties == {
        # 17 to 36 is 19 wide, 37 to 90 is 53, the range from 17 to 90 is 73.
        "age": pytest.approx((4 * 19 + 6 * 53) / (10 * 73)),
        # University represents 2 of 4 leaves, 9th itself.
        "education": pytest.approx((7 * 2 / 4 + 3 * 0) / 10),
        # F and X hide behind ⊥: 2 of 3 values.
        "sex": pytest.approx(3 * (2 / 3) / 10),
    }
    assert found.global_penalty == pytest.approx((394 / 730 + 0.35 + 0.2) / 3)
    assert found.discernibility == 4**2 + 3**2 + 3**2
    assert found.average_class_size == pytest.approx(10 / 3 / 2)
    # high high low low: 2 (a tie); high low low: 1; low high high: 1.
    assert found.classification_metric == pytest.approx((2 + 1 + 1) / 10)
    # University is 1 high in a tree of 2, ⊥ is 1 high in a flat one; age has no tree.
    assert found.precisions == {"education": pytest.approx(1 - 7 * (1 / 2) / 10), "sex": pytest.approx(1 - 3 / 10)}
    assert found.precision == pytest.approx((0.65 + 0.7) / 2)


def test_weights_are_records(owner: tuple[Spec, Table]) -> None:
    planted = draft()
    planted.rows = [
        (YOUNG, "University", "M", 40.0, "high"),
        (YOUNG, "University", "M", 40.0, "low"),
        (OLD, "9th", "⊥", 40.0, "low"),
    ]
    planted.weigh([5, 2, 13])
    found = information_loss(release_of(planted), owner[0], table=owner[1])
    assert (found.records, found.groups) == (20, 2)
    assert found.discernibility == 7**2 + 13**2
    assert found.average_class_size == pytest.approx(20 / 2 / 2)
    assert found.classification_metric == pytest.approx(2 / 20)
    assert found.penalties["sex"] == pytest.approx(13 / 20 * 2 / 3)
    assert found.penalties["education"] == pytest.approx(7 / 20 * 2 / 4)
    assert found.precisions["education"] == pytest.approx(1 - 7 / 20 / 2)


def test_an_attribute_released_as_it_is_loses_nothing(owner: tuple[Spec, Table]) -> None:
    found = information_loss(release_of(draft()), owner[0], ["hours", "education"], table=owner[1])
    assert found.penalties == {"hours": 0.0, "education": pytest.approx(0.35)}
    assert found.global_penalty == pytest.approx(0.175)
    assert found.precisions == {"education": pytest.approx(0.65)}
    assert found.k == 1  # nothing is promised about hours


def test_a_category_released_as_it_is_has_full_precision(owner: tuple[Spec, Table]) -> None:
    planted = draft()
    planted.manifest["masking"]["education"] = {"kind": "released", "domain": "declared", "type": "category"}
    assert precision(release_of(planted), "education", owner[0]) == 1.0
    assert precision(release_of(planted), "age", owner[0]) is None


def test_numbers_alone_have_no_precision(owner: tuple[Spec, Table]) -> None:
    found = information_loss(release_of(draft()), owner[0], ["age"])
    assert found.precision is None
    assert found.global_penalty == pytest.approx(394 / 730)


@pytest.mark.parametrize(
    ("names", "k"), [(["age"], 4), (["sex"], 3), (["education"], 2), (["age", "sex"], 2), (["sex", "hours"], 1)]
)
def test_the_k_of_a_part_is_that_of_the_whole(names: list[str], k: int, owner: tuple[Spec, Table]) -> None:
    planted = draft()
    about = {"sensitive": "hours", "values": ["40"]}
    planted.manifest["requirements"] += [
        {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 4},
        {"kind": "alpha-k-anonymity", "quasi-identifier": ["sex"], "k": 3, "alpha": 1, **about},
        {"kind": "confidence", "channel": ["education"], "limit": 1, **about},
    ]
    assert information_loss(release_of(planted), owner[0], names, table=owner[1]).k == k


@pytest.mark.parametrize(
    ("step", "penalty"),
    # [0, 1) and [1, 4) of [0, 4): 1 and 3 of 4 wide; in halves from 0 to 0.5 and 1 to 3.5, of 0 to 3.5.
    [(None, (1 / 4 + 3 / 4) / 2), (0.5, (0.5 / 3.5 + 2.5 / 3.5) / 2), (1.0, (0 / 3 + 2 / 3) / 2)],
)
def test_the_width_of_an_interval_follows_the_step(step: float | None, penalty: float, spec: Spec) -> None:
    planted = draft()
    blocks = [{"label": "[0, 1)", "from": 0, "to": 1}, {"label": "[1, 4)", "from": 1, "to": 4}]
    planted.manifest["masking"] = {
        "age": {"kind": "discretization", "domain": "declared", "whole": False, "blocks": blocks}
    }
    planted.rows = [("[0, 1)", "low"), ("[1, 4)", "high")]
    age = replace(spec.attributes["age"], range=(0.0, 4.0), whole=False, step=step)
    stepped = replace(spec, attributes={"age": age})
    assert information_loss(release_of(planted), stepped).penalties == {"age": pytest.approx(penalty)}


@pytest.mark.parametrize(
    ("disclosed", "penalty"), [([], 1.0), (["A"], 3 / 4), (["A", "B"], 2 / 4), (["A", "B", "C"], 0)]
)
def test_one_hidden_value_hides_nothing(disclosed: list[str], penalty: float, spec: Spec) -> None:
    planted = draft()
    planted.manifest["masking"] = {"town": {"kind": "suppression", "domain": "declared", "disclosed": disclosed}}
    planted.rows = [("⊥", "low"), ("⊥", "high")]
    found = information_loss(release_of(planted), spec)
    assert found.penalties == {"town": pytest.approx(penalty)}
    assert found.precisions == {"town": 0.0 if penalty else 1.0}


def test_a_release_that_tells_everything_loses_nothing(spec: Spec) -> None:
    """Every block holds one value, so the release is the raw table; sizes of groups are those of the raw rows."""
    planted = draft()
    planted.manifest["masking"] = {
        "age": {
            "kind": "discretization",
            "domain": "declared",
            "whole": True,
            "blocks": [{"label": f"[{age}, {age + 1})", "from": age, "to": age + 1} for age in range(10)],
        },
        "job": {
            "kind": "generalization",
            "domain": "declared",
            "blocks": [{"label": leaf, "values": [leaf]} for leaf in DOMAINS["job"]],
        },
        "town": {"kind": "suppression", "domain": "declared", "disclosed": DOMAINS["town"]},
    }
    planted.rows = [("[1, 2)", "judge", "A", "low"), ("[1, 2)", "judge", "A", "low"), ("[2, 3)", "baker", "D", "high")]
    found = information_loss(release_of(planted), spec)
    assert found.global_penalty == 0
    assert found.precision == 1
    assert found.discernibility == 2**2 + 1
    assert found.classification_metric == 0


def test_squares_of_weights_may_outgrow_64_bits() -> None:
    assert discernibility(np.array([2**32, 2**32, 3])) == 2**65 + 9


def test_average_class_size_without_k_is_the_mean_group() -> None:
    assert average_class_size(np.array([1, 2, 6])) == 3.0
    assert average_class_size(np.array([1, 2, 6]), k=2) == 1.5


def test_hidden_values_of_an_observed_domain_need_the_table(owner: tuple[Spec, Table]) -> None:
    with pytest.raises(SpecError, match=r"sex.*give the table"):
        information_loss(release_of(draft()), owner[0])
    planted = draft()
    planted.manifest["masking"]["sex"]["disclosed"] = ["F", "M", "X"]
    planted.rows = [row for row in planted.rows if row[2] == "M"]
    assert information_loss(release_of(planted), owner[0]).penalties["sex"] == 0  # none is hidden


def spoil_values(planted: Draft) -> None:
    planted.manifest["masking"]["sex"]["disclosed"] = ["man"]


def spoil_hidden(planted: Draft) -> None:
    planted.manifest["masking"]["sex"]["disclosed"] = ["F", "M", "X"]


def spoil_tree(planted: Draft) -> None:
    planted.manifest["masking"]["education"]["blocks"][0]["label"] = "College"


def spoil_kind(planted: Draft) -> None:
    planted.manifest["masking"]["age"] = {"kind": "suppression", "domain": "observed", "disclosed": [YOUNG, OLD]}
    planted.rows[0] = ("⊥", *planted.rows[0][1:])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(spoil_values, "'sex'"), (spoil_hidden, "'sex'"), (spoil_tree, "'education'"), (spoil_kind, "'age'")],
)
def test_a_spec_that_is_not_the_releases_is_refused(spoil: Any, words: str, owner: tuple[Spec, Table]) -> None:
    planted = draft()
    spoil(planted)
    with pytest.raises(SpecError, match=words):
        information_loss(release_of(planted), owner[0], table=owner[1])


def test_an_attribute_that_the_spec_does_not_have_is_refused(owner: tuple[Spec, Table], spec: Spec) -> None:
    with pytest.raises(SpecError, match="'education'"):
        information_loss(release_of(draft()), spec, ["education"])


def test_a_label_without_a_block_is_refused(owner: tuple[Spec, Table]) -> None:
    planted = draft()
    planted.rows[0] = ("[0, 17)", *planted.rows[0][1:])
    with pytest.raises(ReleaseError, match=r"'\[0, 17\)'.*'age'"):
        information_loss(release_of(planted), owner[0], table=owner[1])


@pytest.mark.parametrize(("names", "words"), [(["agee"], "'agee'; did you mean 'age'"), ([], "names no attribute")])
def test_an_unknown_attribute_is_refused(names: list[str], words: str, owner: tuple[Spec, Table]) -> None:
    with pytest.raises(TableError, match=words):
        information_loss(release_of(draft()), owner[0], names)


def rows() -> st.SearchStrategy[list[Row]]:
    """Two records at least, of two classes, so that there is something to learn and k = 2 can hold."""
    row = st.tuples(*(st.sampled_from(DOMAINS[name]) for name in DOMAINS), st.sampled_from("yn"), st.integers(1, 3))
    both = st.tuples(row, row).map(lambda pair: [(*pair[0][:3], "y", 1), (*pair[1][:3], "n", 1)])
    return st.builds(lambda first, more: first + more, both, st.lists(row, max_size=12))


def brute_penalty(release: unveil.Release, name: str) -> Fraction:
    """Sends the whole domain through the masking and looks which values come out alike."""
    domain = {other: [values[0]] * SIZES[name] for other, values in DOMAINS.items()} | {name: DOMAINS[name]}
    labels = release.masking.labels(pa.table(domain))[name].to_pylist()
    alike = defaultdict(list)
    for value, label in zip(DOMAINS[name], labels, strict=True):
        alike[label].append(value)
    total = Fraction(0)
    for row in release.table.to_pylist():
        block = alike[row[name]]
        if name == "age":
            total += row["n"] * Fraction(max(block) - min(block), 9)
        else:
            total += row["n"] * (Fraction(len(block), 4) if len(block) > 1 else 0)
    return total / sum(release.table["n"].to_pylist())


def brute_precision(release: unveil.Release, name: str) -> Fraction:
    heights = {"Any job": 3, "Office": 2, "Law": 1, "⊥": 1}
    hidden = [value for value in DOMAINS["town"] if value not in release.masking["town"].disclosed]
    if len(hidden) == 1:
        heights["⊥"] = 0
    height = {"job": 3, "town": 1}[name]
    costs = [(row["n"], Fraction(heights.get(row[name], 0), height)) for row in release.table.to_pylist()]
    return 1 - sum(count * cost for count, cost in costs) / sum(count for count, _ in costs)


@settings(max_examples=60, deadline=None)
@given(rows=rows(), steps=st.integers(0, 8), names=st.sets(st.sampled_from(sorted(DOMAINS)), min_size=1))
def test_every_measure_against_brute_force(spec: Spec, rows: list[Row], steps: int, names: set[str]) -> None:
    release = unveil.publish(frame(rows), spec, steps=steps)
    asked = sorted(names)
    groups: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in release.table.to_pylist():
        groups[tuple(row[name] for name in asked)][row["ill"]] += row["n"]
    sizes = [group.total() for group in groups.values()]
    found = information_loss(release, spec, asked)
    assert (found.records, found.groups) == (sum(sizes), len(sizes))
    assert found.discernibility == sum(size**2 for size in sizes)
    assert found.average_class_size == pytest.approx(sum(sizes) / len(sizes) / 2)
    assert found.classification_metric == pytest.approx(
        sum(group.total() - max(group.values()) for group in groups.values()) / sum(sizes)
    )
    assert found.penalties == {name: pytest.approx(float(brute_penalty(release, name))) for name in asked}
    trees = [name for name in asked if name != "age"]
    assert found.precisions == {name: pytest.approx(float(brute_precision(release, name))) for name in trees}


@settings(max_examples=30, deadline=None)
@given(rows=rows())
def test_refining_only_ever_loses_less(spec: Spec, rows: list[Row]) -> None:
    records = sum(row[-1] for row in rows)
    before = information_loss(unveil.publish(frame(rows), spec, steps=0), spec)
    assert (before.global_penalty, before.precision) == (1, 0)
    assert (before.groups, before.discernibility) == (1, records**2)
    assert before.average_class_size == records / 2
    for steps in range(1, len(unveil.publish(frame(rows), spec).trace) + 1):
        after = information_loss(unveil.publish(frame(rows), spec, steps=steps), spec)
        assert after.global_penalty <= before.global_penalty + 1e-12
        assert after.precision >= before.precision - 1e-12
        assert after.discernibility <= before.discernibility
        assert after.classification_metric <= before.classification_metric
        before = after


def test_the_rows_of_the_helpers_are_as_described() -> None:
    """The arithmetic above relies on these."""
    assert RAW_HEADER[1:4] == ("age", "education", "sex")
    groups = Counter(row[:3] for row in draft().rows)
    assert groups == {(YOUNG, "University", "M"): 4, (OLD, "9th", "⊥"): 3, (OLD, "University", "M"): 3}
    assert (YOUNG, OLD) == ("[17, 37)", "[37, 91)")
