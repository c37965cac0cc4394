"""The commands as an owner uses them, on a small table."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

import unveil
from commands import Run
from project import Project
from unveil.cli.publication import stop_on_interrupt


def test_publish_verify_apply(project: Project, run: Run) -> None:
    published = run("publish", project.spec, "--to", project.release, "--trace", project.folder / "trace.json")
    assert published.code == 0, published
    assert "48 records" in published.out
    assert "1 row with missing values left out" in published.out
    assert "'income'" in published.out  # in no requirement: the output says that it goes out as it is
    assert {path.name for path in project.release.iterdir()} == {"data.parquet", "manifest.json"}

    assert run("verify", project.release).code == 0
    assert run("verify", project.release, "--raw", project.spec).code == 0

    trace = json.loads((project.folder / "trace.json").read_text())
    assert trace
    # A group that is refined by itself is named.
    assert set(trace[0]) - {"group"} == {"attribute", "refined", "into", "gain", "loss", "score"}

    target = project.folder / "later.csv"
    applied = run("apply", project.release, project.table, "--to", target, "--unseen", "suppress")
    assert applied.code == 0, applied
    rows = pyarrow.csv.read_csv(target)
    assert rows.column_names == ["age", "job", "town", "income", "ill"]
    assert rows.num_rows == 49


def test_the_manifest_says_what_was_dropped(project: Project, run: Run) -> None:
    run("publish", project.spec, "--to", project.release)
    manifest = json.loads((project.release / "manifest.json").read_text())
    assert manifest["rows"] == {"read": 49, "dropped": 1, "released": 48}
    assert manifest["records"] == 48


def test_a_group_of_one_record(project: Project, run: Run) -> None:
    project.search_as_in_the_paper()
    project.edit(project.spec, "k                = 3", "k = 1")
    assert "the smallest has 1 record, the middle one" in run("publish", project.spec, "--to", project.release).out


def test_csv_next_to_parquet(project: Project, run: Run) -> None:
    assert run("publish", project.spec, "--to", project.release, "--format", "csv").code == 0
    assert (project.release / "data.csv").exists()
    assert run("verify", project.release, "--raw", project.spec).code == 0


def test_verify_says_what_is_broken_and_exits_with_1(project: Project, run: Run) -> None:
    run("publish", project.spec, "--to", project.release)
    data = project.release / "data.parquet"
    spoiled = bytearray(data.read_bytes())
    spoiled[len(spoiled) // 2] ^= 1
    data.write_bytes(bytes(spoiled))
    outcome = run("verify", project.release)
    assert outcome.code == 1
    assert "data.parquet" in outcome.out
    assert json.loads(run("verify", project.release, "--json").out)


def test_check(project: Project, run: Run) -> None:
    outcome = run("check", project.spec)
    assert outcome.code == 0
    assert "people.toml fits people.csv" in outcome.out
    assert "'income'" in outcome.out


def test_check_tells_of_redundant_requirements(project: Project, run: Run) -> None:
    with project.spec.open("a") as file:
        file.write('[[require]]\nkind = "k-anonymity"\nquasi-identifier = ["job", "age"]\nk = 2\n')
    assert "Implied by another requirement" in run("check", project.spec).out


def test_steps_stops_early(project: Project, run: Run) -> None:
    assert run("publish", project.spec, "--to", project.release, "--steps", 0).code == 0
    manifest = json.loads((project.release / "manifest.json").read_text())
    assert [block["label"] for block in manifest["masking"]["age"]["blocks"]] == ["[0, 100)"]
    assert manifest["masking"]["town"]["disclosed"] == []
    assert run("verify", project.release, "--raw", project.spec).code == 0


def test_apply_refuses_what_has_no_block(project: Project, run: Run) -> None:
    run("publish", project.spec, "--to", project.release)
    before = project.files()
    outcome = run("apply", project.release, project.table, "--to", project.folder / "later.parquet")
    assert outcome.code == 2
    assert outcome.err == (
        "unveil: people.csv: column 'age': '?' has no block in this release (1 row); --unseen suppress "
        '(in Python unseen="suppress") masks it as ⊥.\n'
    )
    assert project.files() == before


def test_figures_name_some_attributes_and_promises_all(project: Project, run: Run) -> None:
    names = [f"a{number}" for number in range(9)]
    rows = [[str(row % 2), *[str(row % 3)] * 9] for row in range(30)]
    project.table.write_text("\n".join(",".join(line) for line in [["class", *names], *rows]) + "\n")
    run("init", project.table, "--to", project.folder / "wide.toml")
    shown = run("check", project.folder / "wide.toml").out
    assert "groups on {a0, a1, a2, a3, a4, a5, a6, 2 more} are smaller than 5" in shown
    assert "Can hold: Every combination of released values of {a0, a1, a2, a3, a4, a5, a6, a7, a8} is" in shown


def test_version(run: Run) -> None:
    assert run("--version").out == f"unveil {unveil.__version__}\n"


@pytest.mark.slow
def test_the_demo_shows_a_verified_release(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("demo")
    assert outcome.code == 0, outcome
    assert outcome.out.count("every claim holds") == 3
    for name in ("k-anonymity", "templates", "differential-privacy"):
        assert unveil.verify(f"demo-release/{name}") == []
        assert name.replace("l-p", "l p") in outcome.out
        assert f"demo-release/{name}.html" in outcome.out
        assert Path(f"demo-release/{name}.html").read_text().endswith("</html>\n")


def test_the_first_interrupt_is_noted_and_the_second_interrupts() -> None:
    with stop_on_interrupt(keep=True) as stop:
        assert not stop()
        os.kill(os.getpid(), signal.SIGINT)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupted_search_publishes_what_it_reached(project: Project) -> None:
    project.search_as_in_the_paper()
    asked = iter([False, False, True])
    stopped = unveil.publish(project.spec, stop=lambda: next(asked))
    assert stopped.trace == unveil.publish(project.spec, steps=3).trace
    assert len(stopped.trace) == 3


def test_the_installed_command_ends_with_its_exit_code_and_all_its_output(project: Project) -> None:
    def call(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "unveil", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    fine = call("publish", project.spec, "--to", project.release)
    assert (fine.returncode, fine.stderr) == (0, "")
    assert fine.stdout.endswith(f"Written to {project.release}.\n")
    again = call("publish", project.spec, "--to", project.release)
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists already" in again.stderr
