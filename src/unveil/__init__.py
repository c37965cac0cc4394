"""Publish person-level tables that are safe to hand out and still train good classifiers."""

from unveil.version import __version__
from unveil.workflow.publish import publish

__all__ = ["__version__", "publish"]
