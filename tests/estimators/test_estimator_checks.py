"""scikit-learn's own battery of checks. What is expected to fail is listed here, each with its reason."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from unveil.sklearn import Additive, DiffGen, ProgressiveDisclosure, SafeRows, TopDownRefinement

DECLARED = {"range": [-1000, 1000], "step": 0.01, "outside": "clamp"}
LABELS = range(-1, 10)
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
OBSERVED = "it transforms rows of weight 0, whose values lie outside the observed domain and are refused"
DRAWN = "every fit draws anew from the operating system"

ESTIMATORS = [
    (TopDownRefinement(k=2), {WEIGHTS: OBSERVED}),
    (TopDownRefinement(k=3, default={"range": [-1000, 1000]}), {}),
    (
        ProgressiveDisclosure([{"sensitive": "x0", "limit": 1.0}], attributes={"x0": {"kind": "category"}}),
        {WEIGHTS: OBSERVED},
    ),
    (DiffGen(specializations=3, default=DECLARED, classes=LABELS, unsafe_seed=0), {}),
    (Additive(default=DECLARED, classes=LABELS, unsafe_seed=0), {}),
    (SafeRows(specializations=3, default=DECLARED, classes=LABELS, unsafe_seed=0), {}),
    (
        DiffGen(specializations=3, default=DECLARED, classes=LABELS),
        {WEIGHTS: DRAWN, "check_fit_idempotent": DRAWN},
    ),
]


CHECKS = [
    check
    for estimator, reasons in ESTIMATORS
    for check in estimator_checks_generator(estimator, expected_failed_checks=reasons, mark="xfail")
]


def named(part: object) -> str:
    """An estimator by its class, a check by its function."""
    return getattr(part, "func", type(part)).__name__


# The checks provoke warnings of their own, and their rows are nobody's.
@pytest.mark.filterwarnings("default", "ignore::unveil.UnchargedWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=named)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
