"""Bad input: one sentence that names file, attribute, rule and value, exit code 2, nothing written."""

from collections.abc import Callable

import pytest

from commands import Run, refused
from noise.private import SPEC as PRIVATE
from project import Project

Spoil = Callable[[Project], object]


def row(text: str) -> Spoil:
    """One more row at the end of the table."""
    return lambda project: project.table.write_text(project.table.read_text() + text + "\n")


def by_person(*lines: str) -> Spoil:
    """A private spec in which the name says whose row it is, and the requirement has more lines."""
    asked = "\n".join(["epsilon = 0.5", *lines])
    text = PRIVATE.replace("[table]", '[table]\nperson = "name"').replace("epsilon = 0.5", asked)
    return lambda project: project.spec.write_text(text)


def spec(old: str, new: str) -> Spoil:
    return lambda project: project.edit(project.spec, old, new)


def tree(old: str, new: str) -> Spoil:
    return lambda project: project.edit(project.tree, old, new)


def table(text: str) -> Spoil:
    return lambda project: project.table.write_text(text)


CASES: dict[str, tuple[Spoil, list[str]]] = {
    "k larger than the table": (spec("k                = 3", "k = 49"), ["people.toml", "k = 49", "48 records"]),
    "k larger than the number of persons": (
        lambda project: (
            spec('class   = "ill"', 'class = "ill"\nperson = "name"')(project),
            spec("k                = 3", "k = 49")(project),
        ),
        ["people.toml", "k = 49 persons", "48 persons"],
    ),
    "a row that is nobody's": (
        lambda project: (
            spec('class   = "ill"', 'class = "ill"\nperson = "name"')(project),
            spec('rows = "drop"', 'rows = "refuse"')(project),
            project.edit(project.table, "gone,?,clerk", ",30,clerk"),
        ),
        ["people.csv", "'name'", "whose row", "1 row", "refuse"],
    ),
    "a person column that is not there": (
        spec('class   = "ill"', 'class = "ill"\nperson = "nam"'),
        ["people.csv", "'nam'", "did you mean 'name'"],
    ),
    "a person column that is released": (
        spec('class   = "ill"', 'class = "ill"\nperson = ["name", "town"]'),
        ["people.toml", "person", "'town'", "[attributes.town]", "identifier"],
    ),
    "a person column twice": (
        spec('class   = "ill"', 'class = "ill"\nperson = ["name", "name"]'),
        ["people.toml", "person", "'name' twice"],
    ),
    "the class as a person": (
        spec('class   = "ill"', 'class = "ill"\nperson = "ill"'),
        ["people.toml", "person", "'ill'", "the class"],
    ),
    "persons and weights": (
        spec('class   = "ill"', 'class = "ill"\nperson = "name"\nweight = "n"'),
        ["people.toml", "person and weight", "n records"],
    ),
    "ε for a person without a bound": (
        by_person(),
        ["people.toml", "[table] person", "about one person", "contributions = m"],
    ),
    "a bound for no persons": (
        lambda project: project.spec.write_text(PRIVATE.replace("epsilon = 0.5", "epsilon = 0.5\ncontributions = 2")),
        ["people.toml", "[[require]] number 1 contributions", "[table] person"],
    ),
    "a bound that leaves nothing": (by_person("contributions = 0"), ["people.toml", "contributions", "0"]),
    "a bound that is not whole": (by_person("contributions = 1.5"), ["people.toml", "contributions", "1.5"]),
    "an ε that many rows share": (
        by_person("contributions = 1_000_000"),
        ["people.toml", "0.5 for 1,000,000 contributions", "5e-07 for each", "noise"],
    ),
    "no person column": (spec('class   = "ill"', 'class = "ill"\nperson = []'), ["people.toml", "[table] person"]),
    "a value missing from a taxonomy": (
        row("x,30,bakr,Cork,1000,yes"),
        ["people.csv", "'job'", "'bakr'", "1 row", "job.tree", "did you mean 'baker'"],
    ),
    "a value that is an inner label": (
        row("x,30,Craft,Cork,1000,yes"),
        ["people.csv", "'job'", "'Craft'", "inner label", "job.tree"],
    ),
    "a value outside the declared ones": (
        row("x,30,baker,Corc,1000,yes"),
        ["people.csv", "'town'", "'Corc'", "did you mean 'Cork'"],
    ),
    "a value that looks suppressed": (spec('values = ["Aarhus", "Bergen", "Cork"]', 'values = ["⊥"]'), ["'⊥'", "town"]),
    "an observed value that looks suppressed": (
        lambda project: (
            spec('values = ["Aarhus", "Bergen", "Cork"]', "")(project),
            row("x,30,baker,⊥,1,yes")(project),
        ),
        ["people.csv", "'town'", "'⊥'", "suppressed"],
    ),
    "a number outside its range": (row("x,100,baker,Cork,1,no"), ["'age'", "100", "range [0, 100)", "1 row"]),
    "a number below its range": (row("x,-1,baker,Cork,1,no"), ["'age'", "-1", "range [0, 100)"]),
    "a number that is not whole": (row("x,30.5,baker,Cork,1,no"), ["'age'", "30.5", "not whole"]),
    "a number that is not a number": (row("x,old,baker,Cork,1,no"), ["'age'", "'old'", "not a number"]),
    "an infinite number": (row("x,30,baker,Cork,inf,no"), ["'income'", "'inf'", "finite"]),
    "digits in groups": (row("x,3_0,baker,Cork,1,no"), ["'age'", "'3_0'", "not a number"]),
    "missing values when the policy is refuse": (
        spec('rows = "drop"', 'rows = "refuse"'),
        ["'age'", "1 row", "refuse"],
    ),
    "a label of missing values that is a value": (
        spec("range = [0, 100]", 'range = [0, 100]\nmissing = { keep = { "[0, 9)" = ["?"] } }'),
        ["people.toml", "[attributes.age]", "'[0, 9)'", "mistaken"],
    ),
    "a label of missing values that is in the taxonomy": (
        spec('taxonomy = "job.tree"', 'taxonomy = "job.tree"\nmissing = { keep = { Craft = ["?"] } }'),
        ["people.toml", "[attributes.job]", "'Craft'", "one of its values"],
    ),
    "a mark that is a declared value": (
        spec('values = ["Aarhus",', 'missing = { values = ["Cork"], rows = "keep" }\nvalues = ["Aarhus",'),
        ["people.toml", "[attributes.town]", "'Cork'", "means a missing value"],
    ),
    "two marks that collide": (
        spec("range = [0, 100]", 'range = [0, 100]\nmissing = { keep = { a = ["?"], b = ["", "?"] } }'),
        ["people.toml", "[attributes.age] missing keep", "'?' twice", "'a' and 'b'"],
    ),
    "kinds of missing values, none of them for nulls": (
        spec("range = [0, 100]", 'range = [0, 100]\nmissing = { keep = { a = ["?"], b = ["x"] } }'),
        ["people.toml", "[attributes.age] missing keep", "nulls"],
    ),
    "a raw value that is called like a missing one": (
        lambda project: (
            spec("range = [0, 100]", 'range = [0, 100]\nmissing = "keep"')(project),
            row("x,missing,baker,Cork,1,no")(project),
        ),
        ["people.csv", "'age'", "'missing' (1 row)", "another label"],
    ),
    "an unknown policy": (
        spec("range = [0, 100]", 'range = [0, 100]\nmissing = "kep"'),
        ["people.toml", "[attributes.age] missing", "'kep'", "'keep'"],
    ),
    "kinds of missing values of a number that is released as it is": (
        spec(
            '[attributes.income]\nkind = "number"',
            '[attributes.income]\nkind = "number"\nmissing = { keep = { a = [""], b = ["x"] } }',
        ),
        ["people.toml", "[attributes.income]", "'a', 'b'", "null"],
    ),
    "a column the table does not have": (spec("[attributes.income]", "[attributes.incom]"), ["'incom'", "'income'"]),
    "a column the spec does not describe": (
        spec('[attributes.income]\nkind = "number"\n', ""),
        ["does not describe the column 'income'; describe it, or set [table] others"],
    ),
    "columns the spec does not describe": (
        lambda project: (
            spec('[attributes.income]\nkind = "number"\n', "")(project),
            spec('[attributes.name]\nrole = "identifier"\n', "")(project),
        ),
        ["does not describe the columns 'name', 'income'; describe them, or set [table] others"],
    ),
    "an unknown key": (spec("range =", "rnage ="), ["people.toml", "[attributes.age]", "'rnage'", "'range'"]),
    "an unknown section": (spec("[table]", "[tables]"), ["people.toml", "'tables'", "'table'"]),
    "a taxonomy with a cycle": (
        tree("    smith", "    smith\n      Craft\n        x"),
        ["job.tree", "'Craft'", "cycle"],
    ),
    "a taxonomy with a duplicate leaf": (tree("smith", "clerk"), ["job.tree", "'clerk'", "twice"]),
    "a taxonomy with two roots": (tree("  Craft", "Craft"), ["job.tree", "two roots", "'Craft'"]),
    "a taxonomy that is not there": (spec("job.tree", "jobs.tree"), ["jobs.tree", "cannot be read"]),
    "a quasi-identifier naming the class": (spec('["age", "job", "town"]', '["age", "ill"]'), ["class", "'ill'"]),
    "a quasi-identifier naming an identifier": (spec('["age", "job"', '["name", "job"'), ["identifier", "'name'"]),
    "a quasi-identifier naming nothing known": (spec('["age", "job"', '["agee", "job"'), ["'agee'", "'age'"]),
    "an unknown kind of requirement": (
        spec('"k-anonymity"', '"k-anonimity"'),
        ["people.toml", "k-anonimity", "k-anonymity"],
    ),
    "one class only": (
        table("name,age,job,town,income,ill\na,1,baker,Cork,1,no\n" * 1),
        ["'ill'", "'no'", "one label"],
    ),
    "an empty table": (table("name,age,job,town,income,ill\n"), ["people.csv", "no rows"]),
    "an empty file": (table(""), ["people.csv", "empty"]),
    "a header that is too long": (
        table("name,age," + ",".join(f"column number {i}" for i in range(5000)) + "\n"),
        ["people.csv", "header", "65,536 bytes"],
    ),
    "nothing but missing rows": (
        table("name,age,job,town,income,ill\na,?,baker,Cork,1,no\n"),
        ["people.csv", "every row"],
    ),
    "a broken csv": (row("x,30,baker"), ["people.csv", "cannot be read"]),
    "a column twice": (lambda p: p.edit(p.table, "name,age", "age,age"), ["people.csv", "'age'", "twice"]),
    "a spec that is not UTF-8": (
        lambda p: p.spec.write_bytes(b"[table]\nclass = '\xff'"),
        ["people.toml", "UTF-8", "byte"],
    ),
    "a spec that is not TOML": (lambda p: p.spec.write_text("[table"), ["people.toml", "TOML"]),
    "a spec that is not there": (lambda p: p.spec.unlink(), ["people.toml", "No such file"]),
    "a table that is not there": (lambda p: p.table.unlink(), ["people.csv", "no such file"]),
    "an output folder that exists": (lambda p: p.release.mkdir(), ["release", "exists already"]),
    "no requirement": (lambda p: p.spec.write_text(p.spec.read_text().partition("[[require]]")[0]), ["[[require]]"]),
}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_exit_code_2_nothing_written(name: str, project: Project, run: Run) -> None:
    spoil, words = CASES[name]
    spoil(project)
    refused(project, run, words, "--trace", project.folder / "trace.json")


def test_a_broken_parquet(project: Project, run: Run) -> None:
    broken = project.folder / "people.parquet"
    broken.write_bytes(b"PAR1 this is not one PAR1")
    project.edit(project.spec, "people.csv", "people.parquet")
    refused(project, run, ["people.parquet"])


def test_a_csv_that_is_not_utf8(project: Project, run: Run) -> None:
    project.table.write_bytes(project.table.read_bytes() + b"x,30,baker,C\xf8rk,1,no\n")
    refused(project, run, ["people.csv"])


@pytest.mark.parametrize("weight", ["0", "-1", "1.5", "x"])
def test_weights_must_be_whole_and_above_zero(weight: str, project: Project, run: Run) -> None:
    project.edit(project.spec, '[attributes.income]\nkind = "number"\n', "")
    project.edit(project.spec, "[attributes.name]", 'weight = "income"\n[attributes.name]')
    project.table.write_text(f"name,age,job,town,income,ill\na,1,baker,Cork,9,no\nb,1,baker,Cork,{weight},yes\n")
    outcome = run("publish", project.spec, "--to", project.release)
    assert (outcome.code, outcome.out) == (2, "")
    assert "'income'" in outcome.err
    assert weight in outcome.err


def test_debug_shows_the_traceback(project: Project, run: Run) -> None:
    project.spec.write_text("[table")
    outcome = run("--debug", "publish", project.spec, "--to", project.release)
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert "SpecError" in outcome.err
    assert outcome.err.splitlines()[-1].startswith(f"unveil: {project.spec}: the spec is not TOML")


def test_the_trace_cannot_go_into_the_release(project: Project, run: Run) -> None:
    outcome = run("publish", project.spec, "--to", project.release, "--trace", project.release / "trace.json")
    assert outcome.code == 2
    assert "private" in outcome.err
    assert not project.release.exists()
