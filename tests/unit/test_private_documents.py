"""Life of a session's documents, with the fake embedder, a plain redactor and a real LanceDB."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT, Settings
from core.documents.intake import Upload, shown_name
from core.documents.library import SessionDocuments, UploadProgress
from core.documents.sessions import Sessions, is_session_id, new_session_id
from core.errors import AcquisitionError, SessionEndedError
from core.models import LoadedDocument, Scope
from tests.conftest import FakeEmbedder
from tests.private_documents import INVOICE, RegexRedactor, library


def note(text: str, name: str = "nota.md") -> Upload:
    return Upload(name, text.encode())


def files_of(settings: Settings) -> list[Path]:
    return [p for p in settings.private_dir.rglob("*") if p.is_file()] if settings.private_dir.is_dir() else []


def holds(folder: Path, words: list[str]) -> list[str]:
    """Which of the words stand in any file's bytes or name, in the encodings that stores use."""
    found = set()
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for word in words:
            if any(word.encode(code) in data for code in ("utf-8", "utf-16-le")) or word in str(path):
                found.add(word)
    return sorted(found)


def test_an_upload_is_read_redacted_and_searchable(settings: Settings) -> None:
    own = library(settings)
    seen: list[UploadProgress] = []
    (outcome,) = own.add([note(INVOICE, "factura 12345678Z.md")], progress=seen.append)
    document = outcome.document
    assert document is not None and not outcome.error
    assert dict(document.redacted) == {"NIF": 1, "EMAIL": 1, "IBAN": 1}
    assert document.title == "factura <NIF>.md" and document.name == "factura 12345678Z.md"
    assert seen[0].stage == "leyendo" and seen[-1].stage == "listo"
    holdings = own.holdings()
    text = "\n".join(f.text + f.title for f in holdings.fragments)
    assert "Total a pagar: 1.425,00 €" in text and "<NIF_1>" in text and "12345678Z" not in text
    assert {(f.source_scope, f.session_id) for f in holdings.fragments} == {(Scope.PRIVATE, own.session_id)}
    assert holdings.vectors.shape == (len(holdings.fragments), FakeEmbedder.dimension)


def test_no_vector_or_row_is_made_of_unredacted_text(settings: Settings) -> None:
    class Spy(FakeEmbedder):
        texts: list[str] = []  # noqa: RUF012

        def embed_passages(self, texts, *, progress=None):
            self.texts.extend(texts)
            return super().embed_passages(texts, progress=progress)

        def count_tokens_batch(self, texts):
            self.texts.extend(texts)
            return super().count_tokens_batch(texts)

    spy = Spy()
    own = library(settings, embedder=spy)
    own.add([note(INVOICE)])
    assert spy.texts and not any("12345678Z" in t or "lucia.prueba" in t or "9999 0001" in t for t in spy.texts)
    (session,) = settings.private_dir.iterdir()
    assert holds(session / "index", ["12345678Z", "lucia.prueba"]) == []


@pytest.mark.parametrize("broken", ["model", "document", "title"])
def test_without_redaction_nothing_is_kept(settings: Settings, broken: str) -> None:
    class Broken(RegexRedactor):
        def redact_document(self, document: LoadedDocument, *, progress=None):
            if broken == "model":
                raise AcquisitionError("El modelo de nombres no se ha podido descargar.")
            if broken == "document":
                raise KeyError("12345678Z")
            return super().redact_document(document)

        def redact_title(self, title: str) -> str:
            if broken == "title":
                raise RuntimeError(title)
            return super().redact_title(title)

    own = SessionDocuments(
        Sessions(settings), new_session_id(), settings=settings, embedder=FakeEmbedder(), redactor=Broken()
    )
    (outcome,) = own.add([note(INVOICE)])
    assert outcome.document is None and "datos personales" in outcome.error and "12345678Z" not in outcome.error
    assert own.documents() == () and holds(settings.home, ["12345678Z", "1.425,00"]) == []


def test_the_same_file_and_the_same_name(settings: Settings) -> None:
    own = library(settings)
    own.add([note(INVOICE, "a.md")])
    (again,) = own.add([note(INVOICE, "a.md")])
    (copy,) = own.add([note(INVOICE, "b.md")])
    assert "Ya estaba" in again.note and "mismo archivo que «a.md»" in copy.note and len(own.documents()) == 1
    count = len(own.holdings().fragments)
    (new,) = own.add([note(INVOICE.replace("15/04/2026", "16/04/2026"), "a.md")])
    assert "Sustituye" in new.note and len(own.documents()) == 1
    text = "\n".join(f.text for f in own.holdings().fragments)
    assert "16/04/2026" in text and "15/04/2026" not in text and len(own.holdings().fragments) == count
    assert holds(settings.home, ["15/04/2026"]) == []


def test_the_old_version_stays_until_the_new_one_is_complete(settings: Settings) -> None:
    own = library(settings)
    own.add([note(INVOICE, "a.md")])
    (bad,) = own.add([note("   ", "a.md")])
    assert bad.error and [d.name for d in own.documents()] == ["a.md"]
    assert "1.425,00" in own.holdings().fragments[-1].text


NAMES = [
    'con "comillas" y \'otras\'.md', "año_ñandú_çédille.md", "😀 factura 🧾.md", "x" * 200 + ".md", "../../../etc/passwd.md",
    "..", "-rf.md", "línea\nnueva.md", "$HOME;rm -rf *.md", "<script>alert(1)</script>.md", "a/b\\c.md", "\u202egnp.md", " .md",
    "%2e%2e%2f.md", "nul\x00l.md", "[enlace](http://x).md",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_accepted_shown_on_a_line_and_removable(settings: Settings, name: str) -> None:
    own = library(settings)
    upload = Upload(name, f"Contenido único {name!r} de la prueba.".encode())
    (outcome,) = own.add([upload])
    if name == "..":
        assert "sin extensión" in outcome.error
        return
    assert outcome.document is not None, outcome.error
    shown = shown_name(name)
    assert "\n" not in shown and "\x00" not in shown and "\u202e" not in shown and 0 < len(shown) <= 120
    inside = settings.private_dir / own.session_id
    assert all(p.is_relative_to(inside) for p in files_of(settings))
    assert {p.name for p in (inside / "files").iterdir()} == {outcome.document.filename}
    own.remove(outcome.document.doc_id)
    assert (
        own.documents() == () and list((inside / "files").iterdir()) == [] and list((inside / "index").iterdir()) == []
    )


def test_errors_of_one_file_leave_the_others(settings: Settings) -> None:
    own = library(settings)
    outcomes = own.add(
        [note("hola", "a.docx"), Upload("b.pdf", b""), note(INVOICE, "c.md"), Upload("d.pdf", b"%PDF-1.7")]
    )
    assert [bool(o.error) for o in outcomes] == [True, True, False, True]
    assert "PDF, TXT o Markdown" in outcomes[0].error and "vacío" in outcomes[1].error
    assert list((settings.private_dir / own.session_id / "staging").iterdir()) == []


def test_quotas_and_size(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, session_documents=2, session_pages=2, upload_max_mb=1)
    own = library(settings)
    outcomes = own.add([note(f"Documento número {n}.", f"{n}.md") for n in range(3)])
    assert [bool(o.error) for o in outcomes] == [False, False, True] and "máximo" in outcomes[2].error
    (big,) = own.add([Upload("0.md", b"a" * (2**20 + 1))])
    assert "el máximo es 1 MB" in big.error
    (replaced,) = own.add([note("Otro contenido.", "0.md")])
    assert replaced.document is not None


@pytest.mark.parametrize(
    "bad", ["", "..", "../x", "A" * 32, "a" * 31, "a" * 33, "a" * 32 + "\n", "a" * 31 + "/", None, 5]
)
def test_ids_from_outside_are_checked_before_the_disk(settings: Settings, bad: object) -> None:
    assert not is_session_id(bad)
    with pytest.raises(SessionEndedError):
        Sessions(settings).at(bad)  # type: ignore[arg-type]
    assert not settings.home.exists()


def test_ids_are_random_and_128_bits_long() -> None:
    ids = {new_session_id() for _ in range(1000)}
    assert len(ids) == 1000 and all(is_session_id(i) and len(bytes.fromhex(i)) == 16 for i in ids)


def test_removal_and_end_leave_no_byte(settings: Settings) -> None:
    """50 planted strings, repeated so that any compression would be tempted; original, rows, record and logs."""
    planted = [f"secreto-plantado-{n:02d}-{random.Random(n).getrandbits(64):016x}" for n in range(50)]
    own, other = library(settings), library(settings)
    other.add([note("Documento de otra sesión.")])
    for start in range(0, 50, 10):
        body = "\n\n".join(f"El código es {p}. " * 40 for p in planted[start : start + 10])
        (outcome,) = own.add([note(body, f"{planted[start]}.md")])
        assert outcome.document is not None
    assert holds(settings.home, planted) == planted, "the search of bytes must be able to find them"
    first, *rest = own.documents()
    own.remove(first.doc_id)
    assert holds(settings.home, planted) == planted[10:]
    for document in rest[:2]:
        own.remove(document.doc_id)
    own.remove_all()
    assert holds(settings.home, planted) == []
    assert [p.name for p in settings.private_dir.iterdir()] == [other.session_id]
    assert len(other.documents()) == 1 and own.documents() == () and own.holdings().fragments == ()
    own.remove("p_00")
    own.remove_all()


def test_age_and_closed_tabs_end_a_session(settings: Settings) -> None:
    sessions = Sessions(settings)
    own = library(settings)
    own.add([note(INVOICE)])
    record = settings.private_dir / own.session_id / "session.json"

    def used_ago(hours: float) -> None:
        os.utime(record, (time.time() - hours * 3600,) * 2)

    used_ago(settings.session_hours - 0.1)
    sessions.enter(own.session_id)
    sessions.enter(own.session_id)
    sessions.leave(own.session_id)
    assert sessions.sweep() == 0
    sessions.leave(own.session_id)
    assert sessions.sweep() == 0, "just left: a reload finds it"
    used_ago(settings.session_away_minutes / 60 + 0.1)
    assert sessions.sweep() == 1 and files_of(settings) == [] and list(settings.private_dir.iterdir()) == []
    own.add([note(INVOICE)])
    used_ago(settings.session_hours + 0.1)
    assert Sessions(settings).sweep() == 1 and list(settings.private_dir.iterdir()) == []


def test_the_sweep_removes_what_no_record_vouches_for(settings: Settings) -> None:
    own = library(settings)
    own.add([note(INVOICE)])
    folder = settings.private_dir / own.session_id
    kept = sorted(p for p in files_of(settings) if p.name != ".lock")
    for stray in (
        folder / "files" / "p_ff.pdf",
        folder / "staging" / "aa" / "original.pdf",
        folder / "index" / "p_ff.lance" / "data" / "x.lance",
        folder / "session.json.partial",
        settings.private_dir / ".ending-aa" / "files" / "x.pdf",
        settings.private_dir / ("b" * 32) / "files" / "x.pdf",
        settings.private_dir / "otra cosa",
    ):
        stray.parent.mkdir(parents=True, exist_ok=True)
        stray.write_text("resto de un corte")
    empty = library(settings)
    with Sessions(settings).stage(empty.session_id):
        pass
    assert Sessions(settings).sweep(starting=True) == 2
    assert sorted(p for p in files_of(settings) if p.name != ".lock") == kept
    assert len(own.documents()) == 1 and "1.425,00" in own.holdings().fragments[-1].text


def test_an_upload_under_way_survives_the_sweep_and_not_the_end(settings: Settings) -> None:
    sessions = Sessions(settings)
    own = library(settings)

    class Slow(RegexRedactor):
        def redact_document(self, document: LoadedDocument, *, progress=None):
            assert Sessions(settings).sweep(starting=True) == 0
            if self.end:
                sessions.end(own.session_id)
            return super().redact_document(document)

        end = False

    slow = Slow()
    own._redactor = slow
    (outcome,) = own.add([note(INVOICE)])
    assert outcome.document is not None
    slow.end = True
    (outcome,) = own.add([note(INVOICE + "\nOtra.", "otra.md")])
    assert outcome.document is None and "ya se han borrado" in outcome.error
    assert Sessions(settings).sweep() == 0 and files_of(settings) == []


CHILD = """
import sys, time
from pathlib import Path
from core.config import Settings
from core.documents.intake import Upload
from tests.private_documents import INVOICE, RegexRedactor, library
import core.documents.library as lib
home, session, where = sys.argv[1:]
settings = Settings(home=Path(home))
own = library(settings, session)
own.add([Upload("primera.md", INVOICE.encode())])
def hang(*args, **kwargs):
    print("here", flush=True); time.sleep(60)
if where == "reading": lib.read_upload = hang
elif where == "redacting": RegexRedactor.redact_document = hang
elif where == "publishing": lib.write_record = hang
elif where == "erasing": lib.SessionDocuments._erase = hang
own.add([Upload("primera.md", INVOICE.replace("15/04/2026", "16/04/2026").encode())])
"""


@pytest.mark.parametrize("where", ["reading", "redacting", "publishing", "erasing"])
def test_sigkill_during_an_upload_leaves_nothing_half_done(settings: Settings, where: str) -> None:
    session = new_session_id()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(settings.home), session, where],
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdout.readline().strip() == "here"
    child.kill()
    child.wait()
    Sessions(settings).sweep(starting=True)
    own = library(settings, session)
    (document,) = own.documents()
    text = "\n".join(f.text for f in own.holdings().fragments)
    folder = settings.private_dir / session
    shown, gone = ("16/04/2026", "15/04/2026") if where == "erasing" else ("15/04/2026", "16/04/2026")
    assert shown in text and gone not in text and holds(settings.home, [gone]) == []
    assert [p.name for p in (folder / "files").iterdir()] == [document.filename]
    assert [p.name for p in (folder / "index").iterdir()] == [f"{document.doc_id}.lance"]
    assert list((folder / "staging").iterdir()) == [] and not (folder / "session.json.partial").exists()


def test_two_tabs_at_once_do_not_lose_a_document(settings: Settings) -> None:
    from concurrent.futures import ThreadPoolExecutor

    session = new_session_id()
    tabs = [library(settings, session) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: tabs[n % 4].add([note(f"Documento número {n}.", f"{n}.md")]), range(12)))
    assert len(tabs[0].documents()) == 12
    assert len({f.doc_id for f in tabs[0].holdings().fragments}) == 12


def test_no_log_holds_a_users_text(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    own = library(settings)
    own.add([note(INVOICE, "mi-nombre-secreto.md"), note("x", "otro-secreto.docx")])
    own.remove_all()
    said = caplog.text
    assert not any(word in said for word in ("secreto", "1.425", "Lucía", own.session_id))


def test_a_damaged_record_ends_the_session(settings: Settings) -> None:
    own = library(settings)
    own.add([note(INVOICE)])
    (settings.private_dir / own.session_id / "session.json").write_text(json.dumps({"documents": [{}]}))
    assert own.documents() == ()
    assert Sessions(settings).sweep() == 1 and files_of(settings) == []
