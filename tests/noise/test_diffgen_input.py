"""Bad input under differential privacy: one sentence, exit code 2, nothing drawn and nothing written."""

import json
from collections import Counter
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet
import pytest

import engines
import unveil
from commands import Run, refused
from noise.private import PrivateProject, no_draws
from unveil.errors import SpecError

pytestmark = pytest.mark.engines

Spoil = Callable[[PrivateProject], object]
HEADER = "name,age,job,town,income,ill\n"


def spec(*edits: tuple[str, str]) -> Spoil:
    def spoil(private: PrivateProject) -> None:
        for old, new in edits:
            private.edit(private.spec, old, new)

    return spoil


def row(text: str) -> Spoil:
    return lambda private: private.table.write_text(private.table.read_text() + text + "\n")


K_ANONYMITY = '[[require]]\nkind = "k-anonymity"\nquasi-identifier = ["age"]\nk = 2\n\n[[require]]'

CASES: dict[str, tuple[Spoil, list[str]]] = {
    "an observed range": (
        spec(("range = [0, 2000]\nstep  = 0.5\n", "")),
        ["people.toml", "[attributes.income]", "observed range", "private", "declare range"],
    ),
    "a label without end": (
        spec(('values = ["Aarhus"', f'values = ["{"x" * 1001}"')),
        ["people.toml", "xxx…' has 1,001 characters", "1,000 at most"],
    ),
    "a range without a resolution": (
        spec(("step  = 0.5\n", "")),
        ["people.toml", "[attributes.income]", "not finite", "whole = true or a step"],
    ),
    "a range that its step does not fill": (
        spec(("step  = 0.5", "step = 0.3")),
        ["people.toml", "[attributes.income]", "whole number of steps", "0.3"],
    ),
    "observed values": (
        spec(('values = ["Aarhus", "Bergen", "Cork"]\n', "")),
        ["people.toml", "[attributes.town]", "observed values", "private", "declare values"],
    ),
    "observed labels of the class": (
        spec(('[attributes.ill]\nkind   = "category"\nvalues = ["no", "yes"]\n', "")),
        ["people.toml", "class", "labels declared", "private"],
    ),
    "a class of one label": (
        spec(('values = ["no", "yes"]', 'values = ["no"]')),
        ["people.toml", "one label only", "'no'"],
    ),
    "an epsilon of 0": (spec(("epsilon = 0.5", "epsilon = 0")), ["people.toml", "epsilon is 0", "above 0"]),
    "a negative epsilon": (spec(("epsilon = 0.5", "epsilon = -1.5")), ["people.toml", "epsilon is -1.5", "above 0"]),
    "an infinite epsilon": (spec(("epsilon = 0.5", "epsilon = inf")), ["people.toml", "epsilon is inf", "finite"]),
    "an epsilon that is not a number": (spec(("epsilon = 0.5", "epsilon = nan")), ["people.toml", "nan", "finite"]),
    "an epsilon in quotes": (spec(("epsilon = 0.5", 'epsilon = "1"')), ["people.toml", "epsilon", "'1'"]),
    "no epsilon": (spec(("epsilon = 0.5\n", "")), ["people.toml", "lacks the key 'epsilon'"]),
    "a negative h": (
        spec(("specializations = 3", "specializations = -1")),
        ["people.toml", "[publish]", "specializations", "-1"],
    ),
    "an h that is not whole": (
        spec(("specializations = 3", "specializations = 2.5")),
        ["people.toml", "[publish]", "specializations", "2.5"],
    ),
    "no h": (spec(("specializations = 3", "")), ["people.toml", "[publish]", "lacks the key 'specializations'"]),
    "an h larger than any cut allows": (
        # age 99, job 3, town 1, income 399
        spec(("specializations = 3", "specializations = 503"), ("range = [0, 2000]", "range = [0, 200]")),
        ["people.toml", "specializations is 503", "502 at most"],
    ),
    "an h that a search would not come to the end of": (
        spec(("specializations = 3", "specializations = 1001")),
        ["people.toml", "specializations is 1001", "at most 1000"],
    ),
    "a number outside its range": (row("x,100,baker,Cork,1,no"), ["people.csv", "'age'", "100", "range [0, 100)"]),
    "a number off its grid": (row("x,30,baker,Cork,1.3,no"), ["people.csv", "'income'", "1.3", "step 0.5"]),
    "a value outside its taxonomy": (row("x,30,bakr,Cork,1,no"), ["people.csv", "'job'", "'bakr'", "job.tree"]),
    "a value outside the declared ones": (row("x,30,baker,Corc,1,no"), ["people.csv", "'town'", "'Corc'"]),
    "a label that is not declared": (row("x,30,baker,Cork,1,maybe"), ["people.csv", "'ill'", "'maybe'", "declared"]),
    "missing values when the policy is refuse": (
        spec(('rows = "drop"', 'rows = "refuse"')),
        ["people.csv", "'age'", "refuse"],
    ),
    "columns released as they are": (
        spec(('class   = "ill"', 'class = "ill"\nothers = "release"')),
        ["people.toml", "others = 'release'", "raw values"],
    ),
    "another kind of requirement next to it": (
        spec(("[[require]]", K_ANONYMITY)),
        ["people.toml", "one requirement", "'differential-privacy'", "no other"],
    ),
    "two budgets": (
        spec(("[[require]]", '[[require]]\nkind = "differential-privacy"\nepsilon = 1\n\n[[require]]')),
        ["people.toml", "one requirement"],
    ),
    "refinement with a budget": (
        spec(('"diffgen"', '"refinement"')),
        ["people.toml", "differential-privacy", "'diffgen'"],
    ),
    "a criterion of refinement": (
        spec(("specializations = 3", 'specializations = 3\ncriterion = "infogain"')),
        ["people.toml", "criterion", "'refinement'"],
    ),
    "bounds of refinement": (
        spec(("specializations = 3", 'specializations = 3\nbounds = "round"')),
        ["people.toml", "bounds", "'refinement'"],
    ),
    "the paper's budget with another choice": (
        spec(("specializations = 3", 'specializations = 3\nbudget = "paper"\nchoice = "permute-and-flip"')),
        ["people.toml", "'paper'", "'exponential'"],
    ),
    "a threshold of 0": (
        spec(("specializations = 3", "specializations = 3\nthreshold = 0")),
        ["people.toml", "threshold", "0"],
    ),
    "a budget of 0 for the table": (
        spec(('class   = "ill"', 'class = "ill"\nbudget = 0')),
        ["people.toml", "budget is 0", "above 0"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_exit_code_2_nothing_drawn_or_written(
    name: str, private: PrivateProject, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, words = CASES[name]
    spoil(private)
    no_draws(monkeypatch)
    refused(private, run, words)


def test_a_budget_that_is_used_up(private: PrivateProject, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.9')
    assert run("publish", private.spec, "--to", private.folder / "first").code == 0
    no_draws(monkeypatch)
    ledger = private.ledger.read_text()
    refused(private, run, (private.ledger.name, "people.csv", "have cost", "of the budget", "is left", "asks for"))
    assert private.ledger.read_text() == ledger


def test_a_budget_below_the_first_release(private: PrivateProject, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.4')
    no_draws(monkeypatch)
    before = private.files()
    outcome = run("publish", private.spec, "--to", private.release)
    assert (outcome.code, outcome.out) == (2, "")
    assert private.files() == before


def test_the_sentence_on_the_budget_speaks_as_the_owner_does(private: PrivateProject, run: Run) -> None:
    private.edit(private.spec, 'class   = "ill"', 'class = "ill"\nbudget = 0.4')
    outcome = run("publish", private.spec, "--to", private.release)
    for word in ("of the budget 0.4;", "0.4 is left", "asks for 0.5"):
        assert word in outcome.err


def test_numbers_outside_their_range_are_clamped_where_the_spec_says_so(private: PrivateProject, run: Run) -> None:
    private.edit(private.spec, "range = [0, 100]", 'range = [0, 100]\noutside = "clamp"')
    private.edit(private.spec, "epsilon = 0.5", "epsilon = 10000")
    private.edit(private.spec, "specializations = 3", "specializations = 0")
    row("x,100,baker,Cork,1,no\nx,-7,baker,Cork,1,no\nx,1e6,baker,Cork,1,no")(private)
    outcome = run("publish", private.spec, "--to", private.release)
    assert outcome.code == 0, outcome
    released = pa.parquet.read_table(private.release / "data.parquet")
    assert set(released["age"].to_pylist()) == {"[0, 100)"}
    assert sum(released["count"].to_pylist()) == 51  # so much ε gives no noise at all


def test_a_clamped_number_counts_as_the_end_of_its_range() -> None:
    """With much ε, the split that separates the classes is found: 150 counts as 99, which is below no other value."""
    spec = {
        "table": {"class": "c"},
        "attributes": {
            "x": {"kind": "number", "range": [0, 100], "whole": True, "outside": "clamp"},
            "c": {"kind": "category", "values": ["a", "b"]},
        },
        "require": [{"kind": "differential-privacy", "epsilon": 2000}],
        "publish": {"method": "diffgen", "specializations": 1},
    }
    table = pa.table({"x": [98] * 50 + [150] * 50, "c": ["a"] * 50 + ["b"] * 50})
    rows = unveil.publish(table, spec, unsafe_seed=1).table.to_pylist()
    assert {(cell["x"], cell["c"]): cell["count"] for cell in rows} == {
        ("[0, 99)", "a"): 50,
        ("[0, 99)", "b"): 0,
        ("[99, 100)", "a"): 0,
        ("[99, 100)", "b"): 50,
    }


@pytest.mark.parametrize(
    "rows",
    ["", "a,1,baker,Cork,1,no\n", "a,?,baker,Cork,1,no\n", "a,1,baker,Cork,1,no\n" * 20],
    ids=["empty", "one row", "nothing but missing rows", "one class"],
)
def test_what_is_in_the_table_does_not_decide_whether_it_is_published(
    rows: str, private: PrivateProject, run: Run
) -> None:
    private.table.write_text(HEADER + rows)
    outcome = run("publish", private.spec, "--to", private.release)
    assert outcome.code == 0, outcome
    manifest = json.loads((private.release / "manifest.json").read_text())
    released = pa.parquet.read_table(private.release / "data.parquet")
    assert released.num_rows == manifest["cells"]
    assert set(released["ill"].to_pylist()) == {"no", "yes"}
    assert "rows" not in manifest
    assert "records" not in manifest
    assert run("verify", private.release).code == 0


def test_a_table_without_attributes_has_nothing_to_release() -> None:
    spec = {
        "table": {"class": "c"},
        "attributes": {"c": {"kind": "category", "values": ["a", "b"]}},
        "require": [{"kind": "differential-privacy", "epsilon": 1}],
        "publish": {"method": "diffgen", "specializations": 0},
    }
    with pytest.raises(SpecError, match="nothing to release"):
        unveil.publish(pa.table({"c": ["a", "b", "a"]}), spec, unsafe_seed=1)


def test_a_number_that_is_on_its_grid_but_for_rounding_counts_as_on_it(engine: str) -> None:
    """0.7 as a 32-bit number is a little less. It belongs to [0.7, …), and no interval may be empty."""
    spec = {
        "table": {"class": "c"},
        "attributes": {
            "x": {"kind": "number", "range": [0, 1], "step": 0.1},
            "c": {"kind": "category", "values": ["a", "b"]},
        },
        "require": [{"kind": "differential-privacy", "epsilon": 1}],
        "publish": {"method": "diffgen", "specializations": 4},
    }
    table = pa.table({"x": pa.array([0.7] * 3, pa.float32()), "c": ["a", "b", "a"]})
    labels: Counter[str] = Counter()
    for seed in range(300 if engine in engines.QUICK else 10):
        labels.update(set(unveil.publish(table, spec, unsafe_seed=seed).table["x"].to_pylist()))
    bounds = [label.strip("[)").split(", ") for label in labels]
    assert [pair for pair in bounds if pair[0] == pair[1]] == []
