"""Recipes: which trees, which gain, which guards, and what is released."""

from unveil.publishers.additive import publish_additive
from unveil.publishers.guards import (
    hardened,
    make_guards,
    redundant_atoms,
    resolved_requirements,
    sensitive_values,
    shared_groups,
)
from unveil.publishers.joint import start_joint
from unveil.publishers.private import planned_thinning, publish_diffgen, publish_safe
from unveil.publishers.refinement import describe, publish_refinement, start_search
from unveil.publishers.trials import drawn, trial_release, tried
