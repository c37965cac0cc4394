"""What a release is worth and what the raw table would give away."""

from unveil.evaluate.accuracy import accuracy
from unveil.evaluate.classifiers import CLASSIFIERS, Classifier, error_rate
from unveil.evaluate.evaluation import Comparison, Evaluation, Line
from unveil.evaluate.examples import Examples
from unveil.evaluate.information import InformationLoss, information_loss
from unveil.evaluate.protocol import Folds, Given, Holdout
from unveil.evaluate.reidentification import (
    GroupSummary,
    ReidentificationRisk,
    group_sizes,
    group_summaries,
    quasi_identifiers,
    reidentification_risk,
    whole_row_risk,
)
from unveil.evaluate.risk import GroupRisk, Inference, InferenceRisk, group_risk, inference_risk

__all__ = [
    "CLASSIFIERS",
    "Classifier",
    "Comparison",
    "Evaluation",
    "Examples",
    "Folds",
    "Given",
    "GroupRisk",
    "GroupSummary",
    "Holdout",
    "Inference",
    "InferenceRisk",
    "InformationLoss",
    "Line",
    "ReidentificationRisk",
    "accuracy",
    "error_rate",
    "group_risk",
    "group_sizes",
    "group_summaries",
    "inference_risk",
    "information_loss",
    "quasi_identifiers",
    "reidentification_risk",
    "whole_row_risk",
]
