"""Sampled true rows that carry an (ε, δ) statement are attacked as rows, and give nobody away."""

import unveil
from attacks.people import people, spec


def test_rows_that_many_share_single_nobody_out() -> None:
    known = spec()
    described = {
        **known,
        "attributes": {**known["attributes"], "ill": {"kind": "category", "values": ["no", "yes"]}},
        "require": [{"kind": "differential-privacy", "epsilon": 2.0}],
        "publish": {"method": "safe", "delta": 1e-6},
    }
    exposure = unveil.attack(described, table=people(4000), tries=2)
    assert {"membership", "homogeneity"} <= {outcome.attack for outcome in exposure.outcomes}
    assert exposure.leaks == ()
