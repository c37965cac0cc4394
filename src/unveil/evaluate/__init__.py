"""What a release is worth and what the raw table would give away."""

from unveil.evaluate.accuracy import accuracy
from unveil.evaluate.risk import GroupRisk, Inference, InferenceRisk, group_risk, inference_risk

__all__ = ["GroupRisk", "Inference", "InferenceRisk", "accuracy", "group_risk", "inference_risk"]
