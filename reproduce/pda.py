"""PDA: Wang, Fung, Yu, "Template-based privacy preservation in classification problems", ICDM 2005."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np

import unveil
from reproduce.blowup import blow_up
from reproduce.data import ADULT_RANKED_CATEGORIES, CRX_RANKED_CATEGORIES, DATA_SETS, DataSet, Section, adult
from reproduce.learn import masked_error, raw_error
from reproduce.points import Setting, Value
from reproduce.timing import search_seconds
from unveil.evaluation.risk import inference_risk
from unveil.schema import load_spec
from unveil.tables import load_table

RANKED = {"adult": ADULT_RANKED_CATEGORIES, "crx": CRX_RANKED_CATEGORIES}
TOPS = (1, 2, 3, 4)
LIMITS = {"crx": (0.5, 0.7, 0.9), "adult": (0.1, 0.3, 0.5, 0.7, 0.9)}
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)


def categories(name: str) -> DataSet:
    """A data set without its numbers: "we removed all continuous attributes"."""
    data = DATA_SETS[name]()
    return data.select(data.categories)


def rare_values(data: DataSet, name: str) -> list[str]:
    """The 50% least frequent values of an attribute."""
    counts = Counter(data.table[name].to_pylist())
    return [value for value, _ in sorted(counts.items(), key=lambda item: item[1])][: len(counts) // 2]


def templates(data: DataSet, sensitive: Sequence[str], limit: float) -> list[Section]:
    """From all other attributes no rare value of a sensitive one may be inferred above the limit."""
    channel = [name for name in data.attributes if name not in sensitive]
    return [
        {
            "kind": "confidence",
            "channel": channel,
            "sensitive": name,
            "values": rare_values(data, name),
            "limit": limit,
        }
        for name in sensitive
    ]


def inferences(setting: Setting) -> Value:
    """Table 3: how many inferences the raw data allows above each confidence."""
    data = categories(setting["data"])
    sensitive = RANKED[setting["data"]][: setting["top"]]
    channel = [name for name in data.attributes if name not in sensitive]
    table = load_table(load_spec(data.spec(templates(data, sensitive, 1.0), suppress=True)), data.table)
    above: Counter[float] = Counter()
    for name in sensitive:
        above.update(inference_risk(table, channel, name, rare_values(data, name), limit=0.9).above)
    return {"above": [above[threshold] for threshold in THRESHOLDS]}


def other_readings(setting: Setting) -> Value:
    """Table 3 once more: whether any other number of least frequent values per attribute gives the paper's row."""
    data = categories(setting["data"])
    table = {"all": data.table, "train": data.train, "test": data.test}[setting["part"]]
    sensitive = RANKED[setting["data"]][: setting["top"]]
    channel = [name for name in data.attributes if name not in sensitive]
    groups = list(zip(*(table[name].to_pylist() for name in channel), strict=True))
    sizes = Counter(groups)
    rows = []
    for name in sensitive:
        values = table[name].to_pylist()
        above = {value: np.zeros(len(THRESHOLDS), dtype=np.int64) for value in set(values)}
        for (group, value), held in Counter(zip(groups, values, strict=True)).items():
            above[value] += np.array(THRESHOLDS) < held / sizes[group]
        rare_first = [above[value] for value, _ in sorted(Counter(values).items(), key=lambda item: item[1])]
        rows.append(
            [sum(rare_first[:number], np.zeros(len(THRESHOLDS), dtype=np.int64)) for number in range(len(above) + 1)]
        )
    printed = np.array(setting["printed"])
    return {"distance": min(int(abs(sum(choice) - printed).max()) for choice in product(*rows))}


def suppression_error(setting: Setting) -> Value:
    """BE, RE or SE; training and test records are suppressed together."""
    data = categories(setting["data"])
    if setting["what"] == "BE":
        return {"error": raw_error(data)}
    sensitive = RANKED[setting["data"]][: setting["top"]]
    if setting["what"] == "RE":
        return {"error": raw_error(data.select([name for name in data.attributes if name not in sensitive]))}
    try:
        release = unveil.publish(data.table, data.spec(templates(data, sensitive, setting["limit"]), suppress=True))
    except unveil.RequirementError as error:
        return {"error": None, "impossible": str(error)}
    return {"error": masked_error(data, release), "hidden": _hidden(data, release, sensitive)}


def _hidden(data: DataSet, release: unveil.Release, sensitive: Sequence[str]) -> dict[str, list[int]]:
    """For each masked attribute how many of its values are hidden, and how many it has."""
    found = {}
    for name in data.attributes:
        if name not in sensitive:
            values = set(data.table[name].to_pylist())
            shown = set(release.table[name].to_pylist()) & values
            found[name] = [len(values) - len(shown), len(values)]
    return found


def suppression_time(setting: Setting) -> Value:
    """Fig. 3c: the time of the search for templates on the top attribute of Adult."""
    data = categories("adult")
    sensitive = ADULT_RANKED_CATEGORIES[:1]
    channel = [name for name in data.attributes if name not in sensitive]
    rows = blow_up(data.table, setting["rows"], channel)
    spec = adult().select(data.attributes).spec(templates(data, sensitive, setting["limit"]), suppress=True)
    return search_seconds(rows, spec)


MEASURES = {
    "pda.inferences": inferences,
    "pda.readings": other_readings,
    "pda.error": suppression_error,
    "pda.time": suppression_time,
}
