"""Why groups of a joint search are not finer: every number is counted again on the raw rows."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unveil
from masking.trees import JOBS, leaves_of
from unveil.reasons import Cut, reason, summary
from unveil.reasons.stops import Stop
from unveil.schema import Taxonomy

K = 8


def _branch(label: str) -> Any:
    return label, [_branch(child) for child in JOBS.get(label, ())]


def people() -> pd.DataFrame:
    random = np.random.default_rng(3)
    rows = 300
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 64, rows),
            "job": random.choice(sorted(leaves_of("Any")), rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.06, 0.04]),
            "city": random.choice(["Bern", "Chur", "Genf", "Sion"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "sick": random.choice(["flu", "cold", "none"], rows),
        }
    )
    ill = (frame["age"] > 30) ^ (frame["job"] == "Clerk") ^ (random.random(rows) < 0.2)
    return frame.assign(ill=np.where(ill, "yes", "no"))


def spec(recoding: str, **requirement: Any) -> dict[str, Any]:
    names = ["age", "job", "city"]
    return {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "range": [0, 64], "whole": True},
            "job": {"kind": "category", "taxonomy": Taxonomy(_branch("Any"))},
            "city": {"kind": "category"},
            "sick": {"kind": "category"},
        },
        "require": [
            {"kind": "k-anonymity", "quasi-identifier": names, "k": K},
            *([requirement] if requirement else []),
        ],
        "publish": {"search": "joint", "recoding": recoding},
    }


def within(name: str, label: str, value: Any) -> bool:
    if name == "age":
        lo, hi = label.strip("[)").split(", ")
        return int(lo) <= value < int(hi)
    return bool(value in leaves_of(label)) if name == "job" else bool(value == label)


def recounted(stop: Stop, name: str, rows: list[dict[str, Any]], masked: list[dict[str, Any]]) -> None:
    """The group that would break a requirement, counted in plain Python."""
    for item in stop.breaks:
        others = {key: label for key, label in item.group.items() if key != name}
        parent = [
            row[name]
            for row, labels in zip(rows, masked, strict=True)
            if labels[name] == stop.block and all(labels[key] == label for key, label in others.items())
        ]
        into = [label for label in stop.into if label != "⊥" and not label.endswith(", other")]
        held = Counter(next((label for label in into if within(name, label, value)), "rest") for value in parent)
        child = item.group[name]
        assert held[child if child in into else "rest"] == item.records, (stop, item)
        assert item.records < K
        assert item.records > 0


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_the_group_that_would_break_is_counted_as_it_is(recoding: str) -> None:
    frame = people()
    found = unveil.explain(frame, spec(recoding), shadow=False)
    release = unveil.publish(frame, spec(recoding))
    masked = release.masking.labels(pa.Table.from_pandas(frame)).to_pylist()
    assert found.steps == len(release.trace)
    assert [cut.attribute for cut in found.cuts] == ["age", "job", "city"]
    held_back = 0
    for cut in found.cuts:
        for stop in cut.invalid:
            recounted(stop, cut.attribute, frame.to_dict("records"), masked)
            held_back += 1
    assert held_back > 3


def test_a_few_records_are_named_that_cost_everybody_a_label() -> None:
    """Five people keep the other 195 from having their answer released."""
    frame = pd.DataFrame({"answer": ["no"] * 100 + ["yes"] * 95 + ["?!"] * 5, "ill": ["a", "b"] * 100})
    tree = Taxonomy(("Any", [("Given", [("no", []), ("yes", []), ("?!", [])]), ("Refused", [])]))
    asked = {
        "table": {"class": "ill"},
        "attributes": {"answer": {"kind": "category", "taxonomy": tree, "keep": ["Given", "Refused"]}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["answer"], "k": 101}],
        "publish": {"search": "joint", "recoding": "global"},
    }
    (cut,) = unveil.explain(frame, {**asked, "require": [asked["require"][0] | {"k": 95}]}, shadow=False).cuts
    (fewest,) = [stop.fewest for stop in cut.stops if stop.fewest]
    assert fewest.records == 5
    assert "5 records in groups that fall short cost you Given" in summary(cut)
    (cut,) = unveil.explain(frame, asked, shadow=False).cuts
    assert [stop.fewest for stop in cut.stops if stop.why == "invalid"] == [None]  # all are in groups that fall short


ANSWERS: dict[str, Any] = {
    "table": {"class": "ill"},
    "attributes": {name: {"kind": "category"} for name in ("answer", "reply", "town")},
    "require": [
        {"kind": "k-anonymity", "quasi-identifier": ["answer", "town"], "k": 10},
        {"kind": "k-anonymity", "quasi-identifier": ["reply", "town"], "k": 9},
    ],
}


def answers() -> pd.DataFrame:
    """Three people in the south keep the other 197 from having answer and town released. A reply is an answer."""
    rows = [("no", "north", "a")] * 95 + [("yes", "north", "b")] * 62 + [("no", "south", "b")] * 40
    frame = pd.DataFrame([*rows, *[("yes", "south", "a")] * 3], columns=["answer", "town", "ill"])
    return frame.assign(reply=frame["answer"])


def test_the_search_of_the_papers_names_them_too() -> None:
    """Each of them is counted once, though two sets of attributes have the town."""
    found = unveil.explain(answers(), {**ANSWERS, "publish": {"search": "paper"}}, shadow=False)
    *_, town = found.cuts
    (fewest,) = [stop.fewest for stop in town.stops if stop.fewest]
    assert fewest == (3, ("north", "south"), "1.5%", None)
    told = '3 records in groups that fall short cost you to disclose north, south: leave-out = "1.5%" would cover them'
    assert told in repr(found)
    assert found.to_dict()["attributes"][-1]["stops"][0]["fewest"]["leave_out"] == "1.5%"


BY_PERSON: dict[str, Any] = {**ANSWERS, "table": {"class": "ill", "person": "who"}}


def answers_of_persons() -> pd.DataFrame:
    """Everybody answered twice, alike. Four more answers are by three people in the south, one of whom changed town."""
    rows = [("no", "north", "a")] * 95 + [("yes", "north", "b")] * 62 + [("no", "south", "b")] * 40
    twice = [(*row, f"p{place}") for place, row in enumerate(rows) for _ in range(2)]
    few = [("yes", "south", "a", who) for who in ("q1", "q1", "q2", "p0")]
    frame = pd.DataFrame([*twice, *few], columns=["answer", "town", "ill", "who"])
    return frame.assign(reply=frame["answer"])


@pytest.mark.parametrize("publish", [{"search": "paper"}, {"search": "joint", "recoding": "global"}])
def test_persons_are_named_where_the_table_has_them(publish: dict[str, str]) -> None:
    """Three of 199 persons, of whom one has answers in the north too."""
    asked = {**BY_PERSON, "require": ANSWERS["require"][:1], "publish": publish}
    found = unveil.explain(answers_of_persons(), asked, shadow=False)
    town = found.cuts[-1]
    (fewest,) = {stop.fewest for stop in town.stops if stop.fewest}
    assert (fewest.records, fewest.persons, fewest.leave_out) == (4, 3, "1.51%")
    assert "3 persons in groups that fall short cost you to disclose north, south: leave-out =" in summary(town)
    assert "would have 3 persons; k asks for 10: 7 short" in repr(found)


def test_what_the_papers_search_would_break_is_counted_by_person() -> None:
    """What a disclosed value leaves has everybody who is also elsewhere."""
    frame, asked = answers_of_persons(), {**BY_PERSON, "publish": {"search": "paper"}}
    frame = frame[frame["town"] == "south"].assign(town="south")
    found = unveil.explain(frame, {**asked, "require": [ANSWERS["require"][0] | {"k": 41}]}, shadow=False)
    stops = {stop.into: stop.breaks[0] for stop in found.cuts[0].stops}
    assert {into: (item.level, item.records) for into, item in stops.items()} == {
        ("no", "⊥"): (3, 4),  # of the two groups the smaller: q1, q2 and p0 remain
        ("yes", "⊥"): (3, 4),
    }


@pytest.mark.parametrize(("recoding", "share"), [("local", "20%"), ("global", "5%")])
def test_what_persons_left_out_buy(recoding: str, share: str) -> None:
    asked = {**BY_PERSON, "publish": {"search": "joint", "recoding": recoding, "leave-out": share}}
    found, release = (
        unveil.explain(answers_of_persons(), asked, shadow=False),
        unveil.publish(answers_of_persons(), asked),
    )
    assert release.manifest.leave_out is not None
    assert (release.manifest.leave_out.records, release.manifest.leave_out.persons) == (4, 3)
    told = found.to_dict()["left-out"]
    assert (told["records"], told["persons"]) == (4, 3)
    words = (
        f"4 of 398 records, which belong to 3 of 199 persons, are left out ({share} of the persons may be), which buys"
    )
    assert words in repr(found)


def villagers(seed: int) -> pd.DataFrame:
    """Three records each of a hundred persons, some of whom moved; a few values are rare."""
    random = np.random.default_rng(seed)
    home = np.repeat(random.choice(["north", "east"], 100), 3)
    return pd.DataFrame(
        {
            "town": np.where(random.random(300) < 0.02, "south", home),
            "answer": random.choice(["no", "yes", "?"], 300, p=[0.6, 0.38, 0.02]),
            "reply": random.choice(["no", "yes", "!"], 300, p=[0.5, 0.48, 0.02]),
            "ill": random.choice(["a", "b"], 300),
            "who": np.repeat([f"p{number}" for number in range(100)], 3),
            "number": np.arange(300),
        }
    )


VILLAGE: dict[str, Any] = {
    **ANSWERS,
    "attributes": {**ANSWERS["attributes"], "number": {"kind": "number", "range": [0, 300], "whole": True}},
    "require": [
        {"kind": "k-anonymity", "quasi-identifier": ["answer", "town"], "k": 4},
        {"kind": "k-anonymity", "quasi-identifier": ["reply", "town"], "k": 4},
    ],
}


def counted_once(frame: pd.DataFrame, asked: dict[str, Any], name: str, stop: Stop) -> tuple[int, int, str]:
    """The records and units in groups that would fall short, over all sets, and the share of these and of those gone.

    Counted in plain Python on the released labels.
    """
    rows, whose = frame.to_dict("records"), frame["who" if "person" in asked["table"] else "number"].tolist()
    released = {row["number"]: row for row in unveil.publish(frame, asked).table.to_pylist()}
    short = set()
    for requirement in asked["require"]:
        names = requirement["quasi-identifier"]
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, labels in released.items():
            held = {key: labels[key] for key in names}
            if held.get(name) == stop.block and (stop.group is None or held.items() <= stop.group.items()):
                groups.setdefault(tuple({**held, name: rows[place][name]}.values()), []).append(place)
        for group in groups.values():
            short |= set(group) if len({whose[place] for place in group}) < requirement["k"] else set()
    gone = short | (set(range(len(rows))) - released.keys())
    share = Fraction(len({whose[place] for place in gone}), len(set(whose)))
    return len(short), len({whose[place] for place in short}), f"{ceil(10_000 * share) / 100:g}%"


@pytest.mark.parametrize("table", [{}, {"person": "who"}])
@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize("share", [None, "3%"])
def test_what_falls_short_in_two_sets_is_counted_once(table: dict[str, str], recoding: str, share: str | None) -> None:
    """Each record, and each person with several, also next to those that are left out already."""
    seen = 0
    for seed in (0, 10, 44, 51):
        frame = villagers(seed)
        publish = {"search": "joint", "recoding": recoding, **({"leave-out": share} if share else {})}
        asked = {**VILLAGE, "table": {"class": "ill", "others": "drop", **table}, "publish": publish}
        for cut in unveil.explain(frame, asked, shadow=False).cuts:
            for stop in cut.stops:
                if stop.fewest is not None:
                    records, units, leave_out = counted_once(frame, asked, cut.attribute, stop)
                    assert stop.fewest == (records, stop.fewest.into, leave_out, units if table else None)
                    seen += 1
    assert seen


def test_what_compares_with_the_whole_table_can_leave_out_nothing() -> None:
    close = {"kind": "t-closeness", "quasi-identifier": ["answer"], "sensitive": "ache", "t": 0.9}
    asked = {**ANSWERS, "publish": {"search": "paper"}, "require": [*ANSWERS["require"], close]}
    asked["attributes"] = {**ANSWERS["attributes"], "ache": {"kind": "category"}}
    found = unveil.explain(answers().assign(ache=["x", "y"] * 100), asked, shadow=False)
    assert "would have 3 records" in repr(found)
    assert "cost you" not in repr(found)


@pytest.mark.parametrize(("recoding", "share"), [("local", "20%"), ("global", "5%")])
def test_what_records_left_out_buy_is_what_the_search_has_without_them(recoding: str, share: str) -> None:
    publish = {"search": "joint", "recoding": recoding}
    asked = {**ANSWERS, "publish": {**publish, "leave-out": share}}
    found, release = unveil.explain(answers(), asked, shadow=False), unveil.publish(answers(), asked)
    without = unveil.publish(answers(), {**asked, "publish": publish})
    told = found.to_dict()["left-out"]
    assert told["records"] == release.manifest.rows.left_out == 3
    assert told["steps"] == {"before": len(without.trace), "after": len(release.trace)}
    assert told["bits"]["after"] == pytest.approx(sum(step["gain"] for step in release.trace))
    assert f"3 of 200 records are left out ({share} may be), which buys" in repr(found)
    assert "No record is left out, though 1% may be." in repr(
        unveil.explain(answers(), {**asked, "publish": {**asked["publish"], "leave-out": "1%"}}, shadow=False)
    )


def test_every_group_has_its_reason() -> None:
    frame = people()
    found = unveil.explain(frame, spec("local"), shadow=False)
    release = unveil.publish(frame, spec("local"))
    groups = Counter(tuple(row[name] for name in ("age", "job", "city")) for row in release.table.to_pylist())
    for cut in found.cuts:
        assert cut.groups == len(groups) == len(cut.stops)
        assert sum(stop.records for stop in cut.stops) == len(frame)
        assert {tuple(stop.group.values()): stop.records for stop in cut.stops if stop.group} == groups
    (age, *_) = found.cuts
    assert f"in {len(groups)} groups: " in summary(age)
    assert "k asks for 8" in summary(age)
    assert all(reason(stop).endswith(".") for stop in age.stops)
    assert "Why no attribute is finer" in repr(found)
    assert found.to_dict()["attributes"][0]["stops"][0]["group"].keys() == {"age", "job", "city"}


def test_a_sensitive_value_may_be_what_holds_a_group_back() -> None:
    """l-diversity next to k: its reasons have their own numbers."""
    diverse = {"kind": "l-diversity", "quasi-identifier": ["age", "job", "city"], "sensitive": "sick", "l": 3}
    found = unveil.explain(people(), spec("local", **diverse), shadow=False)
    numbers = {item.requirement for cut in found.cuts for stop in cut.stops for item in stop.breaks}
    assert numbers == {1, 2}
    sentences = [item.sentence() for cut in found.cuts for stop in cut.stops for item in stop.breaks]
    assert any("different values of sick" in sentence for sentence in sentences)


def test_a_piece_counted_wrong_is_noticed() -> None:
    """The recount is of use: it fails when the reason names one record too many."""
    frame = people()
    found = unveil.explain(frame, spec("local"), shadow=False)
    release = unveil.publish(frame, spec("local"))
    masked = release.masking.labels(pa.Table.from_pandas(frame)).to_pylist()
    cut: Cut = found.cuts[0]
    stop = cut.invalid[0]
    (item, *_) = stop.breaks
    wrong = Stop(stop.block, stop.into, stop.why, stop.records, (replace(item, records=item.records + 1),), stop.group)
    with pytest.raises(AssertionError):
        recounted(wrong, cut.attribute, frame.to_dict("records"), masked)
