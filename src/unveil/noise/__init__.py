"""The trusted kernel of differential privacy: randomness, exact draws, and the ledger."""

from unveil.noise.choice import exponential_choice, permute_and_flip
from unveil.noise.geometric import Geometric, TwoSidedGeometric
from unveil.noise.ledger import Entry, Ledger
from unveil.noise.source import SeededSource, Source, SystemSource, below
from unveil.noise.thinning import Thinning, thinning_for
from unveil.noise.uniform import Bounds, Uniform, accept_exp, exp_bounds
