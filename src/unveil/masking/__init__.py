"""Blocks of values, the trees that refine them, and the masking that a search ends with."""

from unveil.masking.blocks import Block, Offer, Refinement
from unveil.masking.freeze import as_is, domain_of, freeze
from unveil.masking.masking import (
    AsIs,
    ColumnMasking,
    Discretization,
    Entry,
    Generalization,
    Masking,
    Suppression,
    Unseen,
    dictionary_of,
)
from unveil.masking.trees import Discretize, Flat, Generalize, Splitter, Suppress, Tree

__all__ = [
    "AsIs",
    "Block",
    "ColumnMasking",
    "Discretization",
    "Discretize",
    "Entry",
    "Flat",
    "Generalization",
    "Generalize",
    "Masking",
    "Offer",
    "Refinement",
    "Splitter",
    "Suppress",
    "Suppression",
    "Tree",
    "Unseen",
    "as_is",
    "dictionary_of",
    "domain_of",
    "freeze",
]
