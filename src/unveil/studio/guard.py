"""What a request must be before anything looks at it: from this page, to this address, with the token, not large."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN = "x-unveil-token"  # noqa: S105 - the name of a header
LARGEST = 8 * 1024 * 1024
"""A request may have this many bytes: a taxonomy of a hundred thousand values."""
TOO_LARGE = f"A request may have {LARGEST:,} bytes."
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""No script but that of the page, nothing from elsewhere, and no page around it."""


class Guard:
    """Refuses requests that did not come from the page that this server has served."""

    def __init__(self, app: App, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on a request, or answers why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer = _with_headers(send)
        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refusal is not None:
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, answer)
            return
        await self._app(scope, _counted(receive), answer)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        """The status and the reason of a refusal; None if the request is fine."""
        host = headers.get("host", "")
        if host not in self._hosts:  # a name of somebody else that leads here: DNS rebinding
            return 403, "This is not the address of this server."
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return 403, "Other pages may not ask."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "Other pages may not ask."
        if method not in ("GET", "POST"):
            return 405, "There is nothing to do in this way."
        token = headers.get(TOKEN, "").encode()
        if path.startswith("/api/") and not secrets.compare_digest(token, self._token.encode()):
            return 403, "The token is missing or wrong."
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST:
            return 413, TOO_LARGE
        return None


def _counted(receive: Receive) -> Receive:
    """Receives no more bytes than a request may have, whatever its head says."""
    bytes_ = 0

    async def counted() -> MutableMapping[str, Any]:
        nonlocal bytes_
        message = await receive()
        bytes_ += len(message.get("body", b""))
        if bytes_ > LARGEST:
            raise HTTPException(413, TOO_LARGE, {"connection": "close"})
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def answer(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return answer
