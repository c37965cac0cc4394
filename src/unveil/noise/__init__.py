"""The trusted kernel of differential privacy: randomness, exact draws, and the ledger."""

from unveil.noise.draws import Geometric, TwoSidedGeometric, exponential_choice, permute_and_flip
from unveil.noise.ledger import Entry, Ledger
from unveil.noise.source import Bounds, SeededSource, Source, SystemSource, Uniform, accept_exp, below, exp_bounds
from unveil.noise.thinning import Thinning, per_record, thinning_for
