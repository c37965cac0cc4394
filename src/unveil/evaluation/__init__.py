"""What a release is worth and what the raw table would give away."""

from unveil.evaluation.classifiers import CLASSIFIERS, accuracy, error_rate
from unveil.evaluation.evaluation import Comparison, Evaluation, Line
from unveil.evaluation.examples import Examples
from unveil.evaluation.information import InformationLoss, information_loss
from unveil.evaluation.protocol import Folds, Given, Holdout
from unveil.evaluation.reidentification import (
    GroupSummary,
    ReidentificationRisk,
    Whose,
    group_sizes,
    group_summaries,
    quasi_identifiers,
    whole_row_risk,
)
from unveil.evaluation.risk import GroupRisk, InferenceRisk, group_risk, inference_risk, table_warnings
