"""`publish --engine`, `--index` and `--spark`: the same release, and one sentence where they make no sense."""

import pytest

import engines
import unveil
from commands import Run, refused
from project import Project


@pytest.mark.parametrize("engine", ["auto", "memory", "stream"])
def test_every_engine_gives_the_same_release(engine: str, project: Project, run: Run) -> None:
    unveil.publish(project.spec).write(project.folder / "expected")
    assert run("publish", project.spec, "--to", project.release, "--engine", engine).code == 0
    for name in ("data.parquet", "manifest.json"):
        assert (project.release / name).read_bytes() == (project.folder / "expected" / name).read_bytes()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--engine", "sparc"), "there is no engine 'sparc'; it is one of auto, memory, stream, spark; did you mean"),
        (("--engine", "duck"), "there is no engine 'duck'; it is one of auto, memory, stream, spark.\n"),
        (("--index", "driver"), "the options for Spark and its index are for the engine 'spark'"),
        (("--spark", f"spark.master={engines.SPARK['spark.master']}"), "are for the engine 'spark', not for 'memory'"),
        (("--engine", "spark", "--index", "moon"), "the index of Spark must be one of auto, driver, cluster, not"),
        (
            ("--engine", "spark", "--spark", "spark.master"),
            "--spark 'spark.master': a Spark setting has the form spark.KEY=VALUE",
        ),
        (("--engine", "spark", "--spark", "master=local"), "has the form spark.KEY=VALUE"),
        (("--engine", "spark", "--format", "csv"), "the Spark engine writes parquet, a folder of part files; csv is"),
    ],
)
def test_one_sentence_and_nothing_done(
    words: tuple[str, ...], sentence: str, project: Project, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr("unveil.tables.survey.Survey.add", refuse)
    monkeypatch.setattr("unveil.counting.spark.session._started", refuse)
    refused(project, run, [sentence], *words)


def test_the_environment_names_an_engine_too(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNVEIL_ENGINE", "spark")
    outcome = run("publish", project.spec, "--to", project.release, "--format", "csv")
    assert outcome.code == 2
    assert "csv is for the other engines" in outcome.err


@pytest.mark.xdist_group("spark")
def test_spark(project: Project, run: Run) -> None:
    settings = [word for pair in engines.SPARK.items() for word in ("--spark", "=".join(pair))]
    words = ("--engine", "spark", "--index", "driver", *settings)
    outcome = run("publish", project.spec, "--to", project.release, *words)
    assert outcome.code == 0, outcome
    assert list((project.release / "data.parquet").glob("part-*.parquet"))
