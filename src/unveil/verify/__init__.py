"""Recounts the claims of a release from its files, with plain group-bys and no code of the engine."""

from unveil.verify.findings import Finding
from unveil.verify.verification import verify_against_raw, verify_release

__all__ = ["Finding", "verify_against_raw", "verify_release"]
