"""Follow-ups: what leans on the question before, what stands alone, and the whole question that comes of it."""

import json

import pytest

from core.answering.conversation import Turn, leans, resolve
from core.config import PROJECT_ROOT
from core.evaluation.benchmark import load_benchmark
from core.retrieval.expected import load_expected
from core.retrieval.terms import fold

FUEL = "¿Me puedo deducir el IVA de la gasolina de la furgoneta?"
FORM = "¿Cuándo se presenta el modelo 130 del tercer trimestre de 2026?"
SPOUSE = "¿Son deducibles las retribuciones al cónyuge que trabaja en la actividad?"
INVOICE = "¿Qué debe contener una factura simplificada?"
BOOKS = "¿Qué libros registro tengo que llevar en estimación directa?"
RETENTION = "¿Qué retención lleva la factura de un profesional?"

# The question before, the follow-up, words that the whole question must have, and words that it must not.
FOLLOW_UPS = [
    (FUEL, "¿y si es un coche?", "iva gasolina coche deducir", "furgoneta"),
    (FUEL, "y de una moto", "iva gasolina moto", "furgoneta"),
    (FUEL, "¿Y para un turismo?", "gasolina turismo", "furgoneta"),
    (FUEL, "¿por qué?", "iva gasolina furgoneta", ""),
    (FUEL, "¿y el límite?", "limite iva gasolina furgoneta", ""),
    (FUEL, "¿y en módulos?", "modulos iva gasolina", ""),
    (FUEL, "¿cuánto es?", "cuanto iva gasolina furgoneta", ""),
    (FUEL, "¿Cuánto?", "cuanto gasolina", ""),
    (FUEL, "eso también vale para los taxistas?", "taxistas gasolina iva", ""),
    (FUEL, "¿y el seguro?", "seguro iva", "gasolina"),
    (FUEL, "¿y los peajes?", "peajes iva", "gasolina"),
    (FUEL, "¿y en el IRPF?", "irpf gasolina", "iva"),
    (FUEL, "¿Y si lo uso también los fines de semana?", "fines semana gasolina", ""),
    (FUEL, "dame un ejemplo", "ejemplo gasolina", ""),
    (FUEL, "¿qué requisitos hay?", "requisitos gasolina iva", ""),
    (FUEL, "¿hace falta justificante?", "justificante gasolina", ""),
    (FUEL, "¿Y eso dónde lo pongo?", "donde pongo gasolina", ""),
    (FUEL, "no entiendo", "gasolina", ""),
    (FUEL, "¿seguro?", "gasolina iva", ""),
    (FUEL, "vale, ¿y con qué porcentaje?", "porcentaje gasolina", ""),
    (FUEL, "explícalo mejor", "gasolina furgoneta", ""),
    (FUEL, "¿y sin factura?", "factura gasolina", ""),
    (FORM, "¿y para el modelo 131?", "131 tercer trimestre 2026 cuando", "130"),
    (FORM, "¿y el 303?", "303 tercer trimestre 2026", "130"),
    (FORM, "¿y del cuarto trimestre?", "130 cuarto trimestre", "tercer"),
    (FORM, "¿Y el primer trimestre?", "130 primer trimestre", "tercer"),
    (FORM, "¿y en 2025?", "130 2025", "2026"),
    (FORM, "¿y si me paso del plazo?", "paso plazo 130", ""),
    (FORM, "¿y cuánto se paga?", "cuanto paga 130", ""),
    (FORM, "¿y el plazo con domiciliación?", "domiciliacion 130", ""),
    (FORM, "¿quién está obligado?", "quien obligado 130", ""),
    (FORM, "¿y cómo se presenta?", "como presenta 130", ""),
    (FORM, "¿Cómo se hace?", "como hace 130", ""),
    (FORM, "entonces, ¿cuál es el plazo?", "plazo 130", ""),
    (FORM, "¿y ese plazo se puede ampliar?", "ampliar 130", ""),
    (FORM, "¿y la multa?", "multa 130", ""),
    (FORM, "¿qué pasa si lo presento tarde?", "tarde 130", ""),
    (FORM, "¿Ese modelo es obligatorio?", "obligatorio 130", ""),
    (FORM, "gracias, ¿y el 349?", "349 tercer trimestre", "130"),
    (FORM, "y para el 111", "111 trimestre", "130"),
    (SPOUSE, "¿y si es un hijo?", "retribuciones hijo deducibles", "conyuge"),
    (SPOUSE, "¿y los hijos?", "retribuciones hijos", "conyuge"),
    (SPOUSE, "¿Y mi hermano?", "retribuciones hermano", "conyuge"),
    (SPOUSE, "¿y en estimación objetiva?", "estimacion objetiva retribuciones conyuge", ""),
    (SPOUSE, "¿qué condiciones se piden?", "condiciones retribuciones conyuge", ""),
    (SPOUSE, "¿eso está en la ley?", "ley retribuciones conyuge", ""),
    (SPOUSE, "vale, ¿y cuánto?", "cuanto retribuciones conyuge", ""),
    (SPOUSE, "¿hasta qué importe?", "importe retribuciones", ""),
    (SPOUSE, "¿y sin contrato?", "contrato retribuciones", ""),
    (SPOUSE, "lo mismo para las parejas de hecho?", "parejas hecho retribuciones", ""),
    (INVOICE, "¿y el plazo?", "plazo factura simplificada", ""),
    (INVOICE, "¿y cuándo se puede hacer?", "cuando factura simplificada", ""),
    (INVOICE, "¿hay algún límite?", "limite factura simplificada", ""),
    (INVOICE, "¿y si el cliente es una empresa?", "cliente empresa factura simplificada", ""),
    (INVOICE, "¿y la rectificativa?", "rectificativa factura", ""),
    (INVOICE, "¿es obligatorio?", "obligatorio factura simplificada", ""),
    (BOOKS, "¿y en módulos?", "libros registro modulos", "directa"),
    (BOOKS, "¿y en estimación objetiva?", "libros registro objetiva", "directa"),
    (BOOKS, "¿cuánto tiempo hay que conservarlos?", "tiempo conservarlos libros registro", ""),
    (BOOKS, "¿Y en el recargo de equivalencia?", "libros recargo equivalencia", "directa"),
    (RETENTION, "¿y al empezar?", "empezar retencion profesional", ""),
    (RETENTION, "¿y un agricultor?", "retencion agricultor", "profesional"),
    (RETENTION, "¿Y qué porcentaje se aplica?", "porcentaje retencion", ""),
    (RETENTION, "¿a quién se aplica?", "quien aplica retencion", ""),
]

STAND_ALONE = """¿Y cuándo se presenta el modelo 303?
¿Y qué debe contener una factura completa?
Y el modelo 347 ¿qué es?
¿Y puedo deducirme el IVA de un ordenador?
y cuanto iva lleva el pan
Y las dietas de comida de los autónomos, ¿qué límite tienen?
¿Y cómo se rectifica una factura con el NIF equivocado?
y la retencion de un profesional nuevo cual es
¿Y quién tiene que presentar el modelo 349?
¿Y hasta cuándo se guarda una factura recibida?
¿Y qué libros registro se llevan en el IVA?
Y si vendo a una empresa francesa, ¿tengo que poner IVA en la factura?
¿Y si un cliente no me paga puedo recuperar el IVA repercutido?
¿Y qué gastos de la vivienda afecta se pueden deducir?
¿Y la amortización de un vehículo turismo cómo se calcula?
y los intereses de un préstamo son deducibles en estimación directa
¿Y en qué consiste el criterio de caja del IVA?
y como se renuncia a los módulos en el IRPF
¿Y se puede aplazar la deuda del modelo 130?
¿Y el recargo de equivalencia a qué comerciantes se aplica?
Entonces, ¿qué modelos presenta un autónomo en estimación directa?
Entonces puedo deducir la cuota del gimnasio de mi actividad
entonces cuando prescribe una deuda tributaria
Entonces, ¿el IVA de los libros electrónicos es del 4 %?
¿Entonces los seguros médicos del autónomo son gasto deducible?
Entonces si alquilo un local a una sociedad, ¿qué retención me hacen?
entonces que iva lleva una obra de reforma en una vivienda
Entonces, ¿quién está exento de presentar el pago fraccionado?
Entonces el modelo 390 cuándo se presenta
Entonces, ¿hay que emitir factura a un particular por una reparación?
Pero ¿el kilometraje de un vehículo propio es deducible en el IRPF?
pues cuanto es el minimo personal del contribuyente
Vale, ¿qué plazo hay para recurrir una sanción de Hacienda?
Bueno, ¿cuál es el tipo de IVA de la hostelería?
Hola, ¿qué es una factura simplificada?
O sea, ¿la Seguridad Social del autónomo es gasto deducible?
¿Y tributa por IVA la enseñanza de idiomas?
y que pasa si presento el modelo 303 fuera de plazo
¿Y cuándo hay que darse de alta en el censo con el modelo 036?
¿Y qué es una operación intracomunitaria?
¿Y los autónomos del taxi en módulos pueden deducir la compra del vehículo?
Y para la declaración de la renta, ¿cuánto se reduce por rendimientos irregulares?""".splitlines()

LOST = [
    "¿y si es un coche?",
    "¿y para el modelo 131?",
    "¿cuánto es?",
    "¿y el plazo?",
    "¿por qué?",
    "¿eso también vale?",
    "¿y?",
]


def words(text: str) -> set[str]:
    return set(fold(text).replace("?", " ").replace("¿", " ").replace(",", " ").replace(".", " ").split())


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(FOLLOW_UPS) >= 60 and len(STAND_ALONE) >= 40


@pytest.mark.parametrize(("before", "asked", "wanted", "unwanted"), FOLLOW_UPS)
def test_a_follow_up_becomes_whole(before: str, asked: str, wanted: str, unwanted: str) -> None:
    found = resolve(asked, [Turn(before, True)])
    assert found.follow_up and not found.unclear
    assert set(wanted.split()) <= words(found.question), found.question
    assert not set(unwanted.split()) & words(found.question), found.question


@pytest.mark.parametrize("asked", STAND_ALONE)
def test_a_question_of_its_own_is_left_as_it_is(asked: str) -> None:
    for history in ([], [Turn(FUEL, True)], [Turn(FORM, True), Turn(SPOUSE, True)]):
        found = resolve(asked, history)
        assert (found.question, found.follow_up, found.unclear) == (asked, False, False)


@pytest.mark.parametrize("asked", LOST)
@pytest.mark.parametrize("history", [[], [Turn(FUEL, False)], [Turn(FUEL, True), Turn("¿qué tiempo hará?", False)]])
def test_without_an_answered_question_before_it_is_asked_what_is_meant(asked: str, history: list[Turn]) -> None:
    found = resolve(asked, history)
    assert found.unclear and not found.follow_up and found.question == asked


def test_a_chain_of_follow_ups_keeps_its_subject() -> None:
    history = [Turn(FORM, True), Turn("¿y el 303?", True)]
    assert {"303", "cuarto"} <= words(resolve("¿y en el cuarto trimestre?", history).question)
    history = [Turn(FUEL, True), Turn("¿y si es un coche?", True), Turn("¿y una moto?", True)]
    found = words(resolve("¿y el límite?", history).question)
    assert "moto" in found and not {"coche", "furgoneta"} & found


def test_a_new_subject_ends_the_old_one() -> None:
    history = [Turn(FUEL, True), Turn(INVOICE, True)]
    assert "gasolina" not in words(resolve("¿y el plazo?", history).question)


def test_no_real_question_is_taken_for_a_follow_up() -> None:
    """All questions of the benchmark and of the training sets; of 27,000 written by hand less than one in a thousand."""
    training = PROJECT_ROOT / "data" / "training"
    real = [item.question for item in load_benchmark()]
    for name in ("personal.jsonl", "unanswerable.jsonl"):
        real += [json.loads(line)["q"] for line in (training / name).read_text("utf-8").splitlines()]
    assert [q for q in real if leans(q)] == []
    expected = [q for items in load_expected().values() for item in items for q in item.all]
    assert sum(map(leans, expected)) < len(expected) / 1000
