"""How an owner steers a search: what the keys mean, and which of them contradict each other."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from schema.sentences import sentence
from unveil.errors import SpecError
from unveil.schema import Spec, Taxonomy, load_spec

JOBS = Taxonomy(
    (
        "Any job",
        [("Office", [("clerk", []), ("lawyer", [])]), ("Craft", [("baker", []), ("smith", [])]), ("pilot", [])],
    ),
    "job.tree",
)
JOINT = {"search": "joint"}
PAPER = {"search": "paper"}
AGE = "spec: [attributes.age]"
JOB = "spec: [attributes.job]"
TOWN = "spec: [attributes.town]"
BORN = "spec: [attributes.born]"
PUBLISH = "spec: [publish]"


def described(publish: Mapping[str, Any] = JOINT, **steering: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with every kind of attribute, steered as asked."""
    attributes = {
        "name": {"role": "identifier"},
        "age": {"kind": "number", "range": [0, 100], "whole": True},
        "job": {"kind": "category", "taxonomy": JOBS},
        "town": {"kind": "category", "values": ["Aarhus", "Bergen", "Cork"]},
        "born": {"kind": "date"},
        "smokes": {"kind": "category"},
        "income": {"kind": "number"},
    }
    return {
        "table": {"class": "ill"},
        "attributes": {name: {**keys, **steering.get(name, {})} for name, keys in attributes.items()},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "job", "town", "born"], "k": 3}],
        "publish": dict(publish),
    }


def loaded(publish: Mapping[str, Any] = JOINT, **steering: Mapping[str, Any]) -> Spec:
    return load_spec(described(publish, **steering))


def refusal(publish: Mapping[str, Any] = JOINT, **steering: Mapping[str, Any]) -> str:
    return sentence(SpecError, lambda: loaded(publish, **steering))


# ---- What may be written ----


def test_without_any_key_the_search_is_joint_and_local() -> None:
    spec = loaded({})
    assert (spec.search, spec.recoding, spec.leave_out, spec.left_out) == ("joint", "local", 0, "drop")
    assert spec.goal == "class"
    assert all(attribute.steering == () for attribute in spec.attributes.values())


@pytest.mark.parametrize("key", [{"search": "paper"}, {"criterion": "score"}, {"bounds": "observed"}])
def test_the_search_of_the_papers_is_global(key: dict[str, str]) -> None:
    """A key that only the paper's search has asks for that search, as it did before there was another."""
    spec = loaded(key)
    assert (spec.search, spec.recoding) == ("paper", "global")


def test_every_key_of_publish() -> None:
    spec = loaded(
        {**JOINT, "recoding": "local", "leave-out": "0.5%", "left-out": "mask", "goal": ["ill", "smokes"]},
    )
    assert (spec.search, spec.recoding, spec.left_out) == ("joint", "local", "mask")
    assert spec.leave_out == Fraction(1, 200)
    assert spec.goal == ("ill", "smokes")
    assert loaded({**JOINT, "goal": "statistics"}).goal == "statistics"


def test_the_weight_of_an_attribute_is_not_the_weight_of_a_row() -> None:
    spec = loaded(age={"weight": 2})
    assert spec.attributes["age"].gain_weight == 2.0
    assert spec.attributes["age"].steering == ("weight",)
    assert spec.table.weight is None


@pytest.mark.parametrize(
    ("asked", "cut"),
    [
        (0, ("Any job",)),
        (1, ("Office", "Craft", "pilot")),
        (2, ("clerk", "lawyer", "baker", "smith", "pilot")),
        (["pilot", "Craft", "clerk", "lawyer"], ("clerk", "lawyer", "Craft", "pilot")),
    ],
)
def test_the_fineness_of_a_taxonomy_is_a_cut(asked: object, cut: tuple[str, ...]) -> None:
    assert loaded(job={"keep": asked}).attributes["job"].keep == cut
    assert loaded(job={"finest": asked}).attributes["job"].finest == cut


def test_the_fineness_of_other_attributes() -> None:
    spec = loaded(
        age={"keep": 20, "finest": 5},
        town={"keep": ["Cork"]},
        born={"keep": "year", "finest": "quarter"},
    )
    assert (spec.attributes["age"].keep, spec.attributes["age"].finest) == (20.0, 5.0)
    assert spec.attributes["town"].keep == ("Cork",)
    assert (spec.attributes["born"].keep, spec.attributes["born"].finest) == ("year", "quarter")
    assert loaded(born={"keep": 14, "finest": 7}).attributes["born"].finest == 7.0


def test_keep_and_finest_may_be_the_same() -> None:
    assert loaded(job={"keep": 1, "finest": 1}).attributes["job"].steering == ("keep", "finest")


# ---- What contradicts something ----


@pytest.mark.parametrize(
    ("publish", "problem"),
    [
        (
            {**PAPER, "recoding": "local"},
            "recoding = 'local' needs search = 'joint'.",
        ),
        ({**PAPER, "leave-out": "1%"}, "leave-out = '1%' needs search = 'joint'."),
        (
            {**PAPER, "goal": "statistics"},
            "goal = 'statistics' needs search = 'joint'.",
        ),
        ({**PAPER, "criterion": "anonymity"}, "criterion = 'anonymity' needs search = 'joint'."),
        ({**JOINT, "criterion": "infogain"}, "criterion = 'infogain' belongs to search = 'paper', not to 'joint'."),
        ({**JOINT, "bounds": "observed"}, "bounds = 'observed' belongs to search = 'paper', not to 'joint'."),
        ({**JOINT, "left-out": "mask"}, "left-out is 'mask', but leave-out allows no row to be left out."),
        ({**JOINT, "search": "greedy"}, "search is 'greedy', but it must be 'paper' or 'joint'."),
        ({**JOINT, "goal": "best"}, "goal is 'best', but it must be 'class', 'statistics' or a list of columns."),
        ({**JOINT, "goal": []}, "goal is [], but it must be 'class', 'statistics' or a list of columns."),
        ({**JOINT, "goal": ["smoke"]}, "goal names 'smoke', which is not described; did you mean 'smokes'?"),
        ({**JOINT, "goal": ["name"]}, "goal names the identifier 'name', which is never released."),
        ({**JOINT, "goal": ["smokes", "smokes"]}, "goal names 'smokes' twice."),
        (
            {**JOINT, "goal": ["age"]},
            "goal names 'age', which a requirement masks, so it cannot be predicted as it is.",
        ),
        ({**JOINT, "goal": ["income"]}, "goal names 'income', a number; it must name categories or the class."),
    ],
)
def test_keys_of_publish_that_contradict_each_other(publish: dict[str, Any], problem: str) -> None:
    assert refusal(publish) == f"{PUBLISH} {problem}"


@pytest.mark.parametrize("share", ["1", "one%", "-1%", "100%", "250%", "1.0000001%", "%", "١%"])
def test_what_is_left_out_is_a_percentage(share: str) -> None:
    assert refusal({**JOINT, "leave-out": share}) == (
        f"{PUBLISH} leave-out is {share!r}, but it must be a percentage below 100%, such as '1%'."
    )


@pytest.mark.parametrize("requirement", [{"kind": "t-closeness", "t": 0.5}, {"kind": "beta-likeness", "beta": 1.0}])
def test_rows_left_out_would_change_what_a_group_is_compared_with(requirement: dict[str, Any]) -> None:
    content = described({**JOINT, "leave-out": "1%"})
    content["require"].append({**requirement, "quasi-identifier": ["age"], "sensitive": "smokes"})
    assert sentence(SpecError, lambda: load_spec(content)) == (
        f"{PUBLISH} leave-out is '1%', but [[require]] number 2 is {requirement['kind']}, which compares groups with "
        "the whole table, so no row may be left out."
    )


@pytest.mark.parametrize(
    ("steering", "problem"),
    [
        ({"age": {"weight": 0}}, f"{AGE} weight is 0, but it must be above 0 and finite."),
        ({"age": {"weight": float("inf")}}, f"{AGE} weight is inf, but it must be above 0 and finite."),
        ({"age": {"keep": 5, "finest": 10}}, f"{AGE} keep is 5, finer than finest, 10: "),
        ({"age": {"keep": 7, "finest": 5}}, f"{AGE} keep is 7, finer than finest, 5: "),
        ({"age": {"keep": 2.5}}, f"{AGE} keep is 2.5, but it must be a multiple of 1, its step."),
        ({"age": {"keep": ["young"]}}, f"{AGE} keep is ['young'], but it must be a step above 0"),
        ({"age": {"finest": -5}}, f"{AGE} finest is -5, but it must be a step above 0"),
        ({"age": {"finest": True}}, f"{AGE} finest is true, but it must be a number or a list of texts."),
        ({"job": {"keep": 3}}, f"{JOB} keep is 3, but job.tree has the levels 0 to 2 below its root."),
        ({"job": {"keep": 1.5}}, f"{JOB} keep is 1.5, but it must be a depth below the root or a list of labels."),
        ({"job": {"keep": ["Ofice"]}}, f"{JOB} keep names 'Ofice', which is not a label of job.tree; did you mean"),
        ({"job": {"keep": ["Office"]}}, f"{JOB} keep is not a cut of job.tree: no label covers 'baker'."),
        ({"job": {"keep": ["Office", "pilot"]}}, f"{JOB} keep is not a cut of job.tree: no label covers 'baker'."),
        (
            {"job": {"finest": ["Office", "clerk", "Craft", "pilot"]}},
            f"{JOB} finest is not a cut of job.tree: 'clerk' is named twice or below another.",
        ),
        ({"job": {"keep": 2, "finest": 1}}, f"{JOB} keep is 2, finer than finest, 1: 'clerk' is below it."),
        ({"town": {"keep": 1}}, f"{TOWN} keep is 1, but without a taxonomy it must be a list of values."),
        ({"town": {"keep": ["Corc"]}}, f"{TOWN} keep names 'Corc', which is not a declared value; did you mean 'Cork'"),
        ({"town": {"keep": ["Cork", "Cork"]}}, f"{TOWN} keep names 'Cork' twice."),
        ({"town": {"finest": ["Bergen"]}}, f"{TOWN} finest needs a taxonomy, whose labels say which values are never"),
        ({"born": {"keep": "decade"}}, f"{BORN} keep is 'decade', but it must be a whole number of days, or one of "),
        ({"born": {"keep": 1.5}}, f"{BORN} keep is 1.5, but it must be a whole number of days"),
        ({"born": {"keep": "month", "finest": "year"}}, f"{BORN} keep is 'month', finer than finest, 'year'"),
        ({"born": {"keep": 14, "finest": "month"}}, f"{BORN} keep is 14, finer than finest, 'month'"),
        (
            {"smokes": {"keep": ["no"]}},
            "spec: [attributes.smokes] keep has no effect: no requirement names 'smokes', so it is released as it",
        ),
        ({"name": {"weight": 2}}, "spec: [attributes.name] is an identifier and is never released, so 'weight' has"),
    ],
)
def test_steering_that_cannot_be_followed(steering: dict[str, Any], problem: str) -> None:
    assert refusal(**steering).startswith(problem)


@pytest.mark.parametrize("key", ["weight", "keep", "finest"])
def test_the_papers_search_cannot_be_steered(key: str) -> None:
    problem = f"{AGE} {key} needs [publish] search = 'joint'; the paper's search cannot be steered."
    assert refusal({"search": "paper"}, age={key: 5}) == problem


def test_a_private_release_is_not_steered() -> None:
    content = described({"method": "diffgen", "specializations": 1}, age={"weight": 2})
    content["require"] = [{"kind": "differential-privacy", "epsilon": 1.0}]
    content["attributes"]["ill"] = {"values": ["no", "yes"]}
    message = sentence(SpecError, lambda: load_spec(content))
    assert message == f"{AGE} weight belongs to the method 'refinement', not to 'diffgen'."
    content["publish"]["leave-out"] = "1%"
    message = sentence(SpecError, lambda: load_spec(content))
    assert message == f"{PUBLISH} leave-out belongs to the method 'refinement', not to 'diffgen'."
