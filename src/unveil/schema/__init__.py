"""What the owner declares: attributes, domains, taxonomies, requirements, and the spec file that holds them."""

from unveil.schema.attributes import (
    AFTER_ALL,
    LAST_DAY,
    OR,
    Attribute,
    Fineness,
    Kind,
    MaskingKind,
    Missing,
    Range,
    Unit,
    bound_text,
    day_of,
    interval_label,
    missing_number,
    number_of,
    number_text,
    parse_number,
    plain_number,
    value_text,
)
from unveil.schema.derivations import Derivation, UnfitError, code_text
from unveil.schema.files import DATABASES, Query, source_of, toml_of
from unveil.schema.grid import (
    Grid,
    fraction,
    grid_of,
    off_step,
    round_split,
    step_bounds,
    step_bounds_count,
    step_split,
    widened,
    widened_days,
)
from unveil.schema.privacy import (
    COUNT,
    WEIGHT,
    AdditivePlan,
    Plan,
    PrivatePlan,
    SafePlan,
    StatisticsPlan,
    decimal_text,
    most_specializations,
)
from unveil.schema.requirements import (
    KINDS,
    AlphaKAnonymity,
    Atom,
    Bound,
    Confidence,
    Domain,
    KAnonymity,
    Level,
    Promise,
    Requirement,
    Template,
    Worst,
    hold_alone,
    stated,
    without_redundant,
)
from unveil.schema.sections import EPSILON_ADDS_UP, Criterion, Goal, LeftOut, Recoding, SearchName
from unveil.schema.sentences import toml_key
from unveil.schema.spec import Bounds, Spec, SpecLike, TableSpec, load_spec, spec_of
from unveil.schema.steering import share_above, share_text
from unveil.schema.taxonomy import SUPPRESSED, Branch, Node, Taxonomy
from unveil.schema.taxonomy_files import (
    drawn,
    printable,
    read_taxonomy,
    taxonomy_of,
    taxonomy_text,
    tree_file,
    with_comments,
)
from unveil.schema.weights import MILLIONTHS, Shown, Weighting, group_mean, rounded_weight
