"""The cookie that names a session: set by the server, out of reach of scripts and of other sites."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from core.documents.sessions import is_session_id, new_session_id

COOKIE = "asesoria_session"
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# A page that asks for itself again: the second request comes from this site, and so brings the cookie if there is one.
_AGAIN = b'<!doctype html><meta http-equiv="refresh" content="0"><title>AsesorIA</title>'


def session_of(cookies: Mapping[str, str]) -> str:
    """The session's id from the request's cookies; '' where there is none of the right form."""
    value = cookies.get(COOKIE, "")
    return value if is_session_id(value) else ""


class SessionCookie:
    """ASGI middleware: whoever opens a page without a session's cookie gets one (HttpOnly, SameSite=Strict).

    It has no expiry date, so it goes with the browser; what it names goes by age (`core.documents.sessions`). A page
    opened from a link on another site comes without the cookie even where there is one: it is asked for again.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on; add the cookie to the answer of a page."""
        headers = dict(scope.get("headers", ()))
        if not _is_page(scope, headers) or _has_session(headers):
            await self._app(scope, receive, send)
            return
        if headers.get(b"sec-fetch-site") == b"cross-site":
            await _send_again(send)
            return
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        cookie = f"{COOKIE}={new_session_id()}; Path=/; HttpOnly; SameSite=Strict{secure}".encode("ascii")

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"set-cookie", cookie),
                    (b"cache-control", b"no-store"),
                ]
            await send(message)

        await self._app(scope, receive, with_cookie)


def _is_page(scope: Message, headers: Mapping[bytes, bytes]) -> bool:
    if scope["type"] != "http" or scope.get("method") != "GET":
        return False
    path = str(scope.get("path", ""))
    return b"text/html" in headers.get(b"accept", b"") and not path.startswith(("/_stcore/", "/api/", "/static/"))


def _has_session(headers: Mapping[bytes, bytes]) -> bool:
    try:
        found: SimpleCookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return False
    return bool(session_of({name: morsel.value for name, morsel in found.items()}))


async def _send_again(send: Send) -> None:
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": _AGAIN})
