"""Sums of invoices: what does not add up is said, and what cannot be judged is not."""

from collections.abc import Sequence

import pytest

from core.documents.arithmetic import check_arithmetic
from core.models import Block, LoadedDocument, Table


def document(*parts: str | Table) -> LoadedDocument:
    blocks: list[Block] = []
    tables: list[Table] = []
    for part in parts:
        if isinstance(part, Table):
            blocks.append(Block("table", "", page=1, table=len(tables)))
            tables.append(part)
        else:
            blocks.append(Block("paragraph", part, page=1))
    return LoadedDocument(tuple(blocks), {1: ""}, tuple(tables))


def table(header: str, *rows: str) -> Table:
    def cells(row: str) -> tuple[str, ...]:
        return tuple(cell.strip() for cell in row.split("|"))

    return Table(cells(header), tuple(cells(row) for row in rows), page=1, page_end=1)


LINES = table("Concepto | Cantidad | Precio | Importe", "Diseño | 1 | 1.000,00 | 1.000,00", "Revisión | 10 | 25,00 | 250,00", "Otro | 2 | 5,00 | 10,00")  # fmt: skip
GOOD: Sequence[tuple[str, ...] | LoadedDocument] = [
    ("Base imponible: 1.250,00 €", "IVA 21 %: 262,50 €", "Retención IRPF 7 %: -87,50 €", "Total a pagar: 1.425,00 €"),
    ("Base imponible 1.250,00 IVA (21%) 262,50 Total factura 1.512,50", "IRPF 15% 187,50", "Líquido 1.325,00"),
    ("Subtotal: 100,00", "IVA 10 %: 10,00", "TOTAL: 110,00"),
    ("Base imponible 21 %: 100,00", "IVA 21 %: 21,00", "Base imponible 10 %: 50,00", "IVA 10 %: 5,00", "Total: 176,00"),
    ("Base: 100,00", "IVA 21 %: 21,00", "Recargo de equivalencia 5,2 %: 5,20", "Total: 126,20"),
    ("Base: 33,33", "IVA 21 %: 7,00", "Total: 40,33"),
    ("Base: 100,00", "IVA: 21,00", "Descuento: 5,00", "Total: 116,00"),
    ("Base: 100,00", "IVA: 21,00", "Suplidos: 30,00", "Total a pagar: 151,00"),
    ("Total a ingresar: 300,00",),
    ("La base imponible máxima es de 1.250,00 euros y el tipo, del 21 %.",),
    ("Base imponible: $1,250.00", "IVA 21 %: $262.50", "Total: $1,512.50"),
    ("Fianza: 1.750,00", "Renta: 900,00"),
]
BAD: Sequence[tuple[tuple[str | Table, ...], str]] = [
    (("Base imponible: 1.250,00 €", "IVA 21 %: 252,50 €", "Total: 1.502,50 €"), "1.250,00 € × 21 % son 262,50 €, y el documento dice 252,50 €"),
    (("Base: 1.000,00", "IVA 21 %: 210,00", "Retención 15 %: -105,00", "Total: 1.105,00"), "× 15 % son 150,00 €"),
    (("Base: 1.000,00", "IVA 21 %: 210,00", "Retención 15 %: -150,00", "Total: 1.160,00"), "son 1.060,00 €, y el documento dice 1.160,00 €"),
    (("Base: 100,00", "IVA 21 %: 21,00", "Total: 112,00"), "100,00 € + 21,00 € son 121,00 €"),
    ((table("Base imponible | % IVA | Cuota IVA | Total", "200,00 | 21% | 24,00 | 224,00"),), "200,00 × 21% son 42,00 €"),
    ((table("Concepto | Cantidad | Precio | Importe", "A | 2 | 10,00 | 20,00", "B | 3 | 10,00 | 30,00", "C | 4 | 10,00 | 45,00"),), "«C»: 4 × 10,00 son 40,00 €"),
    ((table("Mes | Base | IVA", "Enero | 1.000,00 | 210,00", "Febrero | 1.500,00 | 315,00", "**Total** | 2.600,00 | 525,00"),), "«Base» suma 2.500,00 €, y el documento dice 2.600,00 €"),
    ((table("Gasto | Base | IVA | Total", "A | 60,00 | 12,60 | 72,60", "B | 500,00 | 105,00 | 605,00", "C | 30,00 | 6,30 | 63,30"),), "«C»: 30,00 + 6,30 son 36,30 €"),
    ((LINES, "Base imponible: 1.300,00", "IVA 21 %: 273,00", "Total: 1.573,00"), "Las líneas suman 1.260,00 €, y el documento dice 1.300,00 €"),
    ((table("Factura | Base | IVA", "1 | 100,00 | 21,00", "2 | 200,00 | 42,00"), "Total base: 310,00 Total IVA: 63,00"), "«Base» suma 300,00 €, y el documento dice 310,00 €"),
]  # fmt: skip


@pytest.mark.parametrize("lines", GOOD)
def test_what_adds_up_or_cannot_be_judged_is_left_alone(lines: tuple[str, ...]) -> None:
    assert check_arithmetic(document(*lines)) == ()
    assert check_arithmetic(document("\n".join(lines))) == ()


@pytest.mark.parametrize(("parts", "said"), BAD)
def test_what_does_not_add_up_is_said_with_its_figures(parts: tuple[str | Table, ...], said: str) -> None:
    (finding,) = check_arithmetic(document(*parts))
    assert said in finding.text and finding.page == 1


@pytest.mark.parametrize(
    "part",
    [
        table("Gasto | Base | IVA | Total", "A | 60,00 | 12,60 | 72,60", "B | 180,00 |  | 180,00", "C | 30,00 | 6,30 | 36,30"),
        table("Concepto | Cantidad | Precio | Dto | Importe", "A | 2 | 10,00 | 10 % | 18,00", "B | 3 | 10,00 | 0 | 30,00"),
        table("Fecha | Concepto | Importe | Saldo", "1 | A | 10,00 | 110,00", "2 | B | 10,00 | 120,00", "Total | | 20,00 | 120,00"),
        table("Tramo | Base hasta | Cuota", "1 | 12.450,00 | 2.365,50", "2 | 20.200,00 | 4.225,50"),
        table("Concepto | Precio | Cantidad | Importe", "A | 10,00 | 2 | 24,20", "B | 10,00 | 1 | 12,10"),
    ],
)  # fmt: skip
def test_tables_that_say_something_else_are_left_alone(part: Table) -> None:
    assert check_arithmetic(document(part)) == ()


def test_the_lines_may_include_the_tax() -> None:
    assert check_arithmetic(document(LINES, "Base: 1.041,32", "IVA 21 %: 218,68", "Total: 1.260,00")) == ()
