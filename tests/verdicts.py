"""The findings of the verifier alone, for tests that ask what is wrong with a release."""

from pathlib import Path

from unveil.schema import Spec
from unveil.verifier import Finding, judge_release
from unveil.verifier.raw.comparison import judge_against_raw


def verify_release(folder: Path) -> list[Finding]:
    return judge_release(folder).findings


def verify_against_raw(folder: Path, spec: Spec) -> list[Finding]:
    return judge_against_raw(folder, spec).findings
