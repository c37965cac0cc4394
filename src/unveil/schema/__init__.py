"""What the owner declares: attributes, domains, taxonomies, requirements, and the spec file that holds them."""

from unveil.schema.attributes import (
    Attribute,
    Kind,
    MaskingKind,
    Unit,
    number_text,
    parse_number,
    plain_number,
    value_text,
)
from unveil.schema.bounds import round_split, widened, widened_days
from unveil.schema.grid import Grid, fraction, grid_of, off_step
from unveil.schema.hchy import Hierarchies, read_hchy
from unveil.schema.privacy import COUNT, PrivatePlan, decimal_text, most_specializations
from unveil.schema.queries import DATABASES, Query, source_of
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
from unveil.schema.taxonomy import SUPPRESSED, Branch, Node, Taxonomy
from unveil.schema.taxonomy_files import read_taxonomy
from unveil.schema.taxonomy_text import drawn, printable, taxonomy_text
from unveil.schema.units import LAST_DAY, bound_text, day_of, interval_label, number_of

__all__ = [
    "COUNT",
    "DATABASES",
    "LAST_DAY",
    "SUPPRESSED",
    "AlphaKAnonymity",
    "Atom",
    "Attribute",
    "Branch",
    "Confidence",
    "Criterion",
    "Grid",
    "Hierarchies",
    "KAnonymity",
    "Kind",
    "LDiversity",
    "MaskingKind",
    "Missing",
    "Node",
    "PrivatePlan",
    "Query",
    "Requirement",
    "Spec",
    "TCloseness",
    "TableSpec",
    "Taxonomy",
    "Template",
    "Unit",
    "bound_text",
    "day_of",
    "decimal_text",
    "drawn",
    "fraction",
    "grid_of",
    "interval_label",
    "load_spec",
    "most_specializations",
    "number_of",
    "number_text",
    "off_step",
    "parse_number",
    "plain_number",
    "printable",
    "read_hchy",
    "read_taxonomy",
    "round_split",
    "source_of",
    "taxonomy_text",
    "value_text",
    "widened",
    "widened_days",
    "without_redundant",
]
