"""What every private release claims in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unveil.masking import Block, class_type, freeze
from unveil.noise import Ledger, Source
from unveil.release import About, LedgerEntry
from unveil.schema import Plan, Spec
from unveil.tables import Outline

SEEDED = "None: it was made with a seed, for tests and experiments."


def private_claims(
    table: Outline,
    spec: Spec,
    plan: Plan,
    ledger: Ledger,
    source: Source,
    cuts: Sequence[Sequence[Block]],
    version: str,
    also: str = "",
) -> dict[str, Any]:
    """The entries of a manifest that all private methods share.

    `cuts` are the blocks of each attribute; `also` is what the guarantee adds to the sentence of the plan.
    """
    return {
        "unveil_version": version,
        "about": About(title=spec.table.title, owner=spec.table.owner, date=spec.table.date),
        "guarantee": " ".join(filter(None, [plan.sentence(weighted=table.weighted), also]))
        if source.private
        else SEEDED,
        "private": source.private,
        "class_": spec.table.class_,
        "class_type": class_type(table.classes.type),
        "classes": tuple(str(label) for label in table.classes.values),
        "requirements": (plan.describe(),),
        "columns": {
            attribute.name: freeze(attribute, cut) for attribute, cut in zip(table.attributes, cuts, strict=True)
        },
        "derived": spec.derived,
        "ledger": tuple(
            LedgerEntry(purpose=entry.purpose, epsilon=str(entry.epsilon), composition=entry.composition)
            for entry in ledger.entries
        ),
    }
