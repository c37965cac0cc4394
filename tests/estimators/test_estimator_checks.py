"""scikit-learn's own battery of checks. What is expected to fail is listed here, each with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from unveil.sklearn import DiffGen, ProgressiveDisclosure, TopDownRefinement

DECLARED = {"range": [-1000, 1000], "step": 0.01, "outside": "clamp"}
LABELS = range(-1, 10)
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
OBSERVED = "it transforms rows of weight 0, whose values lie outside the observed domain and are refused"
DRAWN = "every fit draws anew from the operating system"

ESTIMATORS = {
    "observed": (TopDownRefinement(k=2), {WEIGHTS: OBSERVED}),
    "declared": (TopDownRefinement(k=3, default={"range": [-1000, 1000]}), {}),
    "templates": (
        ProgressiveDisclosure([{"sensitive": "x0", "limit": 1.0}], attributes={"x0": {"kind": "category"}}),
        {WEIGHTS: OBSERVED},
    ),
    "seeded": (DiffGen(specializations=3, default=DECLARED, classes=LABELS, unsafe_seed=0), {}),
    "drawn": (
        DiffGen(specializations=3, default=DECLARED, classes=LABELS),
        {WEIGHTS: DRAWN, "check_fit_idempotent": DRAWN},
    ),
}


def expected_failures(estimator: object) -> dict[str, str]:
    return next(reasons for known, reasons in ESTIMATORS.values() if repr(known) == repr(estimator))


@pytest.mark.filterwarnings("default")  # the checks provoke warnings of their own
@parametrize_with_checks([estimator for estimator, _ in ESTIMATORS.values()], expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
