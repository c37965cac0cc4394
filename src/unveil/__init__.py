"""Publish person-level tables that are safe to hand out and still train good classifiers."""

from unveil.errors import (
    ReleaseError,
    RequirementError,
    SpecError,
    TableError,
    TaxonomyError,
    UnveilError,
)
from unveil.release import Release, open_release
from unveil.schema import Spec, load_spec
from unveil.verify import Finding
from unveil.version import __version__
from unveil.workflow import apply, check, compare, evaluate, publish, report, verify

__all__ = [
    "Finding",
    "Release",
    "ReleaseError",
    "RequirementError",
    "Spec",
    "SpecError",
    "TableError",
    "TaxonomyError",
    "UnveilError",
    "__version__",
    "apply",
    "check",
    "compare",
    "evaluate",
    "load_spec",
    "open_release",
    "publish",
    "report",
    "verify",
]
