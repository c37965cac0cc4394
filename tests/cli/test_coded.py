"""Labels for codes: as if the table held the labels, from the spec to masked later rows."""

import json

import pyarrow.parquet as pq
import pytest

import unveil
from commands import Run, refused
from project import Project

JOBS = {"clerk": "10", "lawyer": "110", "baker": "2", "smith": "31"}
TOWNS = {"Aarhus": "1", "Bergen": "2", "Cork": "3"}
ILL = {"no": "0", "yes": "1"}


def labels(codes: dict[str, str]) -> str:
    return "{ " + ", ".join(f'"{code}" = "{label}"' for label, code in codes.items()) + " }"


@pytest.fixture
def coded(project: Project) -> Project:
    """The table of the project in codes: jobs with a taxonomy and a file, towns without, and the class."""
    lines = project.table.read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    for row in rows:
        row[2], row[3], row[5] = JOBS[row[2]], TOWNS[row[3]], ILL[row[5]]
    project.table.write_text("\n".join([lines[0], *(",".join(row) for row in rows)]) + "\n")
    for label, code in JOBS.items():
        project.edit(project.tree, f"    {label}", f"    {code}")
    (project.folder / "jobs.csv").write_text("code,label\n" + "".join(f"{code},{job}\n" for job, code in JOBS.items()))
    project.edit(project.spec, 'taxonomy = "job.tree"', 'taxonomy = "job.tree"\nlabels = "jobs.csv"')
    project.edit(project.spec, 'values = ["Aarhus", "Bergen", "Cork"]', f"labels = {labels(TOWNS)}")
    project.spec.write_text(project.spec.read_text() + f"\n[attributes.ill]\nlabels = {labels(ILL)}\n")
    return project


def test_a_release_is_that_of_a_table_with_labels(coded: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    plain = Project(tmp_path_factory.mktemp("plain"))
    release, named = unveil.publish(coded.spec), unveil.publish(plain.spec)
    assert release.table.equals(named.table)
    assert release.manifest.columns == named.manifest.columns
    assert release.trace == named.trace


@pytest.fixture
def disclosed(coded: Project) -> Project:
    """The paper's search discloses towns one by one in this table; the joint one needs none of them."""
    coded.spec.write_text(coded.spec.read_text() + '\n[publish]\nsearch = "paper"\n')
    return coded


def test_every_verb_shows_labels(disclosed: Project, run: Run) -> None:
    assert run("check", disclosed.spec).code == 0
    published = run("publish", disclosed.spec, "--to", disclosed.release)
    assert "Bergen" in published.out
    verified = run("verify", disclosed.release, "--raw", disclosed.spec)
    assert (verified.code, verified.err) == (0, "")
    later = disclosed.folder / "later.parquet"
    assert run("apply", disclosed.release, disclosed.table, "--to", later, "--unseen", "suppress").code == 0
    masked, release = pq.read_table(later), pq.read_table(disclosed.release / "data.parquet")
    for name in ("job", "town", "ill"):
        assert set(release[name].to_pylist()) <= set(masked[name].to_pylist())
    assert run("evaluate", disclosed.spec, "--seeds", 1).code == 0
    assert run("explain", disclosed.spec).code == 0
    page = disclosed.folder / "page.html"
    assert run("report", disclosed.release, "--owner", disclosed.spec, "--to", page).code == 0
    assert "Aarhus" in page.read_text()


def test_planted_faults(disclosed: Project, run: Run) -> None:
    run("publish", disclosed.spec, "--to", disclosed.release)
    manifest = disclosed.release / "manifest.json"
    original = manifest.read_text()

    def found(old: str, new: str) -> str:
        assert old in original
        manifest.write_text(original.replace(old, new))
        verified = run("verify", disclosed.release, "--raw", disclosed.spec)
        assert verified.code == 1
        return verified.out + verified.err

    assert "does not derive 'town' as the spec does" in found('"1": "Aarhus"', '"9": "Aarhus"')
    assert "two codes have the same name" in found('"1": "Aarhus"', '"1": "Cork"')
    assert "holds 'yes', which its derivation never gives" in found('"1": "yes"', '"1": "yess"')
    assert "invisible" in found('"1": "Aarhus"', '"1": "Aar\u200bhus"')
    manifest.write_text(original)
    disclosed.edit(disclosed.table, ",1,1000.5,", ",2,1000.5,")
    assert "truth" in run("verify", disclosed.release, "--raw", disclosed.spec).out


def test_codes_that_pandas_made_floats(coded: Project) -> None:
    import pandas as pd

    frame = pd.read_csv(coded.table, na_values="?")
    frame["town"] = frame["town"].astype(float)
    assert set(unveil.publish(frame, coded.spec).table["town"].to_pylist()) <= {"Aarhus", "Bergen", "Cork", "⊥"}


def test_the_manifest_has_the_labels(coded: Project, run: Run) -> None:
    run("publish", coded.spec, "--to", coded.release)
    derived = json.loads((coded.release / "manifest.json").read_text())["derived"]
    assert derived["ill"] == {"from": "ill", "names": {"0": "no", "1": "yes"}, "missing": ["?", ""]}


CASES = {
    "an unknown code": ('"3" = "Cork"', '"4" = "Cork"', ["people.csv: column 'town'", "'3' (17 rows) has no label"]),
    "two codes with one label": ('"2" = "Bergen"', '"2" = "Cork"', ["'Cork' of the code '3' is that of the code '2'"]),
    "a label that is a code": ('"2" = "Bergen"', '"2" = "3"', ["'3' is the label of the code '2', and a code itself"]),
    "a label of the taxonomy": ("10,clerk", "10,Office", ["'Office' is an inner label of its taxonomy job.tree"]),
    "a label that means missing": ('"2" = "Bergen"', '"2" = "?"', ["'?' of the code '2' means a missing value"]),
    "a code that means missing": ('"2" = "Bergen"', '"?" = "Bergen"', ["the code '?' means a missing value"]),
    "a hidden character": ('"2" = "Bergen"', '"2" = "Ber\u200bgen"', ["U+200B", "invisible"]),
    "a suppressed label": ('"2" = "Bergen"', '"2" = "⊥"', ["is reserved for suppressed values"]),
    "a line of three": ("10,clerk", "10,clerk,x", ["jobs.csv: line 2 has 3 values, not a code and a label"]),
    "a code twice": ("10,clerk", "10,clerk\n10,x", ["[attributes.job] labels has the code '10' twice"]),
    "no file": ('"jobs.csv"', '"job.csv"', ["job.csv: the file of labels cannot be read"]),
    "a number": ('labels = "jobs.csv"', "labels = 3", ["[attributes.job] labels is 3, but it must be the path"]),
    "nothing": (f"labels = {labels(TOWNS)}", "labels = {}", ["[attributes.town] labels has no code"]),
    "another kind": ("whole = true", 'whole = true\nlabels = "jobs.csv"', ["it is a category, not a number"]),
    "a class with missing labels": ("[attributes.ill]", '[attributes.ill]\nmissing = "keep"', ["cannot be kept"]),
    "values too": ("labels = {", 'values = ["1"]\nlabels = {', ["has labels, which are its values"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_labels(name: str, coded: Project, run: Run) -> None:
    old, new, words = CASES[name]
    file = coded.folder / "jobs.csv" if old.startswith("10,") else coded.spec
    file.write_text(file.read_text().replace(old, new, 1))
    refused(coded, run, words)


def test_missing_codes_are_kept_by_kind(coded: Project, run: Run) -> None:
    for code in ("?", "99"):
        coded.table.write_text(coded.table.read_text() + f"x,40,2,{code},1000,1\n" * 4)
    keep = 'missing = { keep = { unknown = ["?", ""], refused = ["99"] } }\nlabels = {'
    coded.edit(coded.spec, "labels = {", keep)
    coded.spec.write_text(coded.spec.read_text().replace(f"[attributes.ill]\n{keep}", "[attributes.ill]\nlabels = {"))
    assert run("publish", coded.spec, "--to", coded.release).code == 0
    assert run("verify", coded.release, "--raw", coded.spec).code == 0
    later = coded.folder / "later.parquet"
    assert run("apply", coded.release, coded.table, "--to", later, "--unseen", "suppress").code == 0
    for file in (later, coded.release / "data.parquet"):
        assert {"unknown", "refused"} & set(pq.read_table(file)["town"].to_pylist())
    assert run("evaluate", coded.spec, "--seeds", 1).code == 0
