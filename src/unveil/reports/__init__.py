"""The report: one self-contained page about a release, safe to hand out, or private to its owner."""

from unveil.reports.page import Audit, Owner, Paper, audit_page, handout_page, owner_page
