"""Recipes: which trees, which gain, which guards, and what is released."""

from unveil.publishers.guards import (
    hardened,
    make_guards,
    redundant_atoms,
    resolved_requirements,
    shared_groups,
)
from unveil.publishers.joint import start_joint
from unveil.publishers.refinement import describe, publish_refinement, start_search
from unveil.publishers.trials import drawn, trial_release, tried
