"""The command line."""

from unveil.cli.app import main, script
