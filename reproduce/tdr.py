"""Top-Down Refinement: Fung, Wang, Yu, "Anonymizing classification data for privacy preservation", TKDE 2007."""

from __future__ import annotations

from random import Random
from statistics import fmean
from time import perf_counter
from typing import Any

import pyarrow as pa

import unveil
from reproduce.blowup import blow_up
from reproduce.data import ADULT_RANKED, CRX_RANKED, DATA_SETS, GERMAN_RANKED, SEED, DataSet, adult, k_anonymity
from reproduce.learn import error, folds, masked, masked_error, raw_error
from reproduce.points import Setting, Value
from reproduce.timing import search_seconds

RANKED = {"adult": ADULT_RANKED, "crx": CRX_RANKED, "german": GERMAN_RANKED}
TOPS = (5, 7, 9)
ADULT_KS = (20, 40, 60, 80, 100, 140, 180, 200, 300, 400, 500, 600, 800, 1000)
CRX_KS = (20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 500, 600)
GERMAN_KS = (20, 40, 60, 80, 100, 150, 200, 300, 400, 500, 600, 800, 1000)
GA = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
GA_KS = (10, 25, 50, 75, 100, 150, 200, 250, 500, 1000)
REQUIREMENTS = 30
SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)
TREES = ("hours-per-week", "education-num")


def top_error(setting: Setting) -> Value:
    """BE, UE or AE for a QID of the top N attributes; training and test records are masked together."""
    data = DATA_SETS[setting["data"]]()
    classifier = setting["classifier"]
    if setting["what"] == "BE":
        return {"error": raw_error(data, classifier)}
    if setting["what"] == "BE-categories":
        return {"error": raw_error(data.select(data.categories), classifier)}
    qid = RANKED[setting["data"]][: setting["top"]]
    if setting["what"] == "UE":
        return {"error": raw_error(data.select([name for name in data.attributes if name not in qid]), classifier)}
    release = unveil.publish(data.table, data.spec([k_anonymity(qid, setting["k"])], suppress=setting["suppress"]))
    return {"error": masked_error(data, release, classifier), "refinements": len(release.trace)}


def grown_trees(setting: Setting) -> Value:
    """Fig. 7: the splits of two numbers, in the order in which they were made."""
    data = adult()
    requirement = k_anonymity(ADULT_RANKED[: setting["top"]], setting["k"])
    release = unveil.publish(data.table, data.spec([requirement], suppress=setting["suppress"]))
    return {
        name: [[step["refined"], *step["into"]] for step in release.trace if step["attribute"] == name]
        for name in TREES
    }


def several_qids(setting: Setting) -> Value:
    """Fig. 8: a random requirement of several QIDs, and the one QID that unites them."""
    data = adult()
    qids = random_requirements()[setting["number"]]
    k = setting["k"]
    united = [name for name in data.attributes if any(name in qid for qid in qids)]
    several = unveil.publish(data.table, data.spec([k_anonymity(qid, k) for qid in qids]))
    single = unveil.publish(data.table, data.spec([k_anonymity(united, k)]))
    return {
        "several": masked_error(data, several),
        "single": masked_error(data, single),
        "qids": len(qids),
        "length": len(qids[0]),
    }


def random_requirements() -> list[list[tuple[str, ...]]]:
    """U[3, 7] QIDs, all of one length U[2, 9], of random attributes; a repeated QID is discarded."""
    random = Random(SEED)  # noqa: S311 - an experiment
    names = adult().attributes
    requirements = []
    for _ in range(REQUIREMENTS):
        qids, length = random.randint(3, 7), random.randint(2, 9)
        drawn = (tuple(sorted(random.sample(names, length), key=names.index)) for _ in range(qids))
        requirements.append(list(dict.fromkeys(drawn)))
    return requirements


def ga_error(setting: Setting) -> Value:
    """Fig. 10: ten folds of the 30,162 records; the training part is masked, and its masking applied to the rest."""
    records = adult().select(GA)
    data = DataSet(records.train, records.training, records.class_, records.described, records.source)
    errors, seconds = [], []
    for training in folds(data.table.num_rows):
        train, test = data.table.filter(pa.array(training)), data.table.filter(pa.array(~training))
        if setting["what"] == "AE":
            begun = perf_counter()
            release = unveil.publish(train, data.spec([k_anonymity(GA, setting["k"])]))
            seconds.append(perf_counter() - begun)
            train, test = masked(train, release), masked(test, release)
        elif setting["what"] == "UE":
            train, test = train.select([data.class_]), test.select([data.class_])
        errors.append(error(train, test, data.class_))
    return {"error": fmean(errors), "seconds": fmean(seconds) if seconds else None}


def search_time(setting: Setting) -> Value:
    """Fig. 11: the time of the search, without reading and writing."""
    data = adult()
    rows = blow_up(data.table, setting["rows"], data.attributes)
    if setting["requirement"] == "AllAttQID":
        requirement: list[Any] = [data.attributes]
    else:
        requirement = list(random_requirements()[setting["number"]])
    spec = data.spec([k_anonymity(qid, setting["k"]) for qid in requirement])
    return {**search_seconds(rows, spec), "qids": len(requirement)}


MEASURES = {
    "tdr.top": top_error,
    "tdr.trees": grown_trees,
    "tdr.several": several_qids,
    "tdr.ga": ga_error,
    "tdr.time": search_time,
}
