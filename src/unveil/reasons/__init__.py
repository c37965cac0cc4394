"""Why a release is as coarse as it is, and what relaxing its requirements would buy."""

from unveil.reasons.explanation import Explanation, reason, summary
from unveil.reasons.groups import group_cuts
from unveil.reasons.prices import (
    Bought,
    Ended,
    Price,
    Relaxation,
    Run,
    Unrelaxed,
    drawn_run,
    ended,
    ranked_prices,
    relaxations,
)
from unveil.reasons.spending import Spending, spending_of
from unveil.reasons.stops import Break, Cut, Stop, cuts_of
