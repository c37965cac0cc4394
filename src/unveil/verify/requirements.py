"""The requirements of a release, recounted. One function per kind, listed in `RECOUNTS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from pydantic import ValidationError

from unveil.verify.closeness import distance_findings, equal_distances, ordered_distances, value_ranks
from unveil.verify.columns import Groups, group
from unveil.verify.data import Data
from unveil.verify.diversity import distinct_findings, entropy_findings
from unveil.verify.findings import BrokenClaimError, Finding, records_text
from unveil.verify.holdings import Holdings, count_holdings
from unveil.verify.manifest import describe_errors
from unveil.verify.parts import MANIFEST, PARQUET, Released
from unveil.verify.refinement import RefinementManifest
from unveil.verify.roles import Role, masked_columns, sensitive_column
from unveil.verify.shares import share_findings
from unveil.verify.statements import AlphaKAnonymity, Confidence, KAnonymity, LDiversity, Stated, TCloseness


def check_requirements(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Recounts every requirement that the manifest states."""
    for number, stated in enumerate(manifest.requirements, start=1):
        kind = stated.get("kind")
        recount = RECOUNTS.get(kind) if isinstance(kind, str) else None
        place = f"requirement {number}"
        if recount is None:
            yield Finding("requirement", f"{MANIFEST}: {place} is of the kind {kind!r}, which cannot be checked.")
            continue
        try:
            yield from recount(place, stated, manifest, data)
        except ValidationError as error:
            for clause in describe_errors(error):
                yield Finding("requirement", f"{MANIFEST}: {place} ({kind}): {clause}.")
        except BrokenClaimError as broken:
            yield from broken.findings


def k_anonymity(place: str, stated: Stated, manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Every combination of values of the quasi-identifier is shared by at least k records."""
    requirement = KAnonymity.model_validate(stated)
    columns = masked_columns(place, "quasi-identifier", requirement.quasi_identifier, manifest, data)
    yield from _size_findings(place, requirement.k, group(columns, data.weights))


def confidence(place: str, stated: Stated, manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """In every group on the channel, each of the values has a share of at most the limit."""
    requirement = Confidence.model_validate(stated)
    _check_category(place, requirement.sensitive, manifest)
    holdings = _holdings(place, "channel", requirement.channel, requirement.sensitive, manifest, data)
    yield from share_findings("confidence", place, requirement.values, requirement.limit, holdings)


def l_diversity(place: str, stated: Stated, manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Every group holds l sensitive values, counted or by their entropy."""
    requirement = LDiversity.model_validate(stated)
    names = requirement.quasi_identifier
    holdings = _holdings(place, "quasi-identifier", names, requirement.sensitive, manifest, data)
    findings = {"distinct": distinct_findings, "entropy": entropy_findings}[requirement.variant]
    yield from findings(place, requirement.l, holdings)


def t_closeness(place: str, stated: Stated, manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """No group is farther than t from the whole release."""
    requirement = TCloseness.model_validate(stated)
    names = requirement.quasi_identifier
    holdings = _holdings(place, "quasi-identifier", names, requirement.sensitive, manifest, data)
    if requirement.distance == "equal":
        if requirement.order is not None:
            message = f"{MANIFEST}: {place} gives an order, which the equal distance has none of."
            yield Finding("requirement", message)
        distances = equal_distances(holdings)
    else:
        entry = manifest.masking[requirement.sensitive]
        number = isinstance(entry, Released) and entry.type != "category"
        ranks = value_ranks(place, holdings.sensitive, requirement.order, number=number)
        distances = ordered_distances(holdings, ranks)
    yield from distance_findings(place, requirement.t, distances, holdings)


def alpha_k_anonymity(place: str, stated: Stated, manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Every group has at least k records, and at most a share alpha of them hold any one of the values."""
    requirement = AlphaKAnonymity.model_validate(stated)
    _check_category(place, requirement.sensitive, manifest)
    names = requirement.quasi_identifier
    holdings = _holdings(place, "quasi-identifier", names, requirement.sensitive, manifest, data)
    yield from _size_findings(place, requirement.k, holdings.groups)
    yield from share_findings("alpha", place, requirement.values, requirement.alpha, holdings)


def _size_findings(place: str, least: int, groups: Groups) -> Iterator[Finding]:
    small = int((groups.sizes < least).sum())
    if small:
        smallest = int(np.argmin(groups.sizes))
        yield Finding(
            "group-size",
            f"{PARQUET}: {groups.text(smallest)} is shared by {records_text(int(groups.sizes[smallest]))}, "
            f"but {place} asks for at least {least:,} "
            f"({small:,} of {len(groups.sizes):,} groups are too small).",
        )


def _holdings(
    place: str, role: Role, names: list[str], sensitive: str, manifest: RefinementManifest, data: Data
) -> Holdings:
    column = sensitive_column(place, sensitive, role, names, manifest, data)
    return count_holdings(masked_columns(place, role, names, manifest, data), column, data.weights)


def _check_category(place: str, sensitive: str, manifest: RefinementManifest) -> None:
    """The values are named by their texts, and a number has more than one: a limit on 40 is not one on 40.0."""
    entry = manifest.masking.get(sensitive)
    if isinstance(entry, Released) and entry.type != "category":
        message = f"{MANIFEST}: {place} limits values of {sensitive!r}, which is a {entry.type}."
        raise BrokenClaimError([Finding("sensitive", message)])


RECOUNTS: dict[str, Callable[[str, Stated, RefinementManifest, Data], Iterator[Finding]]] = {
    "k-anonymity": k_anonymity,
    "confidence": confidence,
    "l-diversity": l_diversity,
    "t-closeness": t_closeness,
    "alpha-k-anonymity": alpha_k_anonymity,
}
"""How each kind of requirement is recounted. A kind that is not here cannot be checked, and is a finding."""
