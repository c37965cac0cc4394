"""Derived columns from a spec to masked later rows: as if the table had them, and nothing of what they come from."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from commands import Run, refused
from project import Project
from unveil import load_spec, publish

BANDS = '[attributes.band]\nderive = { from = "age", bands = [0, 30, 60], labels = ["young", "middle", "old"] }\n'
HIGH = '[attributes.high]\nderive = "income >= 1003"\n'


@pytest.fixture
def derived(project: Project) -> Project:
    """The class from the income, and a quasi-identifier from the age, neither of which is released."""
    project.edit(project.spec, 'class   = "ill"', 'class   = "high"')
    project.edit(project.spec, '[attributes.age]\nkind  = "number"\nrange = [0, 100]\nwhole = true\n', BANDS)
    project.edit(
        project.spec, '[attributes.income]\nkind = "number"\n', f'{HIGH}\n[attributes.ill]\nkind = "category"\n'
    )
    project.edit(project.spec, '["age", "job", "town"]', '["band", "job", "town"]')
    return project


def banded(age: str) -> str:
    return "young" if int(age) < 30 else "middle" if int(age) < 60 else "old"


def test_a_release_is_that_of_a_table_that_has_the_columns(derived: Project, run: Run) -> None:
    release = publish(derived.spec)
    rows = list(csv.DictReader(derived.table.read_text().splitlines()))
    for row in rows:
        age, income = row.pop("age"), float(row.pop("income"))
        row["band"] = "?" if age == "?" else banded(age)
        row["high"] = "true" if income >= 1003 else "false"
    with derived.table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    derived.edit(derived.spec, BANDS, '[attributes.band]\nkind = "category"\nvalues = ["young", "middle", "old"]\n')
    derived.edit(derived.spec, HIGH, '[attributes.high]\nvalues = ["false", "true"]\n')
    stored = publish(derived.spec)
    assert release.table.equals(stored.table)
    assert release.manifest.rows == stored.manifest.rows
    assert release.table.column_names == ["band", "job", "town", "ill", "high"]


def test_every_verb(derived: Project, run: Run) -> None:
    assert run("check", derived.spec).code == 0
    assert run("publish", derived.spec, "--to", derived.release).code == 0
    verified = run("verify", derived.release, "--raw", derived.spec)
    assert (verified.code, verified.err) == (0, "")
    later = derived.folder / "later.parquet"
    assert run("apply", derived.release, derived.table, "--to", later, "--unseen", "suppress").code == 0
    masked = pq.read_table(later)
    assert set(masked["high"].to_pylist()) == {"true", "false"}
    assert set(masked["band"].to_pylist()) <= {"young", "middle", "old", "⊥"}
    assert run("evaluate", derived.spec, "--seeds", 1).code == 0
    assert run("explain", derived.spec).code == 0
    assert run("report", derived.release, "--owner", derived.spec, "--to", derived.folder / "page.html").code == 0


def test_later_rows_that_lack_the_source_are_refused(derived: Project, run: Run) -> None:
    run("publish", derived.spec, "--to", derived.release)
    derived.edit(derived.table, "name,age", "name,agee")
    found = run("apply", derived.release, derived.table, "--to", derived.folder / "later.csv")
    assert found.code == 2
    assert "people.csv: the rows to mask lack the column 'age', from which 'band' is derived." in found.err


PRIVATE = """
[[require]]
kind    = "differential-privacy"
epsilon = 4.0

[publish]
method = "{method}"
{options}
"""


@pytest.mark.parametrize(("method", "options"), [("diffgen", "specializations = 3"), ("additive", "")])
def test_the_domain_of_a_derived_column_is_public(method: str, options: str, derived: Project, run: Run) -> None:
    text = derived.spec.read_text().partition("[[require]]")[0]
    text = text.replace(
        '[attributes.ill]\nkind = "category"\n', '[attributes.ill]\nkind = "category"\nvalues = ["yes", "no"]\n'
    )
    text = text.replace('rows = "drop" }', 'rows = "drop" }\ninvalid = "drop"')
    derived.spec.write_text(text + PRIVATE.format(method=method, options=options))
    derived.table.write_text(derived.table.read_text() + "x,-3,baker,Cork,1003,yes\ny,40,baker,Cork,lots,yes\n")
    assert "2 rows" in (checked := run("check", derived.spec).out) or "3 rows" in checked
    assert run("publish", derived.spec, "--to", derived.release).code == 0
    verified = run("verify", derived.release, "--raw", derived.spec)
    assert (verified.code, verified.err) == (0, "")


def test_planted_faults(derived: Project, run: Run) -> None:
    run("publish", derived.spec, "--to", derived.release)
    manifest = derived.release / "manifest.json"
    original = manifest.read_text()

    def found(old: str, new: str) -> str:
        assert old in original
        manifest.write_text(original.replace(old, new))
        verified = run("verify", derived.release, "--raw", derived.spec)
        assert verified.code == 1
        return verified.out + verified.err

    assert "does not derive 'high' as the spec does" in found('"at-least": 1003', '"at-least": 1002')
    assert "holds 'false', which its derivation never gives" in found(
        '"at-least": 1003,', '"at-least": 1003,\n      "labels": [\n        "no",\n        "true"\n      ],'
    )
    assert "is derived, so its domain is declared" in found('"domain": "declared"', '"domain": "observed"')
    assert "which is derived itself" in found('"from": "income"', '"from": "band"')
    assert "invisible" in found('"from": "income"', '"from": "in\u200bcome"')
    assert "the bands do not ascend" in found("        30,\n        60", "        60,\n        30")
    assert "it must compare" in found('"at-least": 1003,', '"at-least": 1003,\n      "equals": 3,')
    # The raw table says something else than the release.
    manifest.write_text(original)
    derived.edit(derived.table, "1004.5", "1000.5")
    verified = run("verify", derived.release, "--raw", derived.spec)
    assert (verified.code, "truth" in verified.out + verified.err) == (1, True)


CASES = {
    "no such column": ('"income >= 1003"', '"incom >= 1003"', ["'incom', from which 'high' is derived", "'income'"]),
    "no column at all": ('"income >= 1003"', '">= 1003"', ["[attributes.high] derive is '>= 1003', but it must be"]),
    "code": ('"income >= 1003"', "\"__import__('os') == 1\"", ["[attributes.high] derive is", "must be written"]),
    "no literal": ('"income >= 1003"', '"income >= lots"', ["[attributes.high] derive is 'income >= lots'"]),
    "text compared": ('"income >= 1003"', "\"income >= 'a'\"", ["derive at-least is 'a'", "a number or a date"]),
    "an unknown way": ("bands = [0", "band = [0", ["[attributes.band] derive has the unknown key 'band'", "'bands'"]),
    "no way": ("bands = [0, 30, 60], ", "", ["[attributes.band] derive needs one of", "has none"]),
    "two ways": ("bands = [0", "equals = 3, bands = [0", ["[attributes.band] derive needs one of", "has several"]),
    "bands that descend": ("[0, 30, 60]", "[0, 60, 30]", ["derive bands must ascend, but 30 does not"]),
    "a label too few": ('"young", "middle"', '"middle"', ["derive has 2 labels, but it needs 3: one per band"]),
    "a label twice": ('"young", "middle"', '"old", "middle"', ["[attributes.band] values hold 'old' twice"]),
    "a label that is a mark": ('"young"', '"?"', ["[attributes.band] derive gives '?', which means a missing value"]),
    "a mark looked for": (
        '"income >= 1003"',
        "\"income == '?'\"",
        ["derive looks for '?', which means a missing value"],
    ),
    "a value below the bands": ("[0, 30, 60]", "[25, 30, 60]", ["column 'age'", "lies below the first band", "'band'"]),
    "a value that is not a number": (
        '"income >= 1003"',
        '{ from = "income", at-least = 1003, missing = ["1000.5"] }',
        ["column 'income'", "'lots' (1 row) is not a number, so 'high' cannot be derived"],
    ),
    "values declared too": ("[attributes.band]", '[attributes.band]\nvalues = ["x"]', ["its values follow from the"]),
    "another kind": ("[attributes.band]", '[attributes.band]\nkind = "number"', ["it is a category, not a number"]),
    "a chain": ('from = "age"', 'from = "high"', ["derive is from 'high', which is derived itself"]),
    "a column that is there": (
        '[attributes.name]\nrole = "identifier"\n',
        "",
        ["people.csv: the table has a column 'band' already"],
    ),
    "mixed": ("[0, 30, 60]", "[0, 2020-01-01, 60]", ["derive mixes numbers with texts or dates"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_derivations(name: str, derived: Project, run: Run) -> None:
    old, new, words = CASES[name]
    derived.edit(derived.spec, old, new)
    if name == "a column that is there":
        derived.edit(derived.table, "name,age", "band,age")
    if name == "a value that is not a number":
        derived.edit(derived.table, "gone,?,clerk,Cork,1000,", "x,30,clerk,Cork,lots,")
    refused(derived, run, words)


def test_a_class_takes_no_other_key(derived: Project, run: Run) -> None:
    derived.edit(derived.spec, "[attributes.high]", '[attributes.high]\ntaxonomy = "job.tree"')
    refused(derived, run, ["[attributes.high] is the class; only its values, their labels, how it is derived"])


def test_the_source_is_neither_refused_nor_released_as_another_column(derived: Project) -> None:
    derived.edit(derived.spec, "[table]", '[table]\nothers = "release"')
    derived.edit(derived.spec, '[attributes.ill]\nkind = "category"\n', "")
    assert load_spec(derived.spec).unread == {"age", "income"}
    assert publish(derived.spec).table.column_names == ["band", "job", "town", "ill", "high"]


def test_a_source_that_is_described_is_released_too(derived: Project, run: Run) -> None:
    derived.edit(derived.spec, "[attributes.ill]", '[attributes.income]\nkind = "number"\n\n[attributes.ill]')
    release = publish(derived.spec)
    incomes, labels = (release.table[name].to_pylist() for name in ("income", "high"))
    assert [str(income >= 1003).lower() for income in incomes] == labels
    release.write(derived.release)
    assert json.loads((derived.release / "manifest.json").read_text())["derived"]["high"]["from"] == "income"
    assert run("verify", derived.release, "--raw", derived.spec).code == 0


KINDS = 'missing = { keep = { "not asked" = ["N", "-9"], unknown = ["?", ""] } }'
INCOME = f'[attributes.income]\nkind = "number"\n{KINDS}\n'
POLICIES = {
    "those of its source": (INCOME, "", {"low", "high", "not asked", "unknown"}),
    "its own": ("", KINDS, {"low", "high", "not asked", "unknown"}),
    "other ones": (INCOME, 'missing = { keep = { gone = ["N", "-9", "?", ""] } }', {"low", "high", "gone"}),
    "the marks of its source, to drop": (INCOME, 'missing = "drop"', {"low", "high"}),
    "the marks of its source, to keep": (
        '[attributes.income]\nkind = "number"\nmissing = { values = ["N", "-9", "?", ""], rows = "drop" }\n',
        'missing = "keep"',
        {"low", "high"},
    ),
}


@pytest.fixture(params=POLICIES)
def kinds(request: pytest.FixtureRequest, project: Project) -> tuple[Project, set[str]]:
    """A band of the income, which nobody was asked for, or nobody knows, in some rows."""
    source, own, expected = POLICIES[request.param]
    band = f'[attributes.level]\nderive = {{ from = "income", bands = [0, 1003], labels = ["low", "high"] }}\n{own}\n'
    project.edit(project.spec, '[attributes.income]\nkind = "number"\n', f"{source}\n{band}")
    project.edit(project.spec, '["age", "job", "town"]', '["level", "income"]' if source else '["level"]')
    rows = list(csv.DictReader(project.table.read_text().splitlines()))
    for place, row in enumerate(rows):
        row["income"] = {0: "N", 1: "?", 2: "", 3: "-9"}.get(place % 8, row["income"])
    with project.table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return project, expected


def test_a_derived_column_keeps_kinds_of_missing_values(kinds: tuple[Project, set[str]], run: Run) -> None:
    project, expected = kinds
    published = run("publish", project.spec, "--to", project.release)
    assert (published.code, published.err) == (0, "")
    verified = run("verify", project.release, "--raw", project.spec)
    assert (verified.code, verified.err) == (0, "")
    held = pq.read_table(project.release / "data.parquet")["level"].to_pylist()
    assert set(held) == expected
    raw = [row["income"] for row in csv.DictReader(project.table.read_text().splitlines())]
    marked = raw[-1] in ("N", "-9")  # the last row lacks the age, and is dropped
    if "not asked" in expected:
        assert held.count("not asked") == raw.count("N") + raw.count("-9") - marked
        assert held.count("unknown") == raw.count("?") + raw.count("")
    later = project.folder / "later.parquet"
    assert run("apply", project.release, project.table, "--to", later, "--unseen", "suppress").code == 0
    masked = pq.read_table(later)["level"].to_pylist()
    assert set(masked) - {"⊥"} == expected
    if "not asked" in expected:
        assert masked.count("not asked") == held.count("not asked") + marked


def test_a_kind_that_a_manifest_leaves_out_is_found(project: Project, run: Run) -> None:
    band = f'[attributes.level]\nderive = {{ from = "income", bands = [0, 1003] }}\n{KINDS}\n'
    project.edit(project.spec, '[attributes.income]\nkind = "number"\n', band)
    project.edit(project.table, ",1001.5,", ",N,")
    run("publish", project.spec, "--to", project.release)
    manifest = project.release / "manifest.json"
    content = json.loads(manifest.read_text())
    assert content["derived"]["level"]["kept"] == ["N", "-9", "?", ""]
    content["derived"]["level"]["kept"] = ["?", ""]
    manifest.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    assert "does not derive 'level' as the spec does" in run("verify", project.release, "--raw", project.spec).out
    content["derived"]["level"]["kept"] = ["no mark"]
    manifest.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    assert "does not mean a missing value" in run("verify", project.release).out


def test_kept_is_not_for_a_spec(project: Project, run: Run) -> None:
    project.edit(
        project.spec,
        '[attributes.income]\nkind = "number"\n',
        '[attributes.level]\nderive = { from = "income", above = 1, kept = ["N"] }\n',
    )
    refused(project, run, ["derive has the key 'kept', which only a manifest has"])
