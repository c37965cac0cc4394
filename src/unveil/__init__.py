"""Publish person-level tables that are safe to hand out and still train good classifiers."""

from unveil.interruption import is_command, leave_on_crash, leave_on_interrupt

# First, because the imports below take a second, in which somebody may already press Ctrl-C, or memory run out.
if is_command():
    leave_on_interrupt()
    leave_on_crash()

from unveil.errors import (
    BudgetError,
    EngineError,
    ReleaseError,
    RequirementError,
    SpecError,
    TableError,
    TaxonomyError,
    UnchargedWarning,
    UnveilError,
)
from unveil.reasons import Explanation
from unveil.release import Release, open_release
from unveil.schema import Spec, Taxonomy, load_spec
from unveil.verify import Finding
from unveil.version import __version__
from unveil.workflow import apply, check, compare, draft_taxonomy, evaluate, explain, publish, report, verify

__all__ = [
    "BudgetError",
    "EngineError",
    "Explanation",
    "Finding",
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
