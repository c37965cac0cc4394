"""`python -m unveil`."""

from unveil.cli import main

main()
