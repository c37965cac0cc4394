"""What `import unveil` gives: these names and no others, each imported when it is used."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil
from project import Project

NAMES = [
    "BudgetError",
    "Comparison",
    "EngineError",
    "Evaluation",
    "Explanation",
    "Exposure",
    "Finding",
    "Findings",
    "Fit",
    "Folds",
    "Holdout",
    "Masking",
    "Release",
    "ReleaseError",
    "RequirementError",
    "Spec",
    "SpecError",
    "TableError",
    "Taxonomy",
    "TaxonomyError",
    "UnchargedWarning",
    "UnveilError",
    "__version__",
    "apply",
    "apply_release",
    "attack",
    "check",
    "compare",
    "draft_taxonomy",
    "evaluate",
    "explain",
    "load_spec",
    "open_release",
    "publish",
    "report",
    "verify",
]
HEAVY = ("numba", "sklearn", "scipy", "pydantic", "numpy", "pyarrow")


def loaded(code: str) -> set[str]:
    """Which of the heavy packages a program loads."""
    code += f"; import sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


def test_the_public_names_are_frozen() -> None:
    assert unveil.__all__ == NAMES
    assert set(NAMES) <= set(dir(unveil))


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    assert getattr(unveil, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'unveil' has no attribute 'publsih'"):
        _ = unveil.publsih


@pytest.mark.parametrize("name", ["verify", "evaluate", "report"])
def test_no_package_hides_behind_a_function(name: str) -> None:
    """`unveil.verify` is the function, whatever was imported before."""
    imports = "import unveil.verifier.raw, unveil.evaluation.risk, unveil.reports.page, unveil"
    code = f"{imports}; print(callable(unveil.{name}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    assert loaded("import unveil, unveil.cli") == set()


def test_a_release_is_verified_applied_and_reported_without_a_compiler_and_classifiers() -> None:
    verbs = "import unveil.workflow.verify, unveil.workflow.apply, unveil.reports"
    assert not loaded(verbs) & {"numba", "sklearn", "scipy"}


def test_the_compiler_is_loaded_by_the_first_loop_that_runs() -> None:
    """So that a thread loads it while another reads and sorts rows."""
    recipes = "import unveil.counting.memory, unveil.publishers, unveil.workflow.explain"
    assert "numba" not in loaded(recipes)
    loop = "import numpy; from unveil.counting.kernels import linked_groups"
    assert "numba" in loaded(f"{loop}; linked_groups(-1, numpy.zeros((1, 1), int), 0)")


def test_a_local_release_needs_no_compiler(tmp_path: Path) -> None:
    release = tmp_path / "release"
    unveil.publish(pa.table(PEOPLE), SPEC).write(release)
    assert unveil.open_release(release).manifest.boxes
    rows = f"pyarrow.table({PEOPLE!r})"
    verbs = f"import pyarrow, unveil; unveil.apply({str(release)!r}, {rows}); unveil.report({str(release)!r})"
    assert "numba" not in loaded(verbs)


def test_a_command_builds_only_the_verb_that_runs(tmp_path: Path) -> None:
    unveil.publish(pa.table(PEOPLE), SPEC).write(tmp_path / "release")
    code = (
        f"import sys; sys.argv = ['unveil', 'verify', {str(tmp_path / 'release')!r}]; import contextlib\n"
        "from unveil.cli.app import main\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "names = ('cli.verbs', 'cli.publication', 'cli.evaluation', 'cli.bar', 'verifier.private', 'schema')\n"
        "print(*(name for name in names if f'unveil.{name}' in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "cli.verbs"


def test_no_plugin_of_another_package_takes_part_in_a_command(tmp_path: Path) -> None:
    unveil.publish(pa.table(PEOPLE), SPEC).write(tmp_path / "release")
    trace, metadata = tmp_path / "trace", tmp_path / "plugin-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: plugin\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[pydantic]\nplugin = plugin:plugin\n")
    (tmp_path / "plugin.py").write_text(f"open({str(trace)!r}, 'w').close()\nplugin = None\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "unveil", "verify", str(tmp_path / "release")]
    subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": path})
    assert not trace.exists()


PEOPLE = {"age": [20, 30, 40, 50] * 10, "ill": ["yes", "no", "no", "yes"] * 10}
SPEC = {
    "table": {"class": "ill"},
    "attributes": {"age": {"kind": "number", "whole": True}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 5}],
}


def test_a_release_in_memory_is_verified_and_reported_by_the_frame_it_came_from() -> None:
    table = pa.table(PEOPLE)
    release = unveil.publish(table, SPEC)
    assert unveil.verify(release) == []
    assert unveil.verify(release, raw=SPEC, table=table) == []
    assert "At least 5 records" in unveil.report(release)
    assert "Protect it like the raw table" in unveil.report(release, owner=SPEC, table=table)


def test_another_frame_is_not_the_one_a_release_came_from() -> None:
    release = unveil.publish(pa.table(PEOPLE), SPEC)
    other = pa.table({**PEOPLE, "ill": [*PEOPLE["ill"][::-1][1:], "no"]})
    assert unveil.verify(release, raw=SPEC, table=other) != []


def test_an_opened_release_is_verified_in_its_own_folder(tmp_path: Path) -> None:
    unveil.publish(pa.table(PEOPLE), SPEC).write(tmp_path / "release")
    opened = unveil.open_release(tmp_path / "release")
    (tmp_path / "release" / "note.txt").write_text("not part of it")
    assert unveil.verify(opened) == unveil.verify(tmp_path / "release") != []


def test_an_explanation_prints_itself() -> None:
    found = unveil.explain(pa.table(PEOPLE), SPEC, shadow=False)
    assert repr(found).startswith("spec: the search ends after ")
    assert "<strong>Why no attribute is finer</strong>" in found._repr_html_()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda rows: unveil.evaluate(rows, SPEC, seeds=1), "seeds is 1, but it must be a list of whole numbers"),
        (lambda rows: unveil.evaluate(rows, SPEC, classifiers="tree"), "classifiers is 'tree', but it must be a list"),
        (lambda rows: unveil.evaluate(rows, SPEC, protocol=3), "protocol is 3, but it must be a Holdout"),
        (lambda rows: unveil.evaluate(rows, SPEC, sample="all"), "sample is 'all', but it must be a whole number"),
        (lambda rows: unveil.explain(rows, SPEC, seeds=1), "seeds is 1, but it must be a list"),
        (lambda rows: unveil.publish(rows, SPEC, steps="3"), "steps is '3', but it must be a whole number"),
        (lambda rows: unveil.verify(3), "a release is a folder or a Release, not a int"),
        (lambda rows: unveil.report(None), "a release is a folder or a Release, not a NoneType"),
        (lambda rows: unveil.verify("x", table=rows), "verify compares a release with a raw table by the owner's spec"),
    ],
)
def test_a_wrong_argument_is_a_sentence(call: Callable[[pa.Table], object], sentence: str) -> None:
    with pytest.raises(unveil.UnveilError, match=sentence):
        call(pa.table(PEOPLE))


PUBLISHED = """
import contextlib, gc, sys
table, release = sys.argv[1:]
sys.argv = ["unveil", "publish", table, "--to", release]
from unveil.cli.app import ALONE, main
with contextlib.suppress(SystemExit):
    main(ALONE)
from unveil.counting import kernels, loops
used = [loop.compiled for loop in vars(kernels).values() if isinstance(loop, loops.Loop)]
print(*sorted({len(loop.signatures) for loop in used}))
print("pandas" in sys.modules, "scipy.linalg" in sys.modules, gc.isenabled())
"""


def test_a_command_loads_each_loop_once_and_neither_pandas_nor_scipy(project: Project) -> None:
    """What is loaded while rows are read is what counts them: no loop is compiled for types that are not used.

    And garbage is collected again once the modules are loaded.
    """
    with project.spec.open("a", encoding="utf-8") as spec:
        spec.write('\n[publish]\nsearch = "paper"\n')
    words = [sys.executable, "-c", PUBLISHED, str(project.spec), str(project.release)]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-2:] == ["1", "False False True"]


def test_whatever_needs_pandas_gets_it_in_a_command_too() -> None:
    code = "from unveil.absence import keep_pandas_out; keep_pandas_out(); import pandas; print(pandas.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "pandas\n"
