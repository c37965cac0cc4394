"""One function per verb."""

from unveil.workflow.apply import apply, apply_to_file
from unveil.workflow.check import Fit, check
from unveil.workflow.evaluate import compare, evaluate
from unveil.workflow.explain import explain
from unveil.workflow.publish import publish
from unveil.workflow.report import report, report_to_file
from unveil.workflow.taxonomy import draft_taxonomy
from unveil.workflow.verify import verify

__all__ = [
    "Fit",
    "apply",
    "apply_to_file",
    "check",
    "compare",
    "draft_taxonomy",
    "evaluate",
    "explain",
    "publish",
    "report",
    "report_to_file",
    "verify",
]
