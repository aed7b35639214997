"""Words as verification compares them: stems cut short, common synonyms of tax prose as one, contraries apart."""

import re
from functools import lru_cache

from core.retrieval.terms import stem, stems

_PREFIX = 6
# Each line is one thing said in several ways; the first word stands for all.
_SYNONYMS = """
aumenta aumento incrementa incremento sube eleva suma añade añaden adicional adicionalmente
reduce reducción minora minoración disminuye rebaja
supera superior excede exceso rebasa sobrepasa exceden
máximo límite tope limitado
mínimo
presenta presentación entrega entregar declara declaración declarar
paga pago abona satisface satisfecho satisfagan
alquiler alquila arrendamiento arrendado arrendador arrienda
multa sanción sanciona castiga sancionado
empieza comienza inicia inicio comienzo
termina acaba finaliza concluye vence conclusión finalización vencimiento fin
trabajador empleado asalariado asalariada
coche vehículo turismo automóvil
internet electrónica electrónicamente telemática telemático
anual año anualmente
mensual mes
trimestral trimestre trimestralmente
diario día diariamente
retención retiene retener retenido retenciones
devolución devuelve devolver reintegro
deducción deduce deducible deducir deducirse deducen
España español española
empresa empresarial empresario
contribución contribuciones
dato informa información
requerimiento requerido
incumple incumplido incumplimiento desatiende desatender
exento exención exenta exime
necesita requiere exige exigido
calcula cálculo determina determinación
obtiene obtención obtenido percibe percibido percepción
factura facturación facturar
compra adquiere adquisición adquirido
vende venta vendido transmisión transmite
solicita solicitud pedir pide
afecto afectación afectado
presunción presume presumen presumirán
compensación compensar compensa
"""
# Words of which one excludes the others: a claim on the one is not supported by a passage on the other.
_CONTRARIES = """
directa objetiva
normal simplificada
agrícolas ganaderas forestales pesqueras
devengado soportado repercutido
ascendientes descendientes
leve grave
mobiliario inmobiliario
físicas jurídicas
individual conjunta
"""


def _cut(word: str) -> str:
    return stem(word)[:_PREFIX]


_SAME = {_cut(word): _cut(line.split()[0]) for line in _SYNONYMS.strip().splitlines() for word in line.split()}


@lru_cache(maxsize=100_000)
def term_of(word: str) -> str:
    """What a word is compared by; '' for function words."""
    found = stems(word)
    if not found:
        return ""
    cut = found[0][:_PREFIX]
    return _SAME.get(cut, cut)


def terms_of(text: str) -> frozenset[str]:
    """All terms of a text."""
    return frozenset(t for t in map(term_of, re.findall(r"[^\W_]+", text)) if t)


CONTRARIES: tuple[frozenset[str], ...] = tuple(terms_of(line) for line in _CONTRARIES.strip().splitlines())
