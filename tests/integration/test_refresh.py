"""Refreshing from the official address, tried against a server of the test's own."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.config import Settings
from core.corpus.refresh import refresh, with_refreshed
from core.models import DocumentInfo
from core.retrieval.indexer import Indexer
from core.retrieval.store import FragmentStore
from tests import hard_files as hard
from tests.conftest import FakeEmbedder

CONTENT: dict[str, tuple[int, bytes]] = {}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = CONTENT.get(self.path, (404, b"nada"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def info_for(address: str, settings: Settings, path: str = "/manual.pdf") -> DocumentInfo:
    settings.corpus_dir.mkdir(parents=True, exist_ok=True)
    old = hard.text_pdf(settings.corpus_dir / "manual.pdf", [["El tipo general es el 21 por ciento."]])
    digest = hashlib.sha256(old.read_bytes()).hexdigest()
    return DocumentInfo(
        "manual",
        "Manual",
        "IVA",
        "manual",
        "manual.pdf",
        source_url=address + path,
        sha256=digest,
        wheel="w==1",
        wheel_path="x",
        retrieved_at="2020-01-01",
    )


def test_a_new_edition_is_taken_dated_and_indexed(
    address: str, settings: Settings, embedder: FakeEmbedder, tmp_path
) -> None:
    info = info_for(address, settings)
    store = FragmentStore(settings.index_uri, dimension=embedder.dimension)
    Indexer(settings, [info], store, embedder).run(["manual"])
    new = hard.text_pdf(tmp_path / "new.pdf", [["El tipo general es el 22 por ciento."]]).read_bytes()
    CONTENT["/manual.pdf"] = (200, new)
    report = refresh([info], settings)
    assert report.changed == ("manual",) and not report.errors
    (refreshed,) = with_refreshed([info], settings)
    assert refreshed.sha256 == hashlib.sha256(new).hexdigest() and refreshed.retrieved_at > "2026-01-01"
    done = Indexer(settings, [refreshed], store, embedder).run(["manual"])
    assert [d.retrieved_at for d in done.done] == [refreshed.retrieved_at]
    assert "22 por ciento" in store.document("manual")[0].text
    assert refresh([refreshed], settings).same == ("manual",)


@pytest.mark.parametrize("answer", [(404, b"x"), (200, b"<html>mantenimiento</html>"), (200, b""), (500, b"")])
def test_what_is_not_the_document_is_refused_and_the_old_one_kept(
    address: str, settings: Settings, answer: tuple[int, bytes]
) -> None:
    info = info_for(address, settings)
    before = (settings.corpus_dir / "manual.pdf").read_bytes()
    CONTENT["/manual.pdf"] = answer
    report = refresh([info], settings)
    assert "«Manual»" in report.errors["manual"] and "Se conserva" in report.errors["manual"]
    assert (settings.corpus_dir / "manual.pdf").read_bytes() == before
    assert with_refreshed([info], settings) == (info,)


def test_an_address_that_does_not_answer(settings: Settings) -> None:
    info = info_for("http://127.0.0.1:9", settings)
    assert "conexión" in refresh([info], settings).errors["manual"]


def test_a_refreshed_file_that_was_altered_counts_no_more(address: str, settings: Settings, tmp_path) -> None:
    info = info_for(address, settings)
    CONTENT["/manual.pdf"] = (200, hard.text_pdf(tmp_path / "n.pdf", [["Otra edición del manual."]]).read_bytes())
    refresh([info], settings)
    (settings.corpus_dir / "manual.pdf").write_bytes(b"%PDF roto")
    assert with_refreshed([info], settings) == (info,)
