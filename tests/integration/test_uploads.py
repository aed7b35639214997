"""Uploads that are too much, read in the real worker, and the real files that people upload."""

import random
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT, Settings
from core.documents.intake import Upload
from core.documents.sessions import Sessions, new_session_id
from tests.private_documents import library


def pdf_with_stream(content: bytes) -> bytes:
    """A one-page PDF whose content stream is ``content``, compressed."""
    packed = zlib.compress(content, 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed) + packed + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start


TEXT = b"BT /F1 12 Tf 50 700 Td (Contrato de arrendamiento de local de negocio) Tj ET\n"
LIMITS = {"upload_stall_s": 10.0, "upload_timeout_s": 20.0, "upload_memory_mb": 1200}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(pdf_with_stream(TEXT + b" " * (1100 * 2**20)), id="decompression bomb"),
        pytest.param(pdf_with_stream(TEXT + b"1 1 m 9 9 l S " * 4_000_000), id="a page that makes the parser spin"),
    ],
)
def test_what_is_too_much_for_the_parser_is_killed_while_others_are_served(data: bytes, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, **LIMITS)
    slow, other = library(settings), library(settings)
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.extend(slow.add([Upload("mucho.pdf", data)])))
    begun = time.monotonic()
    thread.start()
    (served,) = other.add([Upload("otro.md", b"El local cuesta 900,00 euros.")])
    assert served.document is not None
    thread.join(60)
    took = time.monotonic() - begun
    (outcome,) = outcomes
    assert outcome.document is None and outcome.error, "it must be refused"
    assert took < 40, took
    assert slow.documents() == () and list((settings.private_dir / slow.session_id / "staging").iterdir()) == []


def test_two_hundred_megabytes_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    (outcome,) = library(settings).add([Upload("enorme.pdf", b"%PDF-1.7" + bytes(200 * 2**20))])
    assert "200 MB" in outcome.error and not settings.home.exists()


def test_the_files_that_people_really_upload(cases: Path, tmp_path: Path) -> None:
    own = library(Settings(home=tmp_path))
    names = "factura_2026-014.pdf factura_2026-014_copia.pdf inyeccion_texto_oculto.pdf escaneada_solo_imagen.pdf datos.csv".split()
    outcomes = dict(zip(names, own.add([Upload(n, (cases / n).read_bytes()) for n in names]), strict=True))
    invoice = outcomes["factura_2026-014.pdf"].document
    assert invoice is not None and (invoice.pages, invoice.tables, invoice.findings) == (1, 1, ())
    assert "no se ha duplicado" in outcomes["factura_2026-014_copia.pdf"].note
    assert outcomes["escaneada_solo_imagen.pdf"].error and outcomes["datos.csv"].error
    hidden = outcomes["inyeccion_texto_oculto.pdf"].document
    assert hidden is not None and any("oculto" in w for w in hidden.warnings)
    assert not any("9.999,99" in f.text for f in own.holdings().fragments)
    assert own.page_image(invoice.doc_id, 1, ("Total a pagar: 1.425,00 €",)).startswith(b"\x89PNG")
    new = (cases / "v2" / "factura_2026-014.pdf").read_bytes()
    (replaced,) = own.add([Upload("factura_2026-014.pdf", new)])
    text = "\n".join(f.text for f in own.text(replaced.document.doc_id if replaced.document else ""))
    assert (
        "1.482,00" in text
        and "Sustituye" in replaced.note
        and invoice.doc_id not in [d.doc_id for d in own.documents()]
    )


# The product's own redactor and reader. Whatever happens, it says so on its way, so that the kill can hit every stage.
CHILD = """
import sys
from pathlib import Path
from core.config import Settings
from core.documents.intake import Upload
from core.documents.redaction import SessionRedactor
from core.privacy.placeholders import Placeholders
from core.privacy.redactor import Redactor
from tests.private_documents import library
home, models, session, text = sys.argv[1:]
redactor = Redactor(Settings(home=Path(models)))
redactor.load()
own = library(Settings(home=Path(home)), session, redactor=SessionRedactor(redactor, Placeholders()))
for number in sys.stdin:
    print("ready", flush=True)
    own.add([Upload(f"carta {number.strip()}.md", (text + number).encode())])
    print("done", flush=True)
"""


def start_upload_in(child: subprocess.Popen[str], name: str) -> None:
    """Have the child begin an upload."""
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(f"{name}\n")
    child.stdin.flush()
    assert child.stdout.readline() == "ready\n"


def upload_in(child: subprocess.Popen[str], name: str) -> float:
    """Have the child upload a file to the end; how long it took, in seconds."""
    start_upload_in(child, name)
    begun = time.monotonic()
    assert child.stdout is not None and child.stdout.readline() == "done\n"
    return time.monotonic() - begun


def test_sigkill_at_random_moments_with_the_real_redactor(tmp_path: Path, project_settings: Settings) -> None:
    """Each child uploads twice undisturbed, which tells how long it takes, and is then killed within a third upload."""
    secret = "12345678Z"
    text = "\n".join(
        f"# Carta {n}\n\nDon Anselmo Fingido Prueba, NIF {secret}, debe {n},00 euros.\n" for n in range(60)
    )
    settings, moments = Settings(home=tmp_path), random.Random(20261130)
    interrupted = 0
    for turn in range(2):
        session = new_session_id()
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), str(project_settings.home), session, text],
            cwd=PROJECT_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        took = 0.0
        for undisturbed in ("uno", "dos"):  # the first also warms the child up
            took = upload_in(child, f"{undisturbed} {turn}")
        start_upload_in(child, f"tres {turn}")
        time.sleep(moments.uniform(0.1, 0.8) * took)
        child.kill()
        child.wait()
        Sessions(settings).sweep(starting=True)  # what the next start does
        own = library(settings, session)
        documents = own.documents()
        interrupted += len(documents) == 2
        folder = settings.private_dir / session
        assert 2 <= len(documents) <= 3
        assert {f.doc_id for f in own.holdings().fragments} == {d.doc_id for d in documents}
        assert all(len(own.text(d.doc_id)) == d.fragments for d in documents)
        assert sorted(p.name for p in (folder / "files").iterdir()) == sorted(d.filename for d in documents)
        assert sorted(p.name for p in (folder / "index").iterdir()) == sorted(f"{d.doc_id}.lance" for d in documents)
        assert list((folder / "staging").iterdir()) == [] and not (folder / "session.json.partial").exists()
        assert not any(secret in f.text or "Anselmo" in f.text for f in own.holdings().fragments)
    assert interrupted, "no kill hit an upload under way"
