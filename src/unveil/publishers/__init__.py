"""Recipes: which trees, which gain, which guards, and what is released."""

from unveil.publishers.refinement import describe, publish_refinement, start_search

__all__ = ["describe", "publish_refinement", "start_search"]
