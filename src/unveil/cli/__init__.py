"""The command line."""

from unveil.cli.app import main

__all__ = ["main"]
