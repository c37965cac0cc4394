"""Whether a differentially private release keeps to the owner's spec.

Its counts are noisy, so no comparison with the raw table can show them true or false, and nothing of that table is
read: all that a spec decides about such a release is public, and is compared with what the manifest says.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from unveil.errors import listed
from unveil.schema import Attribute, Node, PrivatePlan, Spec, Taxonomy
from unveil.verifier.findings import Finding
from unveil.verifier.parts import MANIFEST, Discretization, Generalization, Masked, Suppression
from unveil.verifier.private.claims import DiffGenManifest, exact_text
from unveil.verifier.private.promise import promised
from unveil.verifier.requirements import differing


def check_plan(manifest: DiffGenManifest, spec: Spec) -> Iterator[Finding]:
    """The release spends what the plan says, as it says, on the domains that the spec declares."""
    if spec.plan is not None:
        yield from _plan_findings(manifest, spec.plan)
    weighted = spec.table.weight is not None
    if manifest.private and manifest.guarantee == promised(manifest, weighted=not weighted):
        yield from differing(manifest.guarantee, promised(manifest, weighted=weighted))
    declared = spec.table.class_values or ()
    if set(manifest.classes) != set(declared):
        labels, known = listed(manifest.classes), listed(declared)
        yield Finding("spec-classes", f"{MANIFEST} has the class labels {labels}, but the spec declares {known}.")
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        if attribute is not None and entry.kind == attribute.masking:
            for problem in _problems(entry, attribute):
                yield Finding("spec-domain", f"{MANIFEST}: {name!r} {problem}.")
    yield from _step_findings(manifest, spec)


def _plan_findings(manifest: DiffGenManifest, plan: PrivatePlan) -> Iterator[Finding]:
    if manifest.epsilon != plan.epsilon:
        claimed, asked = exact_text(manifest.epsilon), exact_text(plan.epsilon)
        yield Finding("spec-requirement", f"{MANIFEST} has ε = {claimed}, but the spec has {asked}.")
    claims: dict[str, tuple[object, object]] = {
        "specializations": (manifest.specializations, plan.specializations),
        "utility": (manifest.utility, plan.utility),
        "choice": (manifest.choice, plan.choice),
        "budget": (manifest.budget, plan.budget),
    }
    if plan.threshold is not None:  # else it follows from public numbers
        claims["threshold"] = (manifest.threshold, plan.threshold)
    for key, (stated, planned) in claims.items():
        if stated != planned:
            yield Finding("spec-plan", f"{MANIFEST} has the {key} {stated!r}, but the spec has {planned!r}.")


def _problems(entry: Masked, attribute: Attribute) -> Iterator[str]:
    if isinstance(entry, Suppression):
        if entry.disclosed and attribute.values is not None and entry.disclosed != list(attribute.values):
            yield f"discloses {listed(entry.disclosed)}, but not all of its declared values in their order"
    elif isinstance(entry, Discretization):
        for block in entry.blocks[1:]:
            if not _on_grid(block.lo, attribute):
                yield f"is split at {block.start}, which is not a value inside its declared range, in its steps"


def _on_grid(split: float, attribute: Attribute) -> bool:
    """Whether a number is one of the declared values, and not the lowest: below that there is nothing to split off."""
    step = 1.0 if attribute.whole else attribute.step
    if attribute.range is None or step is None:
        return False
    lo, hi = (Fraction(str(bound)) for bound in attribute.range)
    width = Fraction(str(step))
    place = round((Fraction(str(split)) - lo) / width)
    # Written as a float, a value on the grid is the float nearest to it.
    return 0 < place * width < hi - lo and float(lo + place * width) == float(split)


def _step_findings(manifest: DiffGenManifest, spec: Spec) -> Iterator[Finding]:
    """The cuts take as many specializations as the manifest says."""
    steps = 0
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        taxonomy = None if attribute is None else attribute.taxonomy
        if isinstance(entry, Generalization):
            if taxonomy is None:
                return  # that is a finding of its own
            steps += _taxonomy_steps(entry, taxonomy)
        elif isinstance(entry, Discretization):
            steps += len(entry.blocks) - 1
        else:
            steps += 1 if entry.disclosed else 0
    if steps != manifest.specializations:
        yield Finding(
            "specializations",
            f"{MANIFEST} says that there were {manifest.specializations} specializations, "
            f"but by the taxonomies of the spec its cuts take {steps}.",
        )


def _taxonomy_steps(entry: Generalization, taxonomy: Taxonomy) -> int:
    """How many nodes were specialized: those above the cut."""
    cut = {block.label for block in entry.blocks}

    def above(node: Node) -> int:
        if node.label in cut or not node.children:
            return 0
        return 1 + sum(above(child) for child in node.children)

    return above(taxonomy.root)
