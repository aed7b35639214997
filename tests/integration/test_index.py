"""The index on a real LanceDB with a fake model: replacing, removing, stale parts, and being killed at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT, Settings
from core.errors import IndexNotReadyError
from core.models import DocumentInfo, Fragment
from core.retrieval.expected import KnownAnswers
from core.retrieval.indexer import DocumentProgress, Indexer
from core.retrieval.manifest import read_manifest
from core.retrieval.store import FragmentStore
from tests.conftest import FakeEmbedder

TEXTS = {
    "iva": "# IVA\n\n## Plazos\n\nEl modelo 303 se presenta del 1 al 20 de abril, julio y octubre.\n\n## Tipos\n\nEl tipo general es el 21 por ciento.",
    "irpf": "# IRPF\n\n## Pagos\n\nEl modelo 130 recoge el pago fraccionado del 20 por ciento del rendimiento.\n\n" + "Relleno del texto. " * 200,
    "facturas": "# Facturas\n\n## Contenido\n\nLa factura contendrá número, fecha y el NIF del obligado.\n\n" + "Otra frase más. " * 300,
}  # fmt: skip


def register_in(settings: Settings, texts: dict[str, str]) -> list[DocumentInfo]:
    """Documents already acquired: files in the corpus folder with their hashes."""
    settings.corpus_dir.mkdir(parents=True, exist_ok=True)
    found = []
    for doc_id, text in texts.items():
        path = settings.corpus_dir / f"{doc_id}.md"
        path.write_text(text, "utf-8")
        digest = sha256(path.read_bytes()).hexdigest()
        found.append(
            DocumentInfo(
                doc_id,
                doc_id.upper(),
                "IVA",
                "norma",
                path.name,
                sha256=digest,
                wheel="w==1",
                wheel_path="x",
                size=len(text),
            )
        )
    return found


def build(settings: Settings, texts: dict[str, str], embedder: FakeEmbedder) -> tuple[Indexer, FragmentStore]:
    store = FragmentStore(settings.index_uri, dimension=embedder.dimension)
    return Indexer(settings, register_in(settings, texts), store, embedder), store


def contents(store: FragmentStore, doc_ids: list[str]) -> dict[str, list[Fragment]]:
    return {d: store.document(d) for d in doc_ids}


def test_first_run_then_nothing_to_do(settings: Settings, embedder: FakeEmbedder) -> None:
    indexer, store = build(settings, TEXTS, embedder)
    seen: list[DocumentProgress] = []
    report = indexer.run(list(TEXTS), progress=seen.append)
    assert [d.doc_id for d in report.done] == ["iva", "irpf", "facturas"] and not report.errors  # smallest first
    assert {p.stage for p in seen} >= {"en espera", "leyendo", "calculando vectores", "listo"}
    assert store.count() == sum(d.fragments for d in report.done) > 4
    embedded = embedder.embedded
    again = indexer.run(list(TEXTS))
    assert again.done == () and set(again.unchanged) == set(TEXTS) and embedder.embedded == embedded


def test_search_dense_and_text_with_accents_and_stems_folded(settings: Settings, embedder: FakeEmbedder) -> None:
    indexer, store = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    (best, score), *_ = store.full_text("qué presentación tienen los MODELOS 303", 3)
    assert "modelo 303" in best.text and score > 0
    (best, cosine), *_ = store.dense(embedder.embed_query("tipo general 21 por ciento"), 2)
    assert "21 por ciento" in best.text and 0 < cosine <= 1.0001
    for odd in ('"', "it's", "a AND (b", "\\", "%_", "ñ" * 500, "¿?"):
        store.full_text(odd, 3)


def test_a_changed_document_replaces_its_fragments(settings: Settings, embedder: FakeEmbedder) -> None:
    indexer, store = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    before = contents(store, ["irpf"])
    changed = {**TEXTS, "iva": TEXTS["iva"].replace("21", "22")}
    indexer, store = build(settings, changed, embedder)
    report = indexer.run(list(TEXTS))
    assert [d.doc_id for d in report.done] == ["iva"]
    text = " ".join(f.text for f in store.document("iva"))
    assert "22 por ciento" in text and "21 por ciento" not in text
    assert contents(store, ["irpf"]) == before


def test_a_removed_document_disappears_unless_only_some_were_asked_for(
    settings: Settings, embedder: FakeEmbedder
) -> None:
    indexer, store = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    indexer.run(["iva"], prune=False)
    assert set(store.counts_by_document()) == set(TEXTS)
    report = indexer.run(["iva", "irpf"])
    assert report.removed == ("facturas",) and set(store.counts_by_document()) == {"iva", "irpf"}
    assert set(read_manifest(indexer.manifest_path).documents) == {"iva", "irpf"}


def test_an_index_made_with_another_model_is_rebuilt_never_searched(settings: Settings, embedder: FakeEmbedder) -> None:
    from core.privacy.redactor import shared_redactor
    from core.retrieval.adapter import IDENTITY
    from core.retrieval.reranker import FusionReranker
    from core.retrieval.store import QuestionStore
    from core.services import Services
    from core.thresholds import load_thresholds

    indexer, store = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    other = FakeEmbedder()
    other.fingerprint = "fake-2"  # type: ignore[misc]
    newer, store = build(settings, TEXTS, other)
    services = Services(
        settings,
        tuple(register_in(settings, TEXTS)),
        load_thresholds(),
        other,
        store,
        QuestionStore(settings.index_uri, dimension=other.dimension),
        newer,
        IDENTITY,
        FusionReranker(),
        KnownAnswers({}),
        shared_redactor(settings),
    )
    assert not newer.is_current() and newer.manifest().documents == {}
    with pytest.raises(IndexNotReadyError, match="otro modelo"):
        services.search()
    report = newer.run(list(TEXTS))
    assert len(report.done) == 3 and newer.is_current()
    assert services.search().search("modelo 303", 2)


def test_an_error_in_one_document_leaves_the_others(settings: Settings, embedder: FakeEmbedder) -> None:
    register = register_in(settings, TEXTS)
    bad = settings.corpus_dir / "malo.md"
    bad.write_bytes(b"   ")
    register.append(
        DocumentInfo("malo", "MALO", "IVA", "norma", bad.name, sha256=sha256(bad.read_bytes()).hexdigest(), wheel="w==1", wheel_path="y")
    )  # fmt: skip
    store = FragmentStore(settings.index_uri, dimension=embedder.dimension)
    report = Indexer(settings, register, store, embedder).run([i.doc_id for i in register])
    assert len(report.done) == 3 and "vacío" in report.errors["malo"]


def test_a_document_that_cannot_be_had_is_named_and_the_others_stay(
    settings: Settings, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    indexer, _ = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    register = register_in(settings, TEXTS)
    missing = replace(register[0], doc_id="lejano", filename="lejano.md", wheel="no-such-wheel==9.9")
    store = FragmentStore(settings.index_uri, dimension=embedder.dimension)
    report = Indexer(settings, [*register, missing], store, embedder).run([*TEXTS, "lejano"])
    assert "lejano" in report.errors and set(report.unchanged) == set(TEXTS)
    assert store.full_text("modelo 303", 1)


def test_a_quote_in_an_id_injects_nothing(settings: Settings, embedder: FakeEmbedder) -> None:
    indexer, store = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    count = store.count()
    store.remove_document("x' OR '1'='1")
    assert store.document("x' OR doc_id != '") == [] and store.count() == count


def test_section_around_gives_the_section_in_order(settings: Settings, embedder: FakeEmbedder) -> None:
    indexer, store = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    fragments = store.document("facturas")
    around = store.section_around(fragments[1])
    assert [f.ordinal for f in around] == sorted(f.ordinal for f in around) and fragments[1] in around
    assert {f.section_path for f in around} == {fragments[1].section_path}


CHILD = """
import sys, time
from pathlib import Path
from core.config import Settings
from tests.conftest import FakeEmbedder
from tests.integration.test_index import TEXTS, build
class Slow(FakeEmbedder):
    def embed_passages(self, texts, *, progress=None):
        time.sleep(0.15)
        return super().embed_passages(texts, progress=progress)
indexer, _ = build(Settings(home=Path(sys.argv[1])), TEXTS, Slow())
print("ready", flush=True)
indexer.run(list(TEXTS))
"""


def run_child(home: Path, kill_after: float | None) -> float:
    """Index in a process of its own; returns how long it ran, from the moment that it began to index."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(home)], cwd=PROJECT_ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    started = time.monotonic()
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child.pid, signal.SIGKILL)
    child.wait(timeout=120)
    assert kill_after is not None or child.returncode == 0, "the run that nobody disturbed did not end well"
    return time.monotonic() - started


def test_killed_at_20_random_moments_the_next_run_ends_with_the_same_index(tmp_path: Path) -> None:
    undisturbed = Settings(home=tmp_path / "undisturbed")
    duration = run_child(undisturbed.home, None)
    reference = contents(FragmentStore(undisturbed.index_uri, dimension=64), list(TEXTS))
    assert all(reference.values())
    moments = random.Random(7)
    interrupted = 0
    settings = Settings(home=tmp_path / "killed")
    for round_number in range(20):
        if round_number % 2 == 0:  # every other time from nothing, else on what the kill before has left
            settings = Settings(home=tmp_path / f"killed{round_number}")
        run_child(settings.home, moments.uniform(0, duration))
        done = read_manifest(settings.state_dir / "manifest.json").documents
        interrupted += len(done) < len(TEXTS)
        if round_number % 2 == 1:
            run_child(settings.home, None)
            store = FragmentStore(settings.index_uri, dimension=64)
            assert contents(store, list(TEXTS)) == reference
            assert store.count() == sum(len(f) for f in reference.values())
            assert store.full_text("modelo 303", 1)
    assert interrupted >= 5  # the kills did hit runs under way


def test_manifest_is_readable_json_with_what_the_corpus_page_shows(settings: Settings, embedder: FakeEmbedder) -> None:
    indexer, _ = build(settings, TEXTS, embedder)
    indexer.run(list(TEXTS))
    data = json.loads(indexer.manifest_path.read_text("utf-8"))
    assert set(data["documents"]["iva"]) >= {
        "pages",
        "fragments",
        "tables",
        "warnings",
        "document_date",
        "retrieved_at",
    }
