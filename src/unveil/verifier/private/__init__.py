"""Differentially private releases: what they claim, and whether it adds up. No truth can be compared: it is noisy."""

from unveil.verifier.private.claims import DiffGenManifest

__all__ = ["DiffGenManifest"]
