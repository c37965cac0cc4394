"""What the owner declares: attributes, domains, taxonomies, requirements, and the spec file that holds them."""

from unveil.schema.attributes import Attribute, MaskingKind, interval_label, number_text, parse_number, value_text
from unveil.schema.grid import Grid, fraction, grid_of
from unveil.schema.hchy import Hierarchies, read_hchy
from unveil.schema.privacy import COUNT, PrivatePlan, decimal_text, most_specializations
from unveil.schema.requirements import (
    AlphaKAnonymity,
    Atom,
    Confidence,
    KAnonymity,
    LDiversity,
    Requirement,
    TCloseness,
    Template,
    without_redundant,
)
from unveil.schema.spec import Criterion, Missing, Spec, TableSpec, load_spec
from unveil.schema.taxonomy import SUPPRESSED, Node, Taxonomy
from unveil.schema.taxonomy_files import read_taxonomy

__all__ = [
    "COUNT",
    "SUPPRESSED",
    "AlphaKAnonymity",
    "Atom",
    "Attribute",
    "Confidence",
    "Criterion",
    "Grid",
    "Hierarchies",
    "KAnonymity",
    "LDiversity",
    "MaskingKind",
    "Missing",
    "Node",
    "PrivatePlan",
    "Requirement",
    "Spec",
    "TCloseness",
    "TableSpec",
    "Taxonomy",
    "Template",
    "decimal_text",
    "fraction",
    "grid_of",
    "interval_label",
    "load_spec",
    "most_specializations",
    "number_text",
    "parse_number",
    "read_hchy",
    "read_taxonomy",
    "value_text",
    "without_redundant",
]
