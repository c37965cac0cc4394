"""The requirements of a release in plain words: what a stranger does not find, and what is not promised.

Each is a statement about the released rows, and no more is claimed: not what a reader believes, who may know other
columns, or how the release was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unveil.report.figures import named

Entry = Mapping[str, Any]
"""A requirement as a manifest has it."""
WHO = "Somebody who knows"


@dataclass(frozen=True)
class Promise:
    """One requirement, told to a reader who is not a statistician."""

    kind: str
    headline: str
    promise: str
    cannot: str
    can: tuple[str, ...]


def promise(entry: Entry) -> Promise:
    """A requirement in plain words; one whose bound bounds nothing says so."""
    told = PROMISES[entry["kind"]](entry)
    if _bounds_nothing(entry):
        nothing = f"The bound is so wide that every table keeps to it. On {_known(entry)} nothing is promised."
        return replace(told, headline="Nothing is promised", promise=nothing, cannot="", can=())
    return told


def _bounds_nothing(entry: Entry) -> bool:
    least = [entry[key] for key in ("k", "l") if key in entry]
    most = [entry[key] for key in ("limit", "alpha", "t") if key in entry]
    return all(bound <= 1 for bound in least) and all(bound >= 1 for bound in most)


def _k_anonymity(entry: Entry) -> Promise:
    known, k = _known(entry), entry["k"]
    return Promise(
        kind="k-anonymity",
        headline=f"At least {k:,} records look alike",
        promise=(
            f"{WHO} a person's {known}, however exactly, finds at least {k:,} records that fit, or none. "
            "The released values of these columns do not tell these records apart."
        ),
        cannot=(
            "point at one person's record: to somebody who knows nothing else, a guess among the records that fit is "
            f"right once in {k:,} at most."
        ),
        can=(
            "see what all records that fit have in common: if all have the same class, it is that person's too.",
            "tell the records apart by columns that are not named here.",
        ),
    )


def _confidence(entry: Entry) -> Promise:
    known, share, values = _known(entry), _percent(entry["limit"]), _values(entry)
    return Promise(
        kind="privacy template",
        headline=f"{entry['sensitive']}: {values} for at most {share} of a group",
        promise=(
            f"Take all records that fit what somebody knows of a person's {known}. At most {share} of them hold "
            f"{values} as {entry['sensitive']}{_each(entry)}."
        ),
        cannot=f"find records that fit of which more than {share} hold {values}{_each(entry)}.",
        can=(
            "rule a value out: a group in which nobody holds it says so.",
            "learn values that are not named here, and that a person holds some one of several named values.",
            "meet groups of very few records: this promise is about shares, not about sizes.",
            "be surer than this share by knowing more, such as another column, or by working out which tables could "
            "have given this release: in a small table that can leave a single answer.",
        ),
    )


def _l_diversity(entry: Entry) -> Promise:
    known, sensitive = _known(entry), entry["sensitive"]
    entropy = entry["variant"] == "entropy"
    spread = " (measured by their entropy)" if entropy else ""
    return Promise(
        kind=f"ℓ-diversity, {entry['variant']}",
        headline=f"{sensitive}: at least {entry['l']:g} values in every group",
        promise=(
            f"Among the records that fit what somebody knows of a person's {known}, {sensitive} takes at least "
            f"{entry['l']:g} different values{spread}."
        ),
        cannot=f"find records that fit with fewer than {entry['l']:g} values of {sensitive}{spread}.",
        can=(
            "find one value much likelier than the others.",
            "draw conclusions where the possible values mean much the same.",
        ),
    )


def _t_closeness(entry: Entry) -> Promise:
    known, sensitive = _known(entry), entry["sensitive"]
    return Promise(
        kind=f"t-closeness, {entry['distance']} distance",
        headline=f"{sensitive}: a group looks like the whole table",
        promise=(
            f"Among the records that fit what somebody knows of a person's {known}, {sensitive} is distributed as in "
            f"the whole release, up to a distance of {entry['t']:g} (0 is the same, 1 as different as can be)."
        ),
        cannot=f"find records that fit in which {sensitive} is farther than that from the whole release.",
        can=("learn what the whole table tells: a value that most people hold is likely for each of them.",),
    )


def _alpha_k_anonymity(entry: Entry) -> Promise:
    size, share = (
        _k_anonymity(entry),
        _confidence({**entry, "channel": entry["quasi-identifier"], "limit": entry["alpha"]}),
    )
    return Promise(
        kind="(α, k)-anonymity",
        headline=f"{size.headline}; {share.headline}",
        promise=f"{size.promise} {share.promise}",
        cannot=f"{size.cannot.rstrip('.')}; nor {share.cannot}",
        can=(*size.can, share.can[0], share.can[1]),
    )


PROMISES: dict[str, Callable[[Entry], Promise]] = {
    "k-anonymity": _k_anonymity,
    "confidence": _confidence,
    "l-diversity": _l_diversity,
    "t-closeness": _t_closeness,
    "alpha-k-anonymity": _alpha_k_anonymity,
}

LIMITS = (
    "Several promises hold each by itself. Nothing is promised to somebody who knows the columns of two together.",
    "Records are counted, not people: somebody who has several rows is counted several times.",
    "The class is released as it is. Who knows it of a person can use it to narrow a group down.",
    "Bounds of intervals are values of the data.",
    "Other releases of the same people can be joined with this one, and both together can tell more than each.",
    "A reader who reasons about why the masking is as fine as it is, and not finer, may learn more than the rows say.",
)
"""What no requirement about groups promises (docs/guarantees.md)."""


def _known(entry: Entry) -> str:
    return named(entry.get("quasi-identifier") or entry["channel"])


def _values(entry: Entry) -> str:
    words = [f"“{value}”" for value in entry["values"]]
    if len(words) > 5:
        words = [*words[:4], f"{len(words) - 4:,} other values"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _each(entry: Entry) -> str:
    return ", each taken by itself" if len(entry["values"]) > 1 else ""


def _percent(share: float) -> str:
    return f"{share * 100:.6g}%"
