"""The server: who may ask, what may be asked, and that nothing is written or kept that nobody wanted."""

import socket
import time
from pathlib import Path

import httpx
import pytest

import unveil
from studio.conftest import Client, serving
from unveil.studio import guard


def test_a_request_needs_the_token(tab: Client) -> None:
    address = f"http://127.0.0.1:{tab.studio.port}"
    for headers in ({}, {"x-unveil-token": "wrong"}, {"x-unveil-token": tab.studio.token[:-1]}):
        for path in ("start", "open", "edit", "events", "publish"):
            method = "GET" if path == "start" else "POST"
            answer = httpx.request(method, f"{address}/api/{path}", headers=headers, json={"file": "people.csv"})
            assert answer.status_code == 403
            assert "people" not in answer.text
    assert tab.studio.tabs == 0
    assert httpx.get(f"{address}/").status_code == 200
    assert tab.studio.token not in httpx.get(f"{address}/").text


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:1"},
        {"host": "evil.example:{port}"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_origin_or_host_is_refused(tab: Client, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=tab.studio.port) for name, value in headers.items()}
    for path in ("/", "/app.js", "/api/start"):
        assert tab.http.get(path, headers=sent).status_code == 403
    assert tab.http.get("/api/start").status_code == 200


def test_every_answer_forbids_what_does_not_come_from_here(tab: Client) -> None:
    for answer in (tab.http.get("/"), tab.http.get("/api/start"), tab.http.get("/none"), tab.http.put("/api/open")):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("file", ["../people.csv", "/etc/passwd", "..", "link.csv", "nothing.csv", "a\x00b", ""])
def test_a_path_outside_the_folder_is_refused(tab: Client, file: str, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.csv"
    outside.write_text("secret\n", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(outside)
    answer = tab.post("open", file=file)
    if answer.status_code == 200:  # the folder itself is not a table
        tab.session = answer.json()["session"]
        assert "problem" in tab.hear(lambda heard: "problem" in heard)
    else:
        assert answer.status_code == 422
        assert "secret" not in answer.text


@pytest.mark.parametrize("path", ["/../server.py", "/%2e%2e/server.py", "/..%2fserver.py", "//etc/passwd"])
def test_only_files_of_the_page_are_served(tab: Client, path: str) -> None:
    with socket.create_connection(("127.0.0.1", tab.studio.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{tab.studio.port}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert b" 404 " in answer.split(b"\r\n")[0]
    assert b"import" not in answer


def test_a_hundred_megabytes_of_garbage_are_not_held(tab: Client) -> None:
    megabyte = b"x" * 2**20
    sent = 0

    def garbage():
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield megabyte

    try:
        answer = tab.http.post("/api/open", content=garbage())
        assert answer.status_code == 413
    except httpx.TransportError:  # the server has hung up while the garbage was being sent
        pass
    assert sent < 60
    head = f"POST /api/open HTTP/1.1\r\nHost: 127.0.0.1:{tab.studio.port}\r\nx-unveil-token: {tab.studio.token}\r\n"
    with socket.create_connection(("127.0.0.1", tab.studio.port)) as raw:
        raw.sendall(f"{head}Content-Length: {100 * 2**20}\r\n\r\n".encode())  # refused before a byte of it comes
        assert b" 413 " in raw.recv(65536).split(b"\r\n")[0]
    for body in (b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"file": 3}'):
        assert tab.http.post("/api/open", content=body).status_code == 422
    assert tab.http.get("/api/start").status_code == 200
    assert guard.LARGEST < 10 * 2**20


def test_nothing_is_written_before_publishing(tab: Client, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    tab.open("people.csv")
    state = tab.edit({"do": "set", "path": ["require", 0, "k"], "value": 4})
    tab.picture(state["number"])
    tab.post("draft", column="job", by="frequency")
    tab.post("load", column="town", name="t.csv", text="Aarhus;*\nBergen;*\nCork;*\n")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_last_change_wins(tab: Client) -> None:
    tab.open("people.toml")
    number = 0
    for k in (9, 8, 7, 6, 5, 4, 3):
        number = tab.edit({"do": "set", "path": ["require", 0, "k"], "value": k}, gesture="slide")["number"]
    picture = tab.picture(number)
    assert picture["of"] == number
    assert "at least 3 records" in picture["guarantee"]
    assert picture["groups"][0]["smallest"] >= 3


def test_edits_that_come_together_are_made_all_or_none(tab: Client) -> None:
    tab.open("people.toml")
    before = tab.heard["state"]["text"]
    operations = [{"do": "set", "path": ["require", 0, "k"], "value": 9}, {"do": "fly"}]
    assert tab.post("edit", operations=operations).status_code == 422
    state = tab.post("redo").json()
    assert (state["text"], state["undo"], state["redo"]) == (before, 0, 0)


def test_two_tabs_do_not_mix_and_a_lost_one_is_closed(tmp_path: Path, tab: Client) -> None:
    with serving(tmp_path, grace=1.0) as studio:
        first, second = tabs = Client(studio), Client(studio)
        first.open("people.toml")
        second.open("people.toml")
        first.edit({"do": "set", "path": ["require", 0, "k"], "value": 5})
        assert "k                = 5" not in second.post("undo").json()["text"]
        assert studio.tabs == 2
        second.post("close")
        assert studio.tabs == 1
        end = time.monotonic() + 10
        while studio.tabs and time.monotonic() < end:
            time.sleep(0.1)
        assert studio.tabs == 0
        answer = first.post("undo")
        assert (answer.status_code, "closed" in answer.json()["problem"]) == (422, True)
        for client in tabs:
            client.http.close()


def test_a_spec_that_somebody_else_changed_is_not_overwritten(tab: Client, tmp_path: Path) -> None:
    tab.open("people.toml")
    spec = tmp_path / "people.toml"
    spec.write_text(spec.read_text(encoding="utf-8") + "# another tab\n", encoding="utf-8")
    tab.edit({"do": "set", "path": ["require", 0, "k"], "value": 4})
    tab.post("publish", to="out")
    assert "has changed" in tab.hear(lambda heard: "failed" in heard)["failed"]["problem"]
    assert not (tmp_path / "out").exists()
    assert spec.read_text(encoding="utf-8").endswith("# another tab\n")


def test_from_a_table_to_a_verified_release(tab: Client, tmp_path: Path) -> None:
    tab.open("people.csv")
    assert tab.heard["state"]["content"]["draft"] is True
    answer = tab.post("publish", to="out")
    assert (answer.status_code, "draft" in answer.json()["problem"]) == (422, True)
    state = tab.edit({"do": "role", "column": "income", "word": "identifier"}, {"do": "read"})
    assert state["problem"] is None
    for to in ("../out", "/out", "."):
        assert tab.post("publish", to=to).status_code == 422
    assert tab.post("publish", to="out").status_code == 200
    found = tab.hear(lambda heard: {"published", "failed"} & set(heard))
    assert "failed" not in found, found["failed"]
    published = found["published"]
    assert published["files"] == ["release/data.parquet", "release/manifest.json", "report-private.html", "report.html"]
    assert unveil.verify(tmp_path / "out" / "release", tmp_path / state["spec"]) == []
    assert (tmp_path / state["spec"]).read_text(encoding="utf-8") == state["text"]
    again = tab.post("publish", to="out")
    assert again.status_code == 200
    assert "exists already" in tab.hear(lambda heard: "failed" in heard)["failed"]["problem"]


def test_no_other_task_takes_the_place_of_publishing(tab: Client, tmp_path: Path) -> None:
    tab.open("people.toml")
    for name in ("evaluate", "publish", "explain", "evaluate"):
        assert tab.post(name, to="out").status_code == 200
    tab.hear(lambda heard: "published" in heard)
    assert unveil.verify(tmp_path / "out" / "release") == []


@pytest.mark.parametrize("name", ["people.toml", "job.tree"])
def test_what_somebody_else_wrote_meanwhile_is_not_replaced(name: str, tab: Client, tmp_path: Path) -> None:
    tab.open("people.toml")
    tab.post("draft", column="job", by="frequency")
    theirs = tmp_path / name
    theirs.write_text(theirs.read_text(encoding="utf-8") + "# theirs\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert tab.post("publish", to="out").status_code == 200
    tab.hear(lambda heard: "failed" in heard)
    assert f"{name}: the file has changed since it was opened here" in tab.heard["failed"]["problem"]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_release_that_fails_can_be_tried_again(tab: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tab.open("people.toml")
    tab.edit({"do": "set", "path": ["require", 0, "k"], "value": 4})
    with monkeypatch.context() as planted:
        planted.setattr("unveil.workflow.bundle.report_to_file", None)
        tab.post("publish", to="out")
        tab.hear(lambda heard: "failed" in heard)
    assert not (tmp_path / "out").exists()
    tab.post("publish", to="out")
    tab.hear(lambda heard: "published" in heard)
    assert unveil.verify(tmp_path / "out" / "release") == []


def test_a_private_release_is_withheld_confirmed_and_charged(tab: Client, tmp_path: Path) -> None:
    tab.open("people.csv")
    attributes = [{"do": "declare", "column": name} for name in ("age", "job", "town")]
    state = tab.edit(
        {"do": "role", "column": "income", "word": "identifier"},
        {"do": "declare", "column": "ill"},
        *attributes,
        {"do": "method", "word": "diffgen", "settings": {"specializations": 2}, "epsilon": 1.0},
        {"do": "set", "path": ["table", "missing", "rows"], "value": "drop"},
        {"do": "read"},
    )
    assert state["problem"] is None, state["problem"]
    assert tab.picture(state["number"])["withheld"] is True
    assert tab.post("evaluate").status_code == 422
    state = tab.post("preview").json()
    picture = tab.picture(state["number"])
    assert (picture["private"], picture["groups"]) == (True, [])
    assert not (tmp_path / "unveil-ledger.json").exists()
    assert "ε = 1" in tab.post("publish", to="out").json()["problem"]
    assert tab.post("publish", to="out", epsilon=2.0).status_code == 422
    assert not (tmp_path / "unveil-ledger.json").exists()
    tab.post("publish", to="out", epsilon=1.0)
    found = tab.hear(lambda heard: {"published", "failed"} & set(heard))
    assert "failed" not in found, found["failed"]
    assert "people.csv" in (tmp_path / "unveil-ledger.json").read_text(encoding="utf-8")


def test_tasks_of_the_background(tab: Client) -> None:
    tab.open("people.toml")
    tab.post("compare", key="k", values=[2, 3, 1000])
    found = tab.hear(lambda heard: len(heard.get("comparison", {}).get("found", ())) == 3)["comparison"]["found"]
    assert [item["asks"] for item in found] == ["k = 2", "k = 3", "k = 1000"]
    assert "no release" in found[2]["problem"]
    assert found[0]["measures"]["kept"] >= found[1]["measures"]["kept"] > 0
    tab.post("explain")
    reasons = tab.hear(lambda heard: "reasons" in heard)["reasons"]["reasons"]
    assert {item["attribute"] for item in reasons} == {"age", "job", "town"}
    tab.post("evaluate")
    lines = tab.hear(lambda heard: "evaluation" in heard)["evaluation"]["lines"]
    assert {line["setting"] for line in lines} == {"raw", "released", "masked"}
    assert tab.post("compare", key="name", values=[2]).status_code == 422


def test_nothing_leaves_the_machine(tab: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of the server, search or publishing connects to anything but this test."""
    asked: list[object] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def recorded(held: socket.socket, address: object) -> None:
        asked.append(address)
        connect(held, address)

    def looked_up(*words: object, **more: object) -> object:
        asked.append(words)
        return look_up(*words, **more)

    monkeypatch.setattr(socket.socket, "connect", recorded)
    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    tab.open("people.toml")
    tab.picture(tab.heard["state"]["number"])
    tab.post("publish", to="out")
    tab.hear(lambda heard: "published" in heard)
    assert {address for address in asked if address[0] != "127.0.0.1"} == set()
    with pytest.raises(httpx.ConnectError):  # a name that is looked up is seen
        httpx.get("http://example.invalid/")
    assert asked[-1][0] == "example.invalid"
