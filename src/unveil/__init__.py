"""Publish person-level tables that are safe to share and still train good classifiers."""

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unveil.interruption import is_command, leave_on_crash, leave_on_interrupt
from unveil.version import __version__

# First, because a command takes a second to import, and the user may press Ctrl-C or memory may run out meanwhile.
if is_command():
    leave_on_interrupt()
    leave_on_crash()
    # Modules are not garbage, and looking through them takes a fifth of a short command. `watched` turns it on again.
    gc.disable()

if TYPE_CHECKING:
    from unveil.attacks import Exposure
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
    from unveil.evaluation.evaluation import Comparison, Evaluation
    from unveil.evaluation.protocol import Folds, Holdout
    from unveil.masking import Masking
    from unveil.reasons import Explanation
    from unveil.release import Release, open_release
    from unveil.schema import Spec, Taxonomy, load_spec
    from unveil.verifier import Finding
    from unveil.workflow.apply import apply
    from unveil.workflow.attack import attack
    from unveil.workflow.check import Fit, check
    from unveil.workflow.evaluate import compare, evaluate
    from unveil.workflow.explain import explain
    from unveil.workflow.publish import publish
    from unveil.workflow.report import report
    from unveil.workflow.succession import apply_release
    from unveil.workflow.taxonomy import draft_taxonomy
    from unveil.workflow.verify import Findings, verify

__all__ = [
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

_HOMES = {
    "unveil.attacks": ["Exposure"],
    "unveil.errors": [name for name in __all__ if name.endswith(("Error", "Warning"))],
    "unveil.evaluation.evaluation": ["Comparison", "Evaluation"],
    "unveil.evaluation.protocol": ["Folds", "Holdout"],
    "unveil.masking": ["Masking"],
    "unveil.reasons": ["Explanation"],
    "unveil.release": ["Release", "open_release"],
    "unveil.schema": ["Spec", "Taxonomy", "load_spec"],
    "unveil.verifier": ["Finding"],
    "unveil.workflow.apply": ["apply"],
    "unveil.workflow.attack": ["attack"],
    "unveil.workflow.check": ["Fit", "check"],
    "unveil.workflow.evaluate": ["compare", "evaluate"],
    "unveil.workflow.explain": ["explain"],
    "unveil.workflow.publish": ["publish"],
    "unveil.workflow.report": ["report"],
    "unveil.workflow.succession": ["apply_release"],
    "unveil.workflow.taxonomy": ["draft_taxonomy"],
    "unveil.workflow.verify": ["Findings", "verify"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imports a name on first use, so that verifying a release loads neither a compiler nor classifiers."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'unveil' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
