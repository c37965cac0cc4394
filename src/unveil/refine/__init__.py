"""The search: candidates, gains, levels, guards, and the loop."""

from unveil.refine.gains import InfoGainUtility, MaxUtility, Utility, best_split, info_gain
from unveil.refine.guard import Guard
from unveil.refine.joint import JointSearch, JointStep
from unveil.refine.search import Remaining, Search, Step, gain_alone, gain_per_loss
