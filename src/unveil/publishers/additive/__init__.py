"""The additive method: an additive model of the class, learned in private rounds, and a table of weights."""

from unveil.publishers.additive.publisher import publish_additive

__all__ = ["publish_additive"]
