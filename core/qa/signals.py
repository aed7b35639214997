"""What can be read off an answer without a model: rejection, acknowledged limits, register, facts, figures.

Pure and deterministic. Quotations of the source are not the answer's own words: what is read off its attitude leaves
them out.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.answering.claims import quotations, renumbered
from core.answering.values import Kind, Value, read_values
from core.ingestion.sentences import split_sentences
from core.qa.evidence import bare
from core.retrieval.terms import fold, stems

# Lines that the product writes around quoted passages: where a passage is, whose rules they are, which part is answered.
_FRAME_LINE = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*[^«»]*:|_[^_]+_|\*\*¿[^*]*\?\*\*)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,2}[.)]\s+)")

_REJECTS = re.compile(
    r"^\W*no\s*[:,.;]|^\W*no exactamente|\bcuidado\b|"
    r"\bno (?:es|seria|era) (?:correct\w*|ciert\w*|verdad\w*|asi|exact\w*|como)\b|"
    r"\b(?:es|seria) (?:fals\w+|incorrect\w+|inexact\w+|erron\w+|un error)\b|"
    r"\bno (?:l[oa]s? |se )?(?:puedo|puede|cabe|es posible)\b[^.;]{0,30}\b(?:citar\w*|confirm\w*|atribuir\w*)|"
    r"\bno (?:l[oa] )?(?:dice|contiene|recoge|aparece|figura|consta|esta|estan|existe|procede|establece|afirma|"
    r"escribio|sostiene|cuenta|regula|corresponde|hay (?:ningun|tal))\b|"
    r"\b(?:sino|en realidad|al contrario|por el contrario|lo contrario|se equivoca|confunde)\b"
)
_CONFIRMS = re.compile(
    r"^\W*(?:si|claro|correcto|cierto|exacto|exactamente|efectivamente|en efecto|asi es|por supuesto|desde luego)\b"
    r"(?!\s+no\b)(?=\W|$)|"
    r"(?<!\bno )\b(?:es|seria) (?:correct[oa]|ciert[oa]|verdad|asi|exact[oa])\b|"
    r"\b(?:asi|efectivamente|en efecto),? (?:es|l[oa] (?:dice|recoge|establece))\b"
)
_NOT_COVERED = re.compile(
    r"\bno (?:l[oa]s? |se |me )*(?:trat\w+|recog\w+|mencion\w+|contien\w+|regul\w+|dice|dicen|abord\w+|habl\w+|"
    r"aparec\w+|consta\w*|senal\w+|prev\w+|contempl\w+|indic\w+|pronuncia\w*|inclu\w+|aclar\w+|explic\w+|cuent\w+|"
    r"figur\w+|estable\w+|ofrec\w+|permit\w+|puede\w* (?:saber|responder|decir|afirmar)\w*|encontr\w+|respond\w+|"
    r"he encontrado)\b|"
    r"\bno (?:hay|existe\w*|da)\b[^.;]{0,40}\b(?:nada|ningun\w*|referencia\w*|mencion\w*|informacion|dato\w*|"
    r"respuesta)\b|"
    r"\b(?:queda\w*|esta) fuera\b|\bfuera de (?:lo que|su (?:ambito|alcance))\b|\bnada dice\b|\bguarda silencio\b|"
    r"\bningun\w* (?:de sus )?(?:seccion\w*|capitulo\w*|parte\w*|articulo\w*)\b"
)
_ABOUT_SOURCE = re.compile(
    r"\b(?:documentos?|manual|ley|decreto|reglamento|libro|novela|texto|fuentes?|norma\w*|obra|asesoria|autor\w*|"
    r"informacion)\b"
)

# What offends against the register: its name, the points it costs, the words.
_REGISTER: tuple[tuple[str, float, re.Pattern[str]], ...] = (
    (
        "opinión en primera persona",
        4.0,
        re.compile(
            r"\b(?:yo|creo|opino|pienso|supongo|diria|en mi opinion|a mi (?:juicio|entender|modo)|"
            r"me (?:parece|temo|imagino))\b"
        ),
    ),
    (
        "consejo personal",
        4.0,
        re.compile(
            r"\b(?:(?:te|le|os) (?:recomiendo|aconsejo|sugiero|conviene)|yo que (?:tu|usted)|recomendaria|aconsejo|"
            r"lo mejor es|no te preocupes|no se preocupe|tranquil[oa]|deberias|tendrias que)\b"
        ),
    ),
    ("exclamación", 3.0, re.compile(r"[¡!]")),
    (
        "tono coloquial",
        3.0,
        re.compile(
            r"\b(?:hombre|vamos|vaya|oye|mira|bueno|uf|jaja\w*|lio|chollo|rollo|pillar\w*|un monton|super \w+|genial|guay|"
            r"ojo|curr[oa]\w*|trucos?|apan\w+|colar\w*|un pasote|gordo|en plan|ni de broma|a ver|lios|barato|pasta)\b"
        ),
    ),
    ("tuteo", 2.0, re.compile(r"\b(?:tu|tus|te|ti|contigo|puedes|debes|tienes|quieres|necesitas|haces|pagas)\b")),
)
_GENERIC = re.compile(
    r"\bdepende\w* de (?:cada caso|muchos factores|varios factores|las? (?:circunstancias?|situacion))|"
    r"\b(?:es importante|conviene|en general|en terminos generales|por lo general|hay que tener en cuenta)\b|"
    r"\bcada (?:caso|situacion) (?:es|debe|requiere)|"
    r"\b(?:consult\w+|acud\w+) (?:con |a )?(?:un|su) (?:profesional|asesor|gestor|experto)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer as written, its own words (without quotations), and what it says (`content_of`)."""

    text: str
    own: str
    stems: frozenset[str]


@lru_cache(maxsize=4096)
def content_of(text: str) -> frozenset[str]:
    """What a text says: the stems of its words, and its figures as values, so that «21 %» is «21 por ciento»."""
    rest, values = text, set()
    for value in reversed(figures(text)):
        values.add(f"{value.kind}:{value.norm}")
        rest = f"{rest[: value.start]} {rest[value.end :]}"
    return frozenset(stems(rest)) | values


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of an answer without its frame (places of passages, notices) and without citation marks."""
    found = []
    for line in text.split("\n"):
        if not line.strip() or _FRAME_LINE.match(line):
            continue
        line = _BULLET.sub("", renumbered(line, {}))
        for start, end in split_sentences(line):
            part = line[start:end].strip()
            if any(ch.isalnum() for ch in part):
                found.append(Sentence(part, _own(part), content_of(part)))
    return tuple(found)


def _own(text: str) -> str:
    for start, end in reversed(quotations(text)):
        text = text[:start] + " " + text[end:]
    return fold(text)


def frame_of(text: str) -> tuple[str, ...]:
    """The product's own lines of an answer: they claim nothing of the document."""
    return tuple(line for line in text.split("\n") if _FRAME_LINE.match(line))


@dataclass(frozen=True, slots=True)
class Stance:
    """Whether an answer rejects or confirms what the question takes for granted; the sentence that shows it."""

    rejects: bool
    confirms: bool
    evidence: str


def stance_of(sentences: Sequence[Sentence]) -> Stance:
    """The first clear word decides; a later one to the contrary makes the answer do both."""
    first, rejects, confirms = "", False, False
    for sentence in sentences:
        said_no, said_yes = bool(_REJECTS.search(sentence.own)), bool(_CONFIRMS.search(sentence.own))
        if (said_no or said_yes) and not first:
            first = sentence.text
        rejects, confirms = rejects or said_no, confirms or (said_yes and not said_no)
    return Stance(rejects, confirms, first)


def rejects(sentence: Sentence) -> bool:
    """Whether a sentence denies a statement that it repeats."""
    return bool(_REJECTS.search(sentence.own))


def acknowledgement(sentences: Sequence[Sentence]) -> str:
    """The sentence that says that the document does not cover what is asked; '' for none."""
    return next((s.text for s in sentences if _NOT_COVERED.search(s.own) and _ABOUT_SOURCE.search(s.own)), "")


def register_faults(sentences: Sequence[Sentence]) -> list[tuple[str, float, str]]:
    """What offends against the institutional register: what it is, its weight in points, the sentence."""
    found = []
    for name, weight, pattern in _REGISTER:
        hit = next((s.text for s in sentences if pattern.search(s.own)), "")
        if hit:
            found.append((name, weight, hit))
    return found


def generic(sentences: Sequence[Sentence]) -> str:
    """A sentence that would fit any question; '' where there is none."""
    return next((s.text for s in sentences if _GENERIC.search(s.own)), "")


# ---------------------------------------------------------------------------------------------- facts and figures

# «los dos años»: counts what was named before.
_COUNTED_BEFORE = re.compile(r"\b(?:los|las|estos|esos|estas|esas|otros|otras|ambos|ambas)\s+$", re.IGNORECASE)
_COUNTING = {Kind.ORDINAL, Kind.PART, Kind.MONTH}


@lru_cache(maxsize=2048)
def figures(text: str) -> tuple[Value, ...]:
    """The values of a text that state something: no ordinals, parts, months, small counts in words, nor «un día»."""
    return tuple(value for value in read_values(text) if value.kind not in _COUNTING and not _is_idle(value))


def _is_idle(value: Value) -> bool:
    number = value.norm.split(" ")[0]
    small = number.isdigit() and int(number) <= 10
    return value.words and ((value.kind is Kind.NUMBER and small) or (value.kind is Kind.PERIOD and number == "1"))


def unknown_figures(sentence: str, known: Collection[tuple[Kind, str]]) -> list[str]:
    """Figures of a sentence, with the words before each, that are not among the ``known`` ones (kind and norm)."""
    return [
        _with_words_before(sentence, value)
        for value in figures(sentence)
        if not _is_known(value, known) and not (value.words and _COUNTED_BEFORE.search(sentence[: value.start]))
    ]


def _is_known(value: Value, known: Collection[tuple[Kind, str]]) -> bool:
    """The same value, or its number without a unit, as cells of tables, ranges of days and lists of forms have it."""
    if (value.kind, value.norm) in known:
        return True
    if value.kind is Kind.DATE:  # «del 1 al 20 de abril y julio»
        day, _, month = value.norm.partition("/")
        months = {norm.partition("/")[2] for kind, norm in known if kind is Kind.DATE}
        return (Kind.NUMBER, day) in known and ((Kind.MONTH, month) in known or month in months)
    number = value.norm.split(" ")[0]
    if (Kind.NUMBER, number) in known:
        return True
    bare_kinds = (Kind.NUMBER, Kind.ARTICLE, Kind.YEAR, Kind.QUARTER)
    return value.kind in bare_kinds and number.split(".")[0] in {norm.split(" ")[0] for _, norm in known}


def _with_words_before(sentence: str, value: Value) -> str:
    before = sentence[: value.start].split(" ")
    return sentence[len(" ".join(before[:-4])) : value.end].strip() if len(before) > 4 else sentence[: value.end]


def known_figures(texts: Iterable[str]) -> set[tuple[Kind, str]]:
    """Kind and norm of every value of the texts, with the parts of articles."""
    return {(value.kind, value.norm) for text in texts for value in read_values(text)}


def fact_share(fact: Sequence[str], answer: str, sentences: Sequence[Sentence]) -> float:
    """How far one expected fact is there (0..1): one of its wordings or values, else its words in one sentence.

    A fact that holds a value is there only with that value.
    """
    there = known_figures([answer])
    best = 0.0
    for wording in fact:
        if modal := _modal_only(wording):
            best = max(best, float(bool(modal.search(fold(answer)))))
            continue
        values = [(v.kind, v.norm) for v in figures(wording)]
        if values:
            best = max(best, float(all(value in there for value in values)))
            continue
        if bare(wording) in bare(answer):
            return 1.0
        wanted = content_of(wording)
        if wanted:
            best = max([best, *(0.9 * len(wanted & s.stems) / len(wanted) for s in sentences)])
    return best


_MAY = re.compile(r"\b(?:pued\w*|podr\w*|cabe|permit\w*|posible\w*|si)\b")
_MUST = re.compile(r"\b(?:deb\w*|oblig\w*|tien\w* que|tendr\w* que|ha\w* de|preceptiv\w*|exig\w*)\b")


def _modal_only(wording: str) -> re.Pattern[str] | None:
    """What fulfils a fact that is but «podrán» or «deberán»; None for any other."""
    word = fold(wording).strip()
    if not word.isalpha():
        return None
    return _MAY if re.fullmatch(r"pued\w*|podr\w*", word) else _MUST if re.fullmatch(r"deb\w*", word) else None


def share(wanted: Collection[str], given: Collection[str]) -> float:
    """Share (0..1) of the wanted stems that are given; 1 where nothing is wanted."""
    wanted = set(wanted)
    return len(wanted & set(given)) / len(wanted) if wanted else 1.0
