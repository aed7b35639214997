"""Search and answers over the public corpus and one session's documents, with fakes."""

import random
import re
from types import SimpleNamespace

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.answering.both import OWN_HEADING, RULE_HEADING, plain, private_passages
from core.answering.checking import DraftChecker
from core.answering.engine import AnswerEngine
from core.api import routes
from core.config import Settings
from core.documents.cookie import COOKIE
from core.documents.intake import Upload
from core.documents.library import SessionDocuments
from core.documents.reference import read_reference
from core.documents.relevance import NAMES, RelevanceModel, at_prior
from core.documents.search import SessionSearch
from core.documents.strangers import strangers
from core.errors import SessionEndedError
from core.models import Answer, Category, Fragment, RetrievedFragment, Scope, Source
from core.retrieval.adapter import IDENTITY
from core.retrieval.expected import KnownAnswers
from core.retrieval.features import CandidateSet
from core.retrieval.search import SearchResult
from core.retrieval.terms import TermStatistics
from core.thresholds import load_thresholds
from tests.conftest import FakeEmbedder
from tests.private_documents import INVOICE, library
from tests.unit.test_answering import SENTENCES, scope_model

TERMS = TermStatistics({}, 1000)
RULE = Fragment(
    id="rule", text="El tipo general del IVA es del 21 por ciento. El IVA de la factura es deducible si está afecta.", doc_id="iva",
    title="Manual IVA", tax="IVA", doc_type="manual", section_label="Tipos", section_path=("Tipos",), page=3, page_end=3,
    source_url="https://x.es", retrieved_at="2026-01-01",
)  # fmt: skip


class FakePublic:
    """One public fragment, with the vectors of the fake embedder."""

    def __init__(self, relevance: float = 0.7) -> None:
        self._relevance = relevance

    def run(self, question: str, k: int) -> SearchResult:
        vector = FakeEmbedder().embed_query(question)
        found = (RetrievedFragment(RULE, self._relevance),)
        return SearchResult(found, vector, vector, CandidateSet([], np.zeros((0, 28), np.float32)), {})


def by_coverage() -> RelevanceModel:
    """A fragment answers if it holds the question's words."""
    weights = np.zeros(len(NAMES) + 1)
    weights[NAMES.index("coverage")], weights[NAMES.index("coverage_gap")], weights[-1] = 4.0, 6.0, -2.0
    return RelevanceModel(weights, np.zeros(len(NAMES)), np.ones(len(NAMES)), 0.5)


def search(own: SessionDocuments, *, relevance: float = 0.7) -> SessionSearch:
    return SessionSearch(
        FakePublic(relevance), own, adapter=IDENTITY, terms=lambda: TERMS, model=by_coverage(), thresholds=load_thresholds().documents
    )  # fmt: skip


def engine(*, answers: bool = True) -> AnswerEngine:
    return AnswerEngine(
        retriever=FakePublic(), neighbours=lambda f: [f], terms=lambda: TERMS, about=lambda _: (None, ""), scope=scope_model(answers, size=FakeEmbedder.dimension), sentences=SENTENCES,
        known=KnownAnswers({}),
        thresholds=load_thresholds(), max_question_chars=300, verify=DraftChecker(load_thresholds()),
    )  # fmt: skip


def upload(text: str, name: str = "factura.md") -> Upload:
    return Upload(name, text.encode())


@pytest.fixture
def own(settings: Settings) -> SessionDocuments:
    documents = library(settings)
    documents.add([upload(INVOICE)])
    return documents


def test_a_thousand_questions_never_reach_another_session(settings: Settings) -> None:
    rng = random.Random(6)
    words = "factura total fianza alquiler cliente importe plazo requerimiento modelo retención contrato cuota".split()
    searches, secrets = [], []
    for number in range(8):
        documents = library(settings)
        mine = [f"clave{number:02d}x{rng.getrandbits(48):012x}" for _ in range(6)]
        for part in range(3):
            body = "\n\n".join(
                f"{rng.choice(words)} {w} {rng.choice(words)}: {m}"
                for w in words
                for m in mine[2 * part : 2 * part + 2]
            )
            documents.add([upload(body, f"{part}.md")])
        searches.append(search(documents))
        secrets.append(mine)
    found_own = 0
    for _ in range(1000):
        asking, other = rng.sample(range(8), 2)
        theirs = rng.choice(secrets[other])
        question = " ".join(
            [*rng.sample(words, 3), theirs, rng.choice(["", "mi factura", rng.choice(secrets[asking])])]
        )
        result = searches[asking].run(question, rng.choice([1, 5, 8, 50]))
        me = searches[asking].documents.session_id
        private = [
            hit.fragment for hit in (*result.found, *result.private) if hit.fragment.source_scope is Scope.PRIVATE
        ]
        assert {f.session_id for f in private} <= {me}
        text = "\n".join(f.text for f in private)
        assert not any(secret in text for n in range(8) if n != asking for secret in secrets[n])
        found_own += bool(private)
    assert found_own > 900, "the test must see private fragments to mean anything"


def test_a_table_that_is_not_ones_own_is_refused(settings: Settings, own: SessionDocuments) -> None:
    """Even if files were moved about on the disk, rows of another session are not read."""
    import shutil

    thief = library(settings)
    thief.add([upload("Documento del ladrón.", "x.md")])
    (mine,), (theirs,) = thief.documents(), own.documents()
    index = settings.private_dir / thief.session_id / "index"
    shutil.rmtree(index / f"{mine.doc_id}.lance")
    shutil.copytree(
        settings.private_dir / own.session_id / "index" / f"{theirs.doc_id}.lance", index / f"{mine.doc_id}.lance"
    )
    thief.forget()
    with pytest.raises(SessionEndedError):
        thief.holdings()


@pytest.mark.parametrize(
    ("question", "own", "bare", "rule"),
    [
        ("¿Qué total sale en mi factura?", True, True, False),
        ("¿qué total sale?", False, True, False),
        ("¿Cuándo vence?", False, True, False),
        ("cuanto pone de retencion la factura", True, True, False),
        ("¿Qué plazo me da la carta que he recibido?", True, True, False),
        ("¿De cuánto es la fianza del contrato?", True, True, False),
        ("¿Puedo deducirme el IVA de esta factura?", True, False, True),
        ("he subido un requerimiento, ¿qué me piden?", True, True, False),
        ("¿Cuál es el total de la 2026-014?", True, True, False),
        ("¿Qué debe contener una factura completa?", False, False, True),
        ("¿Cuándo se presenta el modelo 130 del tercer trimestre de 2026?", False, False, True),
        ("¿Qué tipo de IVA llevan los libros electrónicos vendidos a particulares?", False, False, True),
        ("¿Son deducibles las retribuciones al cónyuge que trabaja en la actividad?", False, False, True),
    ],
)
def test_references_to_a_document_of_ones_own(question: str, own: bool, bare: bool, rule: bool) -> None:
    found = read_reference(question, ["factura 2026-014.pdf"])
    assert (found.own, found.rule) == (own, rule)
    assert found.any is (own or bare)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("¿Cuánto IVA lleva la factura de Endesa?", ["Endesa"]),
        ("¿cuál es el total de mi última factura de Talleres Olmedilla, S.L.?", ["Talleres Olmedilla, S.L"]),
        ("¿Qué importe tiene el contrato con Iberdrola Clientes?", ["Iberdrola Clientes"]),
        ("¿Qué total sale en la factura F-2026-999?", ["F-2026-999"]),
        ("¿qué base tiene la factura n.º 2026/077?", ["2026/077"]),
        ("¿Cuándo vence la carta de la Agencia Tributaria?", []),
        ("¿Cuánto IVA lleva la factura de la luz?", []),
        ("¿Cuál es el total de la factura del 15/04/2026?", []),
        ("¿Cuánto suma la factura de mayo de 2026?", []),
        ("¿Qué total tiene la factura de Lucía Martínez?", []),
        ("¿Qué total sale en mi factura?", []),
    ],
)
def test_what_a_question_calls_its_document_by(question: str, said: list[str]) -> None:
    assert [stranger.said for stranger in strangers(question)] == said


@pytest.mark.parametrize("called", ["de Endesa", "F-2026-999", "de Talleres Olmedilla"])
def test_another_document_than_the_one_asked_for_does_not_answer(own: SessionDocuments, called: str) -> None:
    answer = engine(answers=False).ask(f"¿Cuál es el total a pagar de la factura {called}?", private=search(own))
    assert not answer.grounded and answer.sources == () and "1.425,00" not in answer.text
    assert called.removeprefix("de ") in answer.text.replace("\\", "")


def test_a_name_or_number_that_a_document_holds_is_answered_from_it(settings: Settings) -> None:
    documents = library(settings)
    documents.add([upload(INVOICE), upload("# Factura de Zurgaia Energía\n\nTotal a pagar: 77,70 €\n", "otra.md")])
    for question, shown in (("la factura de zurgaia", "77,70"), ("la factura 2026-014", "1.425,00")):
        answer = engine(answers=False).ask(f"¿Cuál es el total a pagar de {question}?", private=search(documents))
        assert shown in answer.text, question


def test_the_rule_is_told_where_the_document_is_not_there(own: SessionDocuments) -> None:
    answer = engine().ask("¿Es deducible el IVA de la factura de Endesa?", private=search(own))
    assert answer.grounded and {s.source_scope for s in answer.sources} == {Scope.PUBLIC}


def test_a_question_about_the_own_document_is_answered_where_the_corpus_cannot(own: SessionDocuments) -> None:
    answer = engine(answers=False).ask("¿Qué total a pagar sale en mi factura?", private=search(own))
    assert answer.grounded and "1.425,00" in answer.text and answer.text.startswith(OWN_HEADING)
    assert RULE_HEADING not in answer.text and answer.category is Category.DIRECT
    (source, *_) = answer.sources
    assert source.source_scope is Scope.PRIVATE and "1.425,00" in source.passage and source.source_url == ""


def test_the_rule_and_the_own_document_stand_apart(own: SessionDocuments) -> None:
    answer = engine().ask("¿Es deducible el IVA de mi factura?", private=search(own))
    mine, _, rule = answer.text.partition(RULE_HEADING)
    assert mine.startswith(OWN_HEADING) and "262,50" in mine and "no es una norma" in mine
    assert "262,50" not in rule and "deducible si está afecta" in rule
    scopes = [s.source_scope for s in answer.sources]
    assert scopes == sorted(scopes, key=lambda s: s is Scope.PUBLIC) and set(scopes) == {Scope.PRIVATE, Scope.PUBLIC}
    first_public = scopes.index(Scope.PUBLIC) + 1
    assert f"[{first_public}]" in rule and f"[{first_public}]" not in mine


def test_a_bare_question_is_answered_from_both_and_a_plain_one_with_the_rule_first(own: SessionDocuments) -> None:
    both = engine().ask("¿cuándo vence el IVA?", private=search(own)).text
    assert both.index(OWN_HEADING) < both.index(RULE_HEADING)
    plain_one = engine().ask("retención IRPF 7 %", private=search(own, relevance=0.99))
    own_at, rule_at = plain_one.text.index(OWN_HEADING), plain_one.text.index(RULE_HEADING)
    assert rule_at < own_at and plain_one.sources[0].source_scope is Scope.PUBLIC
    assert f"[{len(plain_one.sources)}]" in plain_one.text[own_at:] and "[1]" not in plain_one.text[own_at:]


def test_a_weak_public_fragment_is_not_quoted_beside_the_own_document(own: SessionDocuments) -> None:
    answer = engine().ask("¿qué total a pagar sale?", private=search(own, relevance=0.1))
    assert "1.425,00" in answer.text and RULE_HEADING not in answer.text


def test_what_the_corpus_cannot_answer_is_likelier_about_the_own_documents() -> None:
    assert at_prior(0.3, before=0.2, after=0.5) == pytest.approx(0.3 * 4 / (0.3 * 4 + 0.7))
    assert at_prior(0.3, before=0.2, after=0.2) == pytest.approx(0.3)


def test_a_question_about_the_rule_alone_is_answered_as_without_documents(own: SessionDocuments) -> None:
    question = "¿Cuál es el tipo general vigente en territorio común?"
    assert engine().ask(question, private=search(own)).text == engine().ask(question).text


def test_sums_that_do_not_add_up_are_said_beside_the_quote(settings: Settings) -> None:
    own = library(settings)
    own.add([upload(INVOICE.replace("262,50", "252,50"))])
    answer = engine().ask("¿Qué total a pagar sale en mi factura?", private=search(own))
    assert "no cuadran" in answer.text and "262,50 €" in answer.text and "AsesorIA no las corrige" in answer.text
    assert "«Total a pagar: 1.425,00 €»" in answer.text


def test_a_document_cannot_write_markdown_into_an_answer(settings: Settings) -> None:
    own = library(settings)
    own.add(
        [
            upload(
                "El total a pagar es ![x](http://evil.example/p.png) [1] <img src=x> $a$ **99,00** euros.",
                "*a*[b](c).txt",
            )
        ]
    )
    answer = engine().ask("¿Cuál es el total a pagar de mi factura?", private=search(own))
    assert "99,00" in answer.text
    mine = answer.text.partition("**:\n\n")[2].partition("\n\n_Es lo que dice")[0]
    assert re.search(r"(?<!\\)[*`<>$~#|!]|(?<!\\)\[(?!1\]$)", mine) is None, mine
    assert "\\*a\\*\\[b\\](c).txt" in answer.text
    assert "![x](http://evil.example/p.png)" in answer.sources[0].passage


def test_plain_text_and_passages_between_placeholders() -> None:
    assert plain("a *b* <NIF_1>\n# c") == "a \\*b\\* \\<NIF\\_1\\> \\# c"
    source = Source("f", "d", "t", 1, (), "Emisor: <NOMBRE_1> NIF: <NIF_1>\nTotal: 5,00 €", 0.9, "", Scope.PRIVATE)
    assert private_passages(source) == ("Emisor:", "NIF:", "Total: 5,00 €")


def test_removed_documents_are_not_found_any_more(own: SessionDocuments) -> None:
    both = search(own)
    assert both.run("total a pagar de mi factura", 8).private
    own.remove(own.documents()[0].doc_id)
    assert both.run("total a pagar de mi factura", 8).private == ()


def test_the_api_has_no_way_to_private_documents(own: SessionDocuments) -> None:
    receipt = SimpleNamespace(id="1")
    services = SimpleNamespace(answer_and_record=lambda question, channel: (engine().ask(question), receipt))
    startup = SimpleNamespace(services=services, error="", message="", start=lambda: None)
    client = TestClient(Starlette(routes=routes(lambda: startup)), cookies={COOKIE: own.session_id})  # type: ignore[arg-type, return-value]
    for body in (
        {"question": "¿Qué total a pagar sale en mi factura?"},
        {"question": "¿Qué total a pagar sale en mi factura?", "session_id": own.session_id, "private": own.session_id},
    ):
        response = client.post("/api/ask", json=body, headers={"X-Session": own.session_id})
        assert response.status_code == 200 and "1.425,00" not in response.text and '"private"' not in response.text
    answer: Answer = engine().ask("¿Qué total a pagar sale en mi factura?", private=search(own))
    assert "1.425,00" in answer.text, "the same question reaches the document through its session"
