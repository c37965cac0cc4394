"""Fixtures of the tests of reports."""

from report.releases import bundled, owned
from report.secrets import secret_spec

__all__ = ["bundled", "owned", "secret_spec"]
