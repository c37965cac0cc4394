"""scikit-learn transformers that mask rows the way a release is masked."""

from unveil.sklearn.transformers import Additive, DiffGen, ProgressiveDisclosure, SafeRows, TopDownRefinement

__all__ = ["Additive", "DiffGen", "ProgressiveDisclosure", "SafeRows", "TopDownRefinement"]
