"""Fragments: whole sentences, within the limit, with the right page, section and a stable id."""

from dataclasses import replace

import pytest

from core.ingestion.fragments import MAX_TOKENS, embedding_text, heading_lines, make_fragments
from core.ingestion.text_files import load_text
from core.models import Block, DocumentInfo, LoadedDocument, Scope, Table
from tests.conftest import count_words

INFO = DocumentInfo(
    "doc", "Manual de prueba", "IVA", "manual", "doc.pdf", source_url="https://x.es", retrieved_at="2026-01-01"
)
SENTENCE = "Los sujetos pasivos deberán presentar la autoliquidación dentro del plazo establecido en la norma."


def document(*blocks: Block, tables: tuple[Table, ...] = (), paged: bool = True) -> LoadedDocument:
    return LoadedDocument(blocks=blocks, pages={}, tables=tables, paged=paged)


def test_section_path_label_and_metadata() -> None:
    made = make_fragments(
        document(
            Block("heading", "Capítulo 1", page=1, level=1),
            Block("heading", "Plazos", page=1, level=2),
            Block("paragraph", "Hasta el día 20.", page=2),
            Block("heading", "Capítulo 2", page=3, level=1),
            Block("paragraph", "Otra cosa.", page=3),
        ),
        INFO,
        count_words,
    )
    first, second = made
    assert first.section_path == ("Capítulo 1", "Plazos") and first.section_label == "Plazos"
    assert first.text == "Plazos\nHasta el día 20." and (first.page, first.page_end) == (2, 2)
    assert second.section_path == ("Capítulo 2",)
    assert (first.doc_id, first.tax, first.doc_type, first.source_url, first.retrieved_at) == (
        "doc", "IVA", "manual", "https://x.es", "2026-01-01",
    )  # fmt: skip
    assert first.source_scope is Scope.PUBLIC and first.session_id == ""


def test_date_headings_are_carried_over_to_the_next_page() -> None:
    made = make_fragments(
        document(
            Block("heading", "Octubre", page=40, level=2),
            Block("heading", "Hasta el 20 de octubre", page=40, level=3),
            Block("heading", "Pagos fraccionados Renta", page=40, level=4),
            Block("item", "• Tercer trimestre 2026:", page=40),
            Block("item", "○ Estimación directa: 130", page=41),
            Block("heading", "IVA", page=41, level=4),
            Block("item", "• Autoliquidación: 303", page=41),
        ),
        INFO,
        count_words,
    )
    assert made[0].text.split("\n") == [
        "Hasta el 20 de octubre",
        "Pagos fraccionados Renta",
        "• Tercer trimestre 2026:",
        "○ Estimación directa: 130",
    ]
    assert (made[0].page, made[0].page_end) == (40, 41)
    assert made[0].page_at(made[0].text.index("○")) == 41 and made[0].page_at(made[0].text.index("•")) == 40
    assert made[1].text.startswith("Hasta el 20 de octubre\nIVA\n") and made[1].page == 41


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("A", "Hasta el 20 de enero", "IVA"), ("Hasta el 20 de enero", "IVA")),
        (("Desde el 8 de abril hasta el 30 de junio",), ("Desde el 8 de abril hasta el 30 de junio",)),
        (("Ley 37/1992, de 28 de diciembre, del IVA", "Artículo 90"), ("Artículo 90",)),
        ((), ()),
    ],
)
def test_heading_lines(path: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert heading_lines(path) == expected


def test_fragments_are_whole_sentences_within_the_limit_and_lose_nothing() -> None:
    blocks = [Block("paragraph", " ".join([f"En el caso {n}, {SENTENCE.lower()}"] * 7), page=n) for n in range(1, 25)]
    made = make_fragments(document(Block("heading", "Sección", page=1, level=1), *blocks), INFO, count_words)
    assert len(made) > 3
    assert all(count_words([f.text])[0] <= MAX_TOKENS for f in made)
    assert all(f.text.endswith("norma.") and f.text.startswith("Sección\n") for f in made)
    body = " ".join(f.text.removeprefix("Sección\n").replace("\n", " ") for f in made)
    assert body.split() == " ".join(b.text for b in blocks).split()


def test_a_sentence_longer_than_the_limit_is_cut_between_words() -> None:
    text = "gasto de prueba; " * 2000
    made = make_fragments(document(Block("paragraph", text, page=1)), INFO, count_words)
    assert all(count_words([f.text])[0] <= MAX_TOKENS for f in made)
    assert "".join("".join(f.text.split()) for f in made) == "".join(text.split())


def test_a_list_stays_with_the_sentence_that_leads_into_it() -> None:
    filler = Block("paragraph", " ".join([SENTENCE] * 14), page=1)
    items = [
        Block("item", f"{n}. Libro registro número {n} de los exigidos por la norma.", page=1) for n in range(1, 9)
    ]
    made = make_fragments(
        document(filler, Block("paragraph", "Deben llevarse los siguientes libros:", page=1), *items), INFO, count_words
    )
    (with_list,) = [f for f in made if "siguientes libros:" in f.text]
    assert "8. Libro registro número 8" in with_list.text


def test_tables_are_fragments_of_their_own_with_header_and_heading_on_each() -> None:
    rows = tuple((f"Producto {n}", f"{n}.000,00", "palabra " * 10) for n in range(1, 120))
    table = Table(
        ("Producto", "Importe", "Nota"),
        rows,
        page=5,
        page_end=7,
        section_path=("Módulos",),
        row_pages=(5,) * 60 + (6,) * 40 + (7,) * 19,
    )
    made = make_fragments(
        document(
            Block("heading", "Módulos", page=5, level=1),
            Block("paragraph", "Importes por producto:", page=5),
            Block("table", "", page=5, table=0),
            tables=(table,),
        ),
        INFO,
        count_words,
    )
    parts = [f for f in made if f.kind == "table"]
    assert len(parts) > 2
    assert all(f.text.startswith("Módulos\nImportes por producto:\n| Producto | Importe | Nota |\n") for f in parts)
    text = "\n".join(f.text for f in parts)
    assert all(f"| Producto {n} | {n}.000,00 |" in text for n in range(1, 120))
    assert parts[0].page == 5 and parts[-1].page_end == 7


def test_a_table_row_longer_than_the_limit_is_split() -> None:
    table = Table(("A", "B"), (("x", "palabra " * 3000),), page=1, row_pages=(1,))
    made = make_fragments(document(Block("table", "", page=1, table=0), tables=(table,)), INFO, count_words)
    assert all(count_words([f.text])[0] <= MAX_TOKENS for f in made) and len(made) > 5


def test_contents_pages_are_left_out() -> None:
    titles = [f"Capítulo {n}. Materia {n}" for n in range(1, 12)]
    index = [Block("item", f"• {t}", page=1) for t in titles]
    body = [
        b
        for n, t in enumerate(titles)
        for b in (Block("heading", t, page=n + 2, level=1), Block("paragraph", f"Cuerpo {n}.", page=n + 2))
    ]
    made = make_fragments(document(*index, *body), INFO, count_words)
    assert {f.page for f in made} == set(range(2, 13))


def test_ids_are_deterministic_unique_and_depend_on_place_and_text() -> None:
    blocks = [
        Block("paragraph", "Igual.", page=1),
        Block("heading", "S", page=1, level=1),
        Block("paragraph", "Igual.", page=1),
    ]
    first = make_fragments(
        document(*blocks, Block("heading", "S", page=1, level=1), Block("paragraph", "Igual.", page=1)),
        INFO,
        count_words,
    )
    again = make_fragments(
        document(*blocks, Block("heading", "S", page=1, level=1), Block("paragraph", "Igual.", page=1)),
        INFO,
        count_words,
    )
    assert [f.id for f in first] == [f.id for f in again] and len({f.id for f in first}) == len(first) == 3
    other = make_fragments(document(*blocks), replace(INFO, doc_id="otro"), count_words)
    assert not {f.id for f in other} & {f.id for f in first}


def test_markdown_has_no_pages_and_the_nearest_title_counts() -> None:
    text = "# Real Decreto\n\n###### Artículo 2. Objeto.\n\nUno.\n\n# REGLAMENTO\n\n## TÍTULO I\n\n"
    text += "###### Artículo 2. Ámbito.\n\nDos."
    made = make_fragments(load_text(text.encode(), markdown=True), INFO, count_words)
    assert [f.section_path for f in made] == [
        ("Real Decreto", "Artículo 2. Objeto."),
        ("REGLAMENTO", "TÍTULO I", "Artículo 2. Ámbito."),
    ]
    assert made[0].page is None and made[0].page_end is None and made[0].page_at(3) is None
    assert made[0].id != made[1].id


def test_embedding_text_says_the_place_once() -> None:
    (made,) = make_fragments(
        document(
            Block("heading", "Manual de prueba 2025", page=1, level=1),
            Block("heading", "IVA", page=1, level=2),
            Block("heading", "Plazos", page=1, level=3),
            Block("paragraph", "Texto.", page=1),
        ),
        INFO,
        count_words,
    )
    assert embedding_text(made) == "Manual de prueba › IVA\nPlazos\nTexto."
