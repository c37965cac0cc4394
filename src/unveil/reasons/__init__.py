"""Why a release is as coarse as it is, and what relaxing its requirements would buy."""

from unveil.reasons.explanation import Explanation, reason, summary
from unveil.reasons.prices import Price, Relaxation, Run, Unrelaxed, drawn_run, ranked_prices, relaxations, run_of
from unveil.reasons.spending import Spending, spending_of
from unveil.reasons.stops import Break, Cut, Stop, cuts_of

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
