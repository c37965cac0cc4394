"""Blocks of values, the trees that refine them, and the masking at the end of a search."""

from unveil.masking.boxes import LEAF, REST, BoxTree, LeftOut, Split, rest_label
from unveil.masking.entries import (
    AnyMasking,
    AsIs,
    ColumnMasking,
    Discretization,
    Entry,
    Generalization,
    Interval,
    Kinds,
    Suppression,
    SurveyWeight,
)
from unveil.masking.freeze import as_is, freeze, vocabulary
from unveil.masking.masking import Masking, without_marks
from unveil.masking.trees import (
    Block,
    Discretize,
    Flat,
    Generalize,
    Offer,
    Refinement,
    Rest,
    Scale,
    Splitter,
    Suppress,
    Tree,
)
from unveil.masking.values import (
    ClassType,
    Derivations,
    as_type,
    class_type,
    days,
    decoded,
    dictionary_of,
    is_text,
    python_values,
    single_values,
    typed_labels,
)
from unveil.masking.views import View, Vocabulary
