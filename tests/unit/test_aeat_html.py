"""The converter of AEAT pages, on small invented pages with the structure of the real ones."""

import pytest

from core.corpus.html_markdown import ConvertedHtml, html_to_markdown
from core.errors import UnreadableDocumentError

PAGE = """<!DOCTYPE html><html lang="es"><head><meta charset="utf-8"/>
<title>Agencia Tributaria: Guía</title></head>
<body><header>Saltar al contenido principal</header>
<nav><ol class="breadcrumb"><li>Inicio</li></ol></nav>
<div class="container-text"><div class="nav flex-column"><ul><li>Modelo 038</li></ul></div>
<main id="acc-main">{content}</main><aside>Contenido relacionado</aside></div>
<footer><div id="last-update"><p>Página actualizada: 01/abril/2026</p></div></footer></body></html>"""


def convert(content: str) -> ConvertedHtml:
    return html_to_markdown(PAGE.format(content=content).encode())


def blocks(content: str) -> list[str]:
    return convert(content).markdown.strip().split("\n\n")


def test_title_date_and_main_content_only() -> None:
    converted = convert("<h1>Instrucciones</h1>Suelto <b>en línea</b>.<p>Texto del <em>modelo</em>.</p>")
    assert converted == ConvertedHtml(
        "# Instrucciones\n\nSuelto en línea.\n\nTexto del modelo.\n", "2026-04-01", "Instrucciones"
    )


def test_no_date_where_the_page_states_none() -> None:
    html = '<html><body><main id="acc-main"><h1>Plazos</h1><p>Hasta el 20/04/2026.</p></main></body></html>'
    assert html_to_markdown(html.encode()).document_date == ""


def test_headings_follow_what_the_reader_sees_without_skipping_a_level() -> None:
    content = (
        '<h1>Guía</h1><h2 class="d-flex h3">Gestiones</h2><p>Uno.</p><div class="card"><button>'
        '<h2 class="h3">Normativa</h2><i>v</i></button><div><p>Dos.</p></div></div>'
        "<h4> </h4><h4>Detalle</h4><h3>Final</h3>"
    )
    assert blocks(content) == [
        "# Guía",
        "## Gestiones",
        "Uno.",
        "## Normativa",
        "Dos.",
        "### Detalle",
        "## Final",
    ]


def test_a_title_set_in_centred_lines_is_one_heading() -> None:
    content = (
        '<h1>Instrucciones</h1><h2 class="texto_cen">Impuesto</h2><h2 class="texto_cen">Modelo 130</h2><hr/>'
        '<p>Texto.</p><h2 class="texto_cen">Anexo</h2>'
    )
    assert blocks(content) == ["# Instrucciones", "## Impuesto. Modelo 130", "Texto.", "## Anexo"]


def test_lists_keep_their_marks_and_nesting() -> None:
    content = (
        "<h1>Guía</h1><ol type='a'><li><p>Electrónica:</p><ul><li>con certificado</li><li>con Cl@ve</li></ul>"
        "</li><li>En papel</li></ol><ol start='3'><li>Tercero</li></ol><ul><li></li></ul>"
    )
    assert blocks(content)[1:] == [
        "a) Electrónica:\n   - con certificado\n   - con Cl@ve\nb) En papel",
        "3. Tercero",
    ]


def test_tables_and_boxes() -> None:
    content = (
        '<h1>Guía</h1><div class="border"><p><strong>Importante:</strong> aviso<sup>1</sup>.</p></div>'
        "<table><tr><th>Rendimientos</th><th>Minoración</th></tr><tr><td>9.000</td><td>100</td></tr></table>"
    )
    assert blocks(content)[1:] == [
        "Importante: aviso¹.",
        "| Rendimientos | Minoración |\n| --- | --- |\n| 9.000 | 100 |",
    ]


def test_links_keep_their_text_and_the_site_s_own_parts_are_gone() -> None:
    content = (
        "<h1>Modelo 303</h1><nav><p>Índice:</p><ol><li>Otro modelo</li></ol></nav><script>x()</script><ul>"
        '<li><div><a class="js-componente-enlace-tramite" href="/x">Presentación</a>'
        '<a class="componente-enlace-ayuda" href="/y">Ayuda</a></div></li>'
        '<li><a href="/z.pdf">Instrucciones<span class="small">(348 Kb - pdf)</span></a></li>'
        "<li>Ley 1/2000<time>(BOE, 1-enero-2000)</time></li></ul>"
        '<div class="modal"><p>Generar PDF</p><button>Cerrar</button></div>'
        '<div class="d-print-none"><button>Generar PDF</button></div>'
        '<div class="js-paginado-pasos"><a>Anterior</a><a>Siguiente</a></div>'
    )
    assert blocks(content) == [
        "# Modelo 303",
        "- Presentación\n- Instrucciones\n- Ley 1/2000 (BOE, 1-enero-2000)",
    ]


def test_a_page_without_text_is_refused_in_spanish() -> None:
    with pytest.raises(UnreadableDocumentError, match="no contiene texto"):
        convert("<nav>Inicio</nav>")
