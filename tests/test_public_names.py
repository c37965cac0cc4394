"""What `import unveil` gives: these names and no others, each imported when it is used."""

import subprocess
import sys

import pytest

import unveil

NAMES = [
    "BudgetError",
    "Comparison",
    "EngineError",
    "Evaluation",
    "Explanation",
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
