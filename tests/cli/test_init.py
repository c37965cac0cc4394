"""A first spec from a table that nobody prepared."""

import json
import shlex
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import unveil
from commands import Run
from encounters import encounters
from project import Project


def test_the_draft_fits_its_table_and_can_be_published(project: Project, run: Run) -> None:
    spec = project.folder / "draft.toml"
    assert run("init", project.table, "--to", spec).code == 0
    checked = run("check", spec)
    assert (checked.code, "this spec is a draft" in checked.out) == (0, True)
    release = project.folder / "drafted"
    refused = run("publish", spec, "--to", release)
    assert (refused.code, refused.err.count("\n"), release.exists()) == (2, 1, False)
    assert "draft.toml: draft = true: its guesses" in refused.err
    project.edit(spec, "draft = true", "")
    assert run("publish", spec, "--to", release).code == 0
    assert unveil.verify(release, spec) == []


def test_guesses(project: Project, run: Run) -> None:
    draft = tomllib.loads(run("init", project.table).out)
    assert draft["table"]["source"].endswith("people.csv")
    assert draft["table"]["class"] == "ill"
    assert draft["table"]["missing"]["values"] == ["?"]
    assert draft["attributes"]["name"] == {"role": "identifier"}
    assert draft["attributes"]["age"] == {"kind": "number", "whole": True}
    assert draft["attributes"]["income"] == {"kind": "number"}
    assert draft["attributes"]["town"] == {"kind": "category"}
    assert draft["require"][0]["quasi-identifier"] == ["age", "job", "town", "income"]


def test_every_guess_is_marked_and_no_domain_is_declared(project: Project, run: Run) -> None:
    text = run("init", project.table).out
    draft = tomllib.loads(text)
    for section in draft["attributes"].values():
        assert not {"range", "values", "taxonomy"} & set(section)
    guessed = [line for line in text.splitlines() if line.startswith(("[attributes.", "class", "missing", "k "))]
    assert all("# guess" in line for line in guessed)
    assert "# range = [10, 80]" in text


def test_columns_with_any_name_and_all_different_values(project: Project, run: Run) -> None:
    rows = [f"{i:05d}x,{i},word {i % 3},{'ab'[i % 2]}" for i in range(60)]
    project.table.write_text("\n".join(['code,"row, number","größe ""x""",target', *rows]) + "\n", encoding="utf-8")
    spec = project.folder / "draft.toml"
    assert run("init", project.table, "--to", spec).code == 0
    draft = tomllib.loads(spec.read_text(encoding="utf-8"))
    assert draft["attributes"]["code"] == {"role": "identifier"}
    assert draft["attributes"]["row, number"] == {"role": "identifier"}
    assert draft["attributes"]['größe "x"'] == {"kind": "category"}
    assert draft["table"]["class"] == "target"
    assert run("check", spec).code == 0


def test_a_mark_that_is_a_label_of_the_class_is_not_a_missing_value(run: Run) -> None:
    crx = Path(unveil.__file__).parent / "data" / "crx.parquet"
    draft = tomllib.loads(run("init", crx).out)
    assert draft["table"]["class"] == "class"
    assert draft["table"]["missing"]["values"] == ["?"]


@pytest.mark.parametrize(("share", "marks"), [(3, ["-"]), (30, [""])])
def test_a_doubtful_mark_is_one_where_it_is_rare(share: int, marks: list[str], project: Project, run: Run) -> None:
    rows = [f"{'-' if i < share else 'ab'[i % 2]},{'xy'[i % 2]}" for i in range(100)]
    project.table.write_text("\n".join(["kind,target", *rows]) + "\n", encoding="utf-8")
    draft = tomllib.loads(run("init", project.table).out)
    assert draft["table"]["missing"]["values"] == marks


def test_the_facts_of_a_guess(project: Project, run: Run) -> None:
    spec = project.folder / "draft.toml"
    facts = json.loads(run("init", project.table, "--to", spec, "--json").out)
    assert (facts["spec"], facts["class"], facts["missing"], facts["rows"]) == (str(spec), "ill", ["?"], 49)
    assert facts["columns"][0] == {
        "name": "name",
        "role": "identifier",
        "reason": "by its name",
        "risk": "",
        "known": "",
    }
    assert tomllib.loads(spec.read_text(encoding="utf-8"))["table"]["class"] == "ill"
    assert json.loads(run("init", project.table, "--json").out) == {**facts, "spec": None}


def test_a_spec_that_exists_is_not_overwritten(project: Project, run: Run) -> None:
    before = project.spec.read_text()
    outcome = run("init", project.table, "--to", project.spec)
    assert outcome.code == 2
    assert "exists already" in outcome.err
    assert project.spec.read_text() == before


def test_a_table_without_names_is_reported(project: Project, run: Run) -> None:
    """Values of a row are seldom all different, so most such tables stop here; the others are drafted in doubt."""
    draft = project.folder / "draft.toml"
    project.table.write_text("39,0,clerk,0,yes\n50,1,baker,0,no\n")
    outcome = run("init", project.table, "--to", draft)
    assert outcome.code == 2
    assert "people.csv: the column '0' appears twice; the first line looks like values" in outcome.err
    assert "put a line of names before it." in outcome.err
    assert not draft.exists()
    project.table.write_text("39,clerk,7.5,yes\n50,baker,8,no\n38,clerk,7,yes\n")
    outcome = run("init", project.table, "--to", draft)
    assert outcome.code == 0
    sentence = "the first line looks like values and not like names of columns ('39', '7.5')"
    assert sentence in outcome.out
    assert sentence in draft.read_text()


def test_names_are_not_doubted_without_reason(project: Project, run: Run) -> None:
    assert "looks like values" not in run("init", project.table).out
    project.table.write_text("a,b,a\n1,2,3\n")
    assert run("init", project.table).err == "unveil: people.csv: the column 'a' appears twice.\n"
    years = project.folder / "years.parquet"
    pyarrow.parquet.write_table(pa.table({"1990": [1, 2, 3], "1991": [2, 2, 1], "class": ["a", "b", "a"]}), years)
    assert "looks like values" not in run("init", years).out


def test_what_dropping_rows_would_cost_is_reported(project: Project, run: Run) -> None:
    lines = project.table.read_text().splitlines()
    spoiled = [lines[0], *(line.replace(",Cork,", ",NA,") for line in lines[1:])]
    project.table.write_text("\n".join(spoiled) + "\n")
    text = run("init", project.table).out
    assert 'missing = { values = ["?", "NA"], rows = "keep" }    # guess: 17 of 49 rows lack a value, for' in text
    assert "lack a value, for 'age', 'town'\n" in text
    assert text.count('# missing = "drop"') == 2
    assert "[attributes.age]    # guess: 48 different numbers; missing in 1 row; " in text
    assert "[attributes.town]    # guess: 2 different values; missing in 17 rows\n" in text
    spec = project.folder / "draft.toml"
    run("init", project.table, "--to", spec)
    assert "49 records can be released" in run("check", spec).out
    project.table.write_text("\n".join(lines) + "\n")
    few = run("init", project.table).out
    assert 'rows = "drop" }    # guess: 1 of 49 rows would be dropped, for' in few
    assert few.count('# missing = "keep"') == 1
    project.table.write_text("\n".join(lines[:-1]) + "\n")
    assert "# guess: no row lacks a value\n" in run("init", project.table).out


def test_whole_numbers_that_may_be_codes_are_reported(project: Project, run: Run) -> None:
    rows = [f"{i % 3},{i},{i % 40},{'ab'[i % 2]}" for i in range(50)]
    project.table.write_text("\n".join(["benefits,size,job code,target", *(rows * 2)]) + "\n")
    text = run("init", project.table).out
    assert "[attributes.benefits]    # guess: 3 different numbers; if they are codes, it is a category\n" in text
    assert '[attributes."job code"]    # guess: by its name, and 40 different values\nkind = "category"\n' in text
    assert "[attributes.size]    # guess: 50 different numbers\n" in text


def test_a_single_value_is_one_value(project: Project, run: Run) -> None:
    project.table.write_text("unit,ill\n" + "ward,yes\nward,no\n" * 30)
    assert (
        "[attributes.unit]    # guess: 1 different value; constant, so it says nothing\n"
        in run("init", project.table).out
    )


HOSPITAL = ["encounter_id,patient_nbr,age,income,wgtp,drug,drug group,version,note,readmitted"] + [
    f"{900 + row},{row * 7 % 130},{row * 5 % 89},{'N' if row % 40 == 0 else 1000 + row * 37 % 90},{row % 150 + 0.5},"
    f"{'abcdef'[row % 6]},{'xyz'[row % 6 // 2]},1,{'?' if row % 5 == 0 else 'ok'},{'no' if row % 3 else 'yes'}"
    for row in range(200)
]


def test_people_weights_marks_and_dependencies_are_found(project: Project, run: Run) -> None:
    project.table.write_text("\n".join(HOSPITAL) + "\n")
    spec = project.folder / "draft.toml"
    told = run("init", project.table, "--to", spec)
    draft = tomllib.loads(spec.read_text())
    assert draft["table"]["person"] == "patient_nbr"
    assert draft["attributes"]["income"] == {"kind": "number", "whole": True}
    assert "N" in draft["table"]["missing"]["values"]
    assert draft["attributes"]["wgtp"] == {"role": "survey-weight"}
    assert draft["require"][0]["quasi-identifier"] == ["age", "income"]
    for words in (
        "'patient_nbr' repeats (130 values in 200 rows), so people seem to have several rows; the draft counts persons",
        "'wgtp' seems to be the weight of a survey",
        " of 200 rows (20%) lack a value: the draft keeps them",
        "1 column can be derived from another one: 'drug group' by 'drug'.",
        "The draft releases 'drug', 'drug group', 'version', 'note' as they are",
    ):
        assert words in told.out
    text = spec.read_text()
    assert "different values; determined by 'drug'\n" in text
    assert "different numbers; missing in 5 rows; 'N' is taken for missing" in text
    assert run("check", spec).code == 0
    assert "repeats" in run("init", project.table).err


def test_a_text_that_is_a_value_elsewhere_is_not_missing(project: Project, run: Run) -> None:
    rows = [f"{'N' if row % 20 == 0 else row},{'NY'[row % 2]},{'ab'[row % 2]}" for row in range(100)]
    project.table.write_text("\n".join(["amount,agreed,target", *rows]) + "\n")
    draft = tomllib.loads(run("init", project.table).out)
    assert draft["attributes"]["agreed"] == {"kind": "category"}
    assert draft["table"]["missing"]["values"] == [""]


def test_hospital_encounters_from_a_draft_to_a_verified_release(tmp_path: Path, run: Run) -> None:
    """Several encounters per patient, 50 columns, `?` for missing, ICD-9 codes: nothing is lost."""
    pyarrow.csv.write_csv(encounters(600), tmp_path / "encounters.csv")
    spec, release = tmp_path / "encounters.toml", tmp_path / "release"
    assert run("init", tmp_path / "encounters.csv", "--to", spec).code == 0
    text = spec.read_text()
    draft = tomllib.loads(text)
    assert draft["table"]["person"] == "patient_nbr"
    assert draft["table"]["missing"] == {"values": ["?"], "rows": "keep"}
    assert draft["table"]["class"] == "readmitted"
    assert draft["attributes"]["diag_1"] == {"kind": "category"}
    assert draft["attributes"]["number_diagnoses"]["kind"] == "number"
    assert draft["require"][0]["quasi-identifier"] == ["race", "gender", "age"]
    drafted = next(line for line in text.splitlines() if "drafted by" in line and "diag_1" in line)
    assert run(*shlex.split(drafted.removeprefix("# drafted by: "))[1:]).code == 0
    spec.write_text(text.replace("draft = true", "").replace('# taxonomy = "diag_1.tree"', 'taxonomy = "diag_1.tree"'))
    assert run("publish", spec, "--to", release).code == 0
    assert unveil.verify(release, spec) == []
    manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["records"], manifest["persons"]) == (600, 420)


def test_a_class_that_is_missing_is_dropped_where_other_values_are_kept(project: Project, run: Run) -> None:
    rows = [f"{row % 7},{'?' if row % 3 else 'x'},{'?' if row == 5 else 'ab'[row % 2]}" for row in range(60)]
    project.table.write_text("\n".join(["size,note,target", *rows]) + "\n")
    spec = project.folder / "draft.toml"
    run("init", project.table, "--to", spec)
    assert tomllib.loads(spec.read_text())["attributes"]["target"] == {"missing": "drop"}
    assert "59 records can be released" in run("check", spec).out
