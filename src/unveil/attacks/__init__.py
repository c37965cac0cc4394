"""Attacks on a release: what somebody gains from it about people, next to a control. For the owner alone."""

from unveil.attacks.exposure import Exposure, Outcome, Rate
from unveil.attacks.scene import Scene, Truth
