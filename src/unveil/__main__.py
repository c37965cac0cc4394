"""`python -m unveil`."""

from unveil.cli import script

script()
