"""Blocks of values, the trees that refine them, and the masking at the end of a search."""

from unveil.masking.blocks import Block, Offer, Refinement, Rest
from unveil.masking.boxes import LEAF, REST, BoxTree, LeftOut, Split, rest_label
from unveil.masking.derived import Derivations
from unveil.masking.entries import (
    AnyMasking,
    AsIs,
    ColumnMasking,
    Discretization,
    Entry,
    Generalization,
    Interval,
    Suppression,
)
from unveil.masking.freeze import as_is, domain_of, freeze, vocabulary
from unveil.masking.labels import ClassType, class_type, typed_labels
from unveil.masking.masking import Masking, without_marks
from unveil.masking.scales import Scale
from unveil.masking.trees import Discretize, Flat, Generalize, Splitter, Suppress, Tree
from unveil.masking.values import days, decoded, dictionary_of, is_text, python_values, single_values
from unveil.masking.views import View
