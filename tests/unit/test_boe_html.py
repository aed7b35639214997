"""The converter of BOE consolidated texts, on small invented pages with the structure of the real ones."""

import pytest

from core.corpus.html_markdown import ConvertedHtml, html_to_markdown
from core.errors import UnreadableDocumentError

PAGE = """<!DOCTYPE html><html lang="es"><head><meta charset="utf-8"/></head><body>
<ul class="migas"><li>Inicio</li><li>Documento consolidado BOE-A-2001-1</li></ul>
<h3 class="documento-tit">Real Decreto 1/2001, de 2 de enero, que aprueba el Reglamento de ejemplo.</h3>
<dl class="conso"><dt>Publicado en:</dt><dd>«BOE» núm. 3, de 03/01/2001.</dd></dl>
{version}
<div id="textoxslt"><h3>Texto consolidado</h3>
<ul id="lista-marcadores"><li><a href="#pr">[Preámbulo]</a></li><li><a href="#a1">Artículo 1</a></li>
<li><a href="#fi">[Firma]</a></li></ul>
{blocks}
</div></body></html>"""
VERSION = '<label class="version-actual"><span>Última actualización publicada el 31/03/2026</span></label>'


def convert(blocks: str, version: str = VERSION) -> ConvertedHtml:
    return html_to_markdown(PAGE.format(blocks=blocks, version=version).encode())


def block(content: str, name: str = "a1") -> str:
    return (
        f'<hr class="bloque"/><div class="bloque" id="{name}"><p class="bloque">[Bloque 7: #{name}]</p>'
        f'{content}</div><p class="linkSubir"><a href="#top">Subir</a></p>'
    )


def body(content: str) -> list[str]:
    """The Markdown paragraphs of one article, after its heading."""
    heading = '<h5 class="articulo">Artículo 1. Objeto.</h5>'
    paragraphs = convert(block(heading + content)).markdown.strip().split("\n\n")
    assert paragraphs[1] == "###### Artículo 1. Objeto."
    return paragraphs[2:]


def test_title_and_date_of_the_last_update() -> None:
    converted = convert(block('<p class="parrafo">Texto.</p>'))
    assert converted.title.startswith("Real Decreto 1/2001, de 2 de enero")
    assert converted.document_date == "2026-03-31"
    assert converted.markdown == f"# {converted.title}\n\nTexto.\n"


def test_date_of_publication_of_a_norm_never_changed() -> None:
    assert convert(block('<p class="parrafo">Texto.</p>'), version="").document_date == "2001-01-03"


def test_hierarchy_tells_the_decree_from_the_reglamento_that_it_approves() -> None:
    blocks = "".join(
        [
            block('<h4 class="subseccion">I</h4><p class="parrafo">Motivos.</p>', "pr"),
            block('<h5 class="articulo">Artículo 1. Aprobación.</h5><p class="parrafo">Se aprueba.</p>'),
            block('<h5 class="articulo">Disposición final única. Entrada en vigor.</h5>', "df"),
            block('<p class="firma_rey">FELIPE R.</p>', "fi"),
            block('<h4 class="anexo_num">ANEXO</h4><h4 class="anexo_tit">REGLAMENTO DE EJEMPLO</h4>', "an"),
            block('<h4 class="titulo_num">TÍTULO I</h4><h4 class="titulo_tit">General</h4>', "ti"),
            block('<h4 class="capitulo_num">CAPÍTULO II</h4><h4 class="capitulo_tit">Facturas</h4>', "ci"),
            block('<h4 class="seccion">Sección 1.ª Clases</h4>', "s1"),
            block('<h4 class="subseccion">Subsección 1.ª Completas</h4><h4 class="titulo_tit"> </h4>', "ss"),
            block('<h5 class="articulo">Artículo 1. Contenido.</h5><p class="parrafo">Contendrá.</p>', "a1-2"),
            block('<h5 class="articulo">Disposición adicional primera. Otros.</h5>', "da"),
            block('<h4 class="anexo">Anexo al Reglamento</h4>', "an-2"),
        ]
    )
    converted = convert(blocks)
    assert converted.markdown.strip().split("\n\n")[1:] == [
        "###### Preámbulo",
        "I",
        "Motivos.",
        "###### Artículo 1. Aprobación.",
        "Se aprueba.",
        "## Disposición final única. Entrada en vigor.",
        "## Firma",
        "FELIPE R.",
        "# ANEXO. REGLAMENTO DE EJEMPLO",
        "## TÍTULO I. General",
        "### CAPÍTULO II. Facturas",
        "#### Sección 1.ª Clases",
        "##### Subsección 1.ª Completas",
        "###### Artículo 1. Contenido.",
        "Contendrá.",
        "## Disposición adicional primera. Otros.",
        "## Anexo al Reglamento",
    ]


def test_paragraphs_keep_their_text_with_white_space_folded() -> None:
    html = (
        '<p class="parrafo">1.&nbsp;El <a href="/x">artículo 4</a>,\n  del 10&nbsp;%.</p>'
        '<p class="parrafo_2">a) Un gas (CO<sub>2</sub>) de 5 m<sup>2</sup> y 20<sup>(*)</sup>.</p>'
        '<p class="sangrado_articulo">«Artículo 9. Citado.</p><p class="parrafo"> </p>'
        '<blockquote class="sangrado"><p class="parrafo_2">«5. Texto que se da.»</p></blockquote>'
    )
    assert body(html) == [
        "1. El artículo 4, del 10 %.",
        "a) Un gas (CO₂) de 5 m² y 20(*).",
        "«Artículo 9. Citado.",
        "«5. Texto que se da.»",
    ]


def test_the_site_s_own_parts_are_gone() -> None:
    html = (
        '<p class="parrafo">Texto.</p>'
        '<blockquote class="docrel"><p class="inforel">Información relacionada</p></blockquote>'
        '<blockquote class="notaInicial"><p class="textoCompleto">Incluye la corrección.</p></blockquote>'
        '<p class="pie_unico">Texto añadido, publicado el 02/01/2024, en vigor a partir del 03/01/2024.</p>'
        '<form class="lista formBOE"><fieldset><legend>Seleccionar redacción:</legend><p>'
        '<input checked="checked" id="v"/><label for="v"><strong>Última actualización, '
        "publicada el 02/01/2024, en vigor a partir del 03/01/2024.</strong></label></p></fieldset></form>"
    )
    assert body(html) == ["Texto."]


REFERENCE = ' <a href="/doc">Ref. BOE-A-2020-1</a>.'


@pytest.mark.parametrize(
    ("notes", "kept"),
    [
        ([("nota_pie", "Se modifica el apartado 1 por el art. 2 de la Ley 3/2020.")], []),
        ([("nota_pie", "Se añade por el art. 2 de la Ley 3/2020, de 4 de mayo.")], []),
        ([("nota_pie", "Redactado conforme a la corrección de errores publicada en BOE núm. 1.")], []),
        ([("nota_pie", "Se deja sin efecto la modificación por Resolución de 2 de enero de 2025.")], []),
        ([("nota_pie_2", "Esta modificación entra en vigor el 1 de enero de 2020.")], []),
        (
            [("nota_pie_2", "Este apartado entra en vigor el 1 de enero de 2027.")],
            ["Este apartado entra en vigor el 1 de enero de 2027."],
        ),
        (
            [
                ("nota_pie", "Se modifica por el art. 2 de la Ley 3/2020."),
                (
                    "nota_pie_2",
                    "Téngase en cuenta para su aplicación la disposición transitoria 1 de la citada Ley.",
                ),
            ],
            [
                "Se modifica por el art. 2 de la Ley 3/2020. Téngase en cuenta para su aplicación la "
                "disposición transitoria 1 de la citada Ley."
            ],
        ),
        (
            [
                ("nota_pie", "Se añade por el art. 2 de la Ley 3/2020."),
                ("nota_pie_2", "Téngase en cuenta que ya fue añadido por el Real Decreto-ley 1/2019."),
            ],
            [],
        ),
        (
            [("nota_pie", "El interés de demora será el 4 por ciento hasta el 31 de diciembre de 2023.")],
            ["El interés de demora será el 4 por ciento hasta el 31 de diciembre de 2023."],
        ),
        (
            [("nota_pie", "Se anula el apartado 2 por Sentencia del TS de 25 de septiembre de 2019.")],
            ["Se anula el apartado 2 por Sentencia del TS de 25 de septiembre de 2019."],
        ),
        (
            [
                ("nota_pie", "Se modifica por el art. 2 de la Ley 3/2020."),
                ("nota_pie", "Se anula el apartado 2 por Sentencia del TS de 25 de septiembre de 2019."),
            ],
            [],
        ),
    ],
)
def test_editors_notes_stay_only_where_they_state_an_effect(notes: list[tuple[str, str]], kept: list[str]) -> None:
    lines = "".join(f'<p class="{name}">{text[:-1]}.{REFERENCE}</p>' for name, text in notes)
    assert body(f"<blockquote>{lines}</blockquote>") == [f"Nota del BOE: {text}" for text in kept]


def test_a_note_shown_with_the_text_stays_in_its_place() -> None:
    text = f'<p class="parrafo">Téngase en cuenta que son 0,26 euros.{REFERENCE}</p>'
    note = f'<blockquote class="siempreSeVe">{text}</blockquote>'
    paragraphs = body(f'<p class="parrafo">b) 0,19 euros.</p>{note}<p class="parrafo">3. Otro.</p>')
    assert paragraphs == ["b) 0,19 euros.", "Nota del BOE: Téngase en cuenta que son 0,26 euros.", "3. Otro."]


def test_a_wording_that_is_not_in_force_yet_says_so() -> None:
    foot = '<p class="pie_unico">Texto añadido, publicado el 31/03/2026, en vigor a partir del 20/04/2026.</p>'
    assert body(f'<p class="parrafo">Texto.</p>{foot}') == [
        "Nota del BOE: Redacción publicada el 31/03/2026, en vigor a partir del 20/04/2026.",
        "Texto.",
    ]


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        (
            "<thead><tr><th><p>Hasta<br/>euros</p></th><th>Tipo</th></tr></thead>"
            "<tbody><tr><td><p>12.450,00</p></td><td>9,50<sup>2</sup></td></tr></tbody>",
            ["| Hasta euros | Tipo |", "| --- | --- |", "| 12.450,00 | 9,50² |"],
        ),
        (
            '<thead><tr><th rowspan="2">Situación</th><th colspan="2">Hijos</th></tr>'
            "<tr><th>0</th><th>1</th></tr></thead><tr><td>1.ª</td><td>a|b</td><td></td></tr>",
            ["| Situación | Hijos: 0 | Hijos: 1 |", "| --- | --- | --- |", "| 1.ª | a\\|b |  |"],
        ),
        (
            '<tr><td>12,5</td><td rowspan="9">kilos</td></tr><tr><td>1</td></tr>',
            ["|  |  |", "| --- | --- |", "| 12,5 | kilos |", "| 1 | kilos |"],
        ),
        (
            "<caption>Escala</caption><tr><th>A</th></tr><tr><td><ul><li>uno</li><li>dos.</li><li>tres</li></ul></td></tr>",
            ["Escala", "", "| A |", "| --- |", "| uno; dos. tres |"],
        ),
        ("<tr><td> </td></tr>", []),
    ],
)
def test_tables(table: str, lines: list[str]) -> None:
    paragraphs = body(f'<table class="tabla">{table}</table>')
    assert "\n\n".join(paragraphs).split("\n") == (lines or [""])


@pytest.mark.parametrize(
    "html",
    [
        b"",
        b"<html><body><p>Otra p\xc3\xa1gina.</p></body></html>",
        b'<div id="textoxslt"><div class="bloque"><p class="parrafo">Sin t\xc3\xadtulo.</p></div></div>',
    ],
)
def test_an_unknown_structure_is_refused_in_spanish(html: bytes) -> None:
    with pytest.raises(UnreadableDocumentError, match=r"La página no tiene|El texto consolidado"):
        html_to_markdown(html)
