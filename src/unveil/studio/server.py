"""The server of the page: on this machine only, for those who have the token."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from unveil.errors import SpecError, UnveilError
from unveil.studio.guard import Guard
from unveil.studio.paths import inside
from unveil.studio.sessions import SPEC, Session

STATIC = Path(str(files("unveil") / "studio" / "static"))
TABS = 8
"""This many tabs can be open: each holds its table."""
GRACE = 20.0
"""A tab that nobody has heard of for this many seconds is closed."""
TABLES = (".csv", ".parquet", ".gz", ".zst")
Body = Mapping[str, Any]
Answer = Callable[[Request], Awaitable[Response]]


class Server(uvicorn.Server):
    """A server that says when it is about to end, so that no stream keeps it waiting."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, then the connections."""
        self._ending()
        await super().shutdown(sockets)


class Studio:
    """A server for the files of one folder."""

    def __init__(self, folder: Path, file: str | None = None, *, grace: float = GRACE) -> None:
        """Takes an address that no other program has.

        Nothing outside the folder is listed, opened by name or written. The page opens the file first; without one it
        lists what there is. A tab that is gone is closed after `grace` seconds.
        """
        self._folder, self._file, self._grace = folder.resolve(), file, grace
        self._sessions: dict[str, Session] = {}
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()  # a browser that opens the address before the server runs waits, and is not refused
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        settings = uvicorn.Config(
            Guard(self._app(), self.port, self.token),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        self.server = Server(settings, self._close_all)

    @property
    def address(self) -> str:
        """Where the page is. The token is after the mark, which browsers do not send to any server."""
        return f"http://127.0.0.1:{self.port}/#{self.token}"

    @property
    def tabs(self) -> int:
        """How many tabs are open."""
        return len(self._sessions)

    def run(self) -> None:
        """Serves until it is interrupted."""
        self.server.run(sockets=[self._socket])

    def _app(self) -> Starlette:
        answers: dict[str, Answer] = {"open": self._open, "close": self._close, "events": self._events}
        answers |= {name: self._answered(work) for name, work in REQUESTS.items()}
        routes = [Route(f"/api/{name}", self._told(answer), methods=["POST"]) for name, answer in answers.items()]
        routes.append(Route("/api/start", self._start, methods=["GET"]))
        return Starlette(routes=[*routes, Mount("/", StaticFiles(directory=STATIC, html=True))], lifespan=self._life)

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        """Closes tabs that are gone while the server runs."""
        sweeping = asyncio.create_task(self._sweep())
        yield
        sweeping.cancel()

    def _close_all(self) -> None:
        for name in list(self._sessions):
            self._sessions.pop(name).close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(1.0, self._grace / 2))
            for name, session in list(self._sessions.items()):
                if time.monotonic() - session.seen > self._grace:
                    self._sessions.pop(name).close()

    def _told(self, answer: Answer) -> Answer:
        """Answers with the sentence of an error that a user can fix."""

        async def told(request: Request) -> Response:
            try:
                request.state.body = await _body(request)
                return await answer(request)
            except UnveilError as error:
                return JSONResponse({"problem": str(error)}, 422)

        return told

    async def _start(self, request: Request) -> Response:
        """What can be opened: the file that was asked for, and those in the folder."""
        names = sorted(
            path.name
            for path in self._folder.iterdir()
            if path.is_file() and not path.name.startswith(".") and path.suffix in (SPEC, *TABLES)
        )
        return JSONResponse({"folder": str(self._folder), "files": names, "file": self._file})

    async def _open(self, request: Request) -> Response:
        if len(self._sessions) >= TABS:
            raise SpecError(f"{TABS} tabs are open already; close one first.")
        file = _text(request.state.body, "file")
        if not inside(self._folder, file).exists():
            raise SpecError(f"{file}: there is no such file in {self._folder.name!r}.")
        session = Session(self._folder, file, asyncio.get_running_loop())
        self._sessions[session.name] = session
        return JSONResponse({"session": session.name})

    async def _close(self, request: Request) -> Response:
        session = self._sessions.pop(str(request.state.body.get("session")), None)
        if session is not None:
            session.close()
        return JSONResponse({})

    async def _events(self, request: Request) -> Response:
        """Everything that a tab waits for, as it comes."""
        session = self.session(request.state.body)

        async def stream() -> AsyncIterator[str]:
            async for item in session.outbox.taken():
                session.seen = time.monotonic()
                if item is None:
                    yield ": alive\n\n"
                else:
                    yield f"event: {item[0]}\ndata: {json.dumps(item[1], ensure_ascii=False, default=str)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    def session(self, body: Body) -> Session:
        """The session that a request is about."""
        session = self._sessions.get(str(body.get("session")))
        if session is None:
            raise SpecError("this tab has been closed; open the file again.")
        session.seen = time.monotonic()
        return session

    def _answered(self, work: Callable[[Session, Body], Any]) -> Answer:
        """A request about a session, answered outside the loop that serves all tabs."""

        async def answer(request: Request) -> Response:
            body = request.state.body
            found = await asyncio.to_thread(work, self.session(body), body)
            text = json.dumps(found if found is not None else {}, ensure_ascii=False, default=str)
            return Response(text, media_type="application/json")

        return answer


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise SpecError("a request is not JSON.") from error
    if not isinstance(body, dict):
        raise SpecError("a request is not a JSON object.")
    return body


def _text(body: Body, key: str) -> str:
    if not isinstance(body.get(key), str):
        raise SpecError(f"a request lacks the text {key!r}.")
    return str(body[key])


def _list(body: Body, key: str) -> list[Any]:
    if not isinstance(body.get(key), list):
        raise SpecError(f"a request lacks the list {key!r}.")
    return list(body[key])


REQUESTS: dict[str, Callable[[Session, Body], Any]] = {
    "edit": lambda session, body: session.edit(_list(body, "operations"), body.get("gesture")),
    "undo": lambda session, body: session.undo(),
    "redo": lambda session, body: session.redo(),
    "preview": lambda session, body: session.preview(),
    "tree": lambda session, body: session.tree(_text(body, "column")),
    "draft": lambda session, body: session.draft(_text(body, "column"), body.get("by")),
    "load": lambda session, body: session.load(*(_text(body, key) for key in ("column", "name", "text"))),
    "evaluate": lambda session, body: session.evaluate(),
    "explain": lambda session, body: session.explain(),
    "compare": lambda session, body: session.compare(_text(body, "key"), [float(x) for x in _list(body, "values")]),
    "commands": lambda session, body: {"commands": session.document.commands(_text(body, "to"))},
    "publish": lambda session, body: session.publish(_text(body, "to"), body.get("epsilon")),
}
"""What a page asks of its session, by name."""
