"""A tab holds one table, however often k is moved, and gives it back when it is closed."""

import gc
import subprocess
import sys
import time
import weakref
from pathlib import Path

from studio.conftest import Client, adult
from unveil.schema import Spec, load_spec
from unveil.workflow.live import Live

MOVED = """
import json, sys
from pathlib import Path
from unveil.schema import load_spec
from unveil.workflow.live import Live

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

spec = load_spec(sys.argv[1])
live = Live(spec.source)
def move(k):
    changed = load_spec(sys.argv[1], lambda content: {
        **content, "require": [{**content["require"][2], "k": k}]
    })
    picture, release = live.picture(changed)
    live.figures(changed, release)
for k in range(40, 50):
    move(k)
before = resident()
for k in range(20, 70):
    move(k)
print(json.dumps([before, resident()]))
"""


def test_fifty_changes_of_k_leave_memory_flat(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MOVED, str(adult(tmp_path, 4000))], capture_output=True, text=True, check=True
    )
    before, after = map(int, done.stdout.strip("[]\n").split(","))
    assert after - before < 12 * 2**20, (before, after)


def test_a_closed_session_lets_go_of_its_table(tab: Client) -> None:
    tab.open("people.toml")
    [session] = tab.studio._sessions.values()
    tab.picture(tab.heard["state"]["number"])
    table = weakref.ref(session.live)
    tab.post("close")
    del session
    for _ in range(50):
        gc.collect()
        if table() is None:
            break
        time.sleep(0.1)
    assert table() is None


def test_codes_are_made_again_only_if_the_table_is_read_in_another_way(tmp_path: Path) -> None:
    path = adult(tmp_path, 500)
    live = Live(path.parent / "adult.parquet")

    def changed(section: str, key: str, value: dict[str, object]) -> Spec:
        return load_spec(
            path, lambda content: {**content, section: {**content[section], key: {**content[section][key], **value}}}
        )

    spec = load_spec(path)
    first = live.rows(spec).checked.columns[0].codes
    assert live.rows(changed("attributes", "age", {"finest": 5, "weight": 2})).checked.columns[0].codes is first
    assert live.rows(changed("attributes", "age", {"range": [0, 120]})).checked.columns[0].codes is not first
