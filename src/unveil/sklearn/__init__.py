"""scikit-learn transformers that mask rows the way a release is masked."""

from unveil.sklearn.transformers import DiffGen, ProgressiveDisclosure, TopDownRefinement

__all__ = ["DiffGen", "ProgressiveDisclosure", "TopDownRefinement"]
