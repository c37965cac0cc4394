"""Why a release is as coarse as it is, and what relaxing its requirements would buy."""

from unveil.reasons.breaks import Break
from unveil.reasons.explanation import Explanation, reason, summary
from unveil.reasons.prices import Price, Run, drawn_run, ranked_prices, run_of
from unveil.reasons.relaxations import Relaxation, Unrelaxed, relaxations
from unveil.reasons.spending import Spending, spending_of
from unveil.reasons.stops import Cut, Stop, cuts_of

__all__ = [
    "Break",
    "Cut",
    "Explanation",
    "Price",
    "Relaxation",
    "Run",
    "Spending",
    "Stop",
    "Unrelaxed",
    "cuts_of",
    "drawn_run",
    "ranked_prices",
    "reason",
    "relaxations",
    "run_of",
    "spending_of",
    "summary",
]
