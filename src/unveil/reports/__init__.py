"""The report: one self-contained page about a release, safe to hand out, or private to its owner."""

from unveil.reports.audit import Audit, Paper, audit_page
from unveil.reports.page import Owner, handout_page, owner_page
