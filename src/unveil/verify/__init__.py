"""Recounts the claims of a release from its files, with plain group-bys and no code of the engine."""

from unveil.verify.findings import Finding, Verdict
from unveil.verify.verification import judge_against_raw, judge_release, verify_against_raw, verify_release

__all__ = ["Finding", "Verdict", "judge_against_raw", "judge_release", "verify_against_raw", "verify_release"]
