"""The loops are loaded for the types that a search uses, so that none is compiled while it runs."""

import subprocess
import sys

SCRIPT = """
import numpy as np
import pyarrow as pa
import unveil
from unveil.counting.loops import run_box_loops
run_box_loops()
from unveil.counting.scans import first_best, scan_boxes
from unveil.counting.splits import drawn_rows, split_boxes
loops = first_best, scan_boxes, drawn_rows, split_boxes
known = [len(loop.compiled.signatures) for loop in loops]
random = np.random.default_rng(0)
age, wage = random.integers(0, 50, 20_000), random.integers(0, 4000, 20_000)
job = random.choice(["a", "b", "c"], 20_000)
table = pa.table({"age": age, "wage": wage, "job": job, "class": random.choice(["n", "y"], 20_000)})
spec = {
    "table": {"class": "class"},
    "attributes": {"age": {"kind": "number"}, "wage": {"kind": "number"}, "job": {"kind": "category"}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "wage", "job"], "k": 20}],
    "publish": {"search": "joint", "recoding": "local"},
}
assert unveil.publish(table, spec, steps=9).trace
assert known == [len(loop.compiled.signatures) for loop in loops], [loop.compiled.signatures for loop in loops]
"""


def test_a_joint_search_compiles_nothing_that_was_not_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
