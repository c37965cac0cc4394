"""Taxonomies proposed from the values of a column: by dates, prefixes, numbers, places or frequency."""

from unveil.drafts.proposal import WAYS, Draft, draft
