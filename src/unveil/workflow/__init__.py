"""One function per verb."""

from unveil.workflow.apply import apply, apply_to_file
from unveil.workflow.check import Fit, check
from unveil.workflow.evaluate import compare, evaluate
from unveil.workflow.publish import publish
from unveil.workflow.report import report, report_to_file
from unveil.workflow.verify import verify

__all__ = [
    "Fit",
    "apply",
    "apply_to_file",
    "check",
    "compare",
    "evaluate",
    "publish",
    "report",
    "report_to_file",
    "verify",
]
