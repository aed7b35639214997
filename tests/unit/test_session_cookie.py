"""The cookie of a session, as the server sets it."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from core.documents.cookie import COOKIE, SessionCookie, session_of
from core.documents.sessions import is_session_id

PAGE = {"accept": "text/html,application/xhtml+xml"}


def client(base: str = "http://app.example") -> TestClient:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("hola")

    paths = ("/", "/documents", "/api/health", "/_stcore/health")
    app = Starlette(routes=[Route(path, page) for path in paths], middleware=[Middleware(SessionCookie)])
    return TestClient(app, base_url=base)


def test_a_page_sets_a_random_cookie_out_of_reach_of_scripts_and_other_sites() -> None:
    first, second = client().get("/", headers=PAGE), client().get("/documents", headers=PAGE)
    said = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in said.split(";")}
    assert "Secure" not in said and "expires" not in said.lower() and "max-age" not in said.lower()
    ids = [response.cookies[COOKIE] for response in (first, second)]
    assert all(map(is_session_id, ids)) and ids[0] != ids[1]
    assert "Secure" in client("https://app.example").get("/", headers=PAGE).headers["set-cookie"]


def test_a_cookie_that_is_there_stays_and_one_of_another_form_is_replaced() -> None:
    browser = client()
    browser.get("/", headers=PAGE)
    assert "set-cookie" not in browser.get("/", headers=PAGE).headers
    bad = client().get("/", headers={**PAGE, "cookie": f"{COOKIE}=../../etc"})
    assert is_session_id(bad.cookies[COOKIE])


@pytest.mark.parametrize("path", ["/api/health", "/_stcore/health"])
def test_only_pages_set_it(path: str) -> None:
    assert "set-cookie" not in client().get(path, headers=PAGE).headers
    assert "set-cookie" not in client().get("/", headers={"accept": "*/*"}).headers
    assert "set-cookie" not in client().post("/", headers=PAGE).headers


def test_a_link_on_another_site_does_not_replace_the_session() -> None:
    """The browser holds a strict cookie back on such a visit: the page asks for itself again and then gets it."""
    response = client().get("/", headers={**PAGE, "sec-fetch-site": "cross-site"})
    assert "set-cookie" not in response.headers and 'http-equiv="refresh"' in response.text


def test_reading_it() -> None:
    assert session_of({COOKIE: "a" * 32}) == "a" * 32
    assert session_of({COOKIE: "../" + "a" * 29}) == session_of({}) == ""
