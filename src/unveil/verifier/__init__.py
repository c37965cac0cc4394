"""Recounts the claims of a release from its files, with plain group-bys and no code of the engine."""

from unveil.verifier.findings import Finding, Verdict
from unveil.verifier.verification import judge_release

__all__ = ["Finding", "Verdict", "judge_release"]
