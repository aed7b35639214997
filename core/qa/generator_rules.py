"""Questions A and B from the sentences of laws, manuals and other expository prose: a few patterns, each sure of itself."""

import re
from collections.abc import Callable, Iterator

from core.qa.candidates import Candidate
from core.qa.models import Form
from core.qa.spanish import (
    FINITE,
    MONTHS,
    NUMBER,
    VERB,
    article,
    is_feminine,
    lower_first,
    number_forms,
    present,
    with_article,
)
from core.qa.text import HEDGED, DocumentText, Listing, Statement, self_contained
from core.retrieval.terms import stems

_SUBJECT = r"(?P<s>(?:El|La|Los|Las|Un|Una|Toda|Todo|Todos los|Todas las|Cualquier)\s[^,:;]*?)"
_NOT_A_SUBJECT = re.compile(
    r"\b(?:que|cuando|si|cuy[oa]s?|donde|quien(?:es)?|porque|como|aunque|mientras|según|cual(?:es)?|resto|efectos?)\b",
    re.IGNORECASE,
)
# Subjects that say nothing alone: "El plazo será de …" of what?
BARE = frozenset(
    stem
    for stem in stems(
        "plazo importe tipo sujeto administración objeto finalidad fecha cuantía resultado porcentaje "
        "sanción multa opción renuncia "
        "solicitud resolución procedimiento exención régimen deducción persona entidad ley reglamento regla "
        "norma operación cantidad "
        "contribuyente interesado documento declaración casilla límite base cálculo efecto caso supuesto "
        "requisito condición medida "
        "acuerdo recurso órgano derecho obligación aplicación reducción comunicación notificación parte "
        "forma cuota devolución impuesto "
        "infracción obligado tributario actuación expediente empresario profesional factura inspección prueba dato registro bien "
        "servicio entrega gasto ingreso rendimiento propuesta acta concepto elemento importe valor pago"
    )
)
_UNITS = r"(?:días?|mes(?:es)?|años?|horas?|trimestres?)(?:\s+(?:hábiles|naturales))?"
_TERM = re.compile(
    rf"\b(?:en|dentro de|durante|antes de)\s+(?:el|un|los|cada)?\s*(?:plazo|período|periodo)?\s*(?:máximo|"
    rf"mínimo|improrrogable)?\s*(?:de)?\s*"
    rf"(?P<n>{NUMBER})\s+(?:primeros\s+)?(?P<u>{_UNITS})\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    rf"\b(?:hasta|antes|entre|desde|el día|en el plazo comprendido)\b[^,.]{{0,40}}?\b\d{{1,2}}\b[^,.]{{0,25}}?\b(?:{MONTHS})\b",
    re.IGNORECASE,
)
_RATE = re.compile(rf"(?P<n>{NUMBER})\s+(?P<u>por ciento|por 100|%|euros)", re.IGNORECASE)
PERSONS = re.compile(
    r"^(?:l[ao]s que|las personas|los (?:empresarios|profesionales|contribuyentes|sujetos|obligados|productores|padres)|"
    r"quienes|las entidades|las sociedades|el obligado|la persona|el que)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r",?\s+(?P<link>cuando|siempre que|siempre y cuando|en los casos en (?:los )?que|en los supuestos en "
    r"(?:los )?que|desde el momento en que)\s+(?P<c>.+)\.$"
)
_FIRST_CONDITION = re.compile(
    r"^(?P<link>Cuando|Si|En (?:el )?caso de que|En los casos en (?:los )?que|En el supuesto de que|En los "
    r"supuestos en (?:los )?que|En (?:el )?caso de|En el supuesto de|Tratándose de|Transcurrido)\s+(?P<c>.+)$"
)
_NOMINAL_LINKS = ("en caso de", "en el caso de", "en el supuesto de", "tratándose de", "transcurrido")
# A condition names what it speaks of: subject first, or a passive with its subject.
_CLAUSE_SUBJECT = re.compile(
    r"(?:no )?(?:(?:el|la|los|las|un|una|alguno de los|alguna de las|cualquiera de los)\s\w|se (?:(?!trat|"
    r"hall|encontr)\w)+(?:\s\w+)? (?:el|la|los|las|un|una)\b"
    r"|(?:haya|hayan|hubiera|hubieran) transcurrido|existan?\b|concurran?\b|no exista)"
)
_MAIN = re.compile(
    rf"^(?:{VERB}|(?:el|la|los|las|un|una)\s(?:(?!que|cuando)[\wáéíóúñ]+\s){{1,8}}?(?:no\s+)?(?:se\s+)?(?:\w+r(?:á|án)|es|son|debe|puede|tiene|pueden|deben)\b)",
    re.IGNORECASE,
)
# What stays with its verb when the subject goes after it: infinitive, participle, adjective, "lugar", "de aplicación".
_WITH_VERB = re.compile(
    r"(?:ser\s+[\wáéíóú]+(?:ad|id|t|ch|st)[oa]s?\b|[\wáéíóú]+[aeií]r(?:se)?\b(?:\s+(?:lugar|traslado|cuenta)\b)?"
    r"|(?:obligatori[oa]s?|exigibles?|aplicables?|necesari[oa]s?|compatibles?|deducibles?|exent[oa]s?|sujet[oa]s?)\b"
    r"|lugar\b|carácter\s+\w+|de aplicación\b|[\wáéíóú]+(?:ad|id)[oa]s?\b)"
)
_ENDS_WITH_FINITE = re.compile(
    r"\b\w+r(?:á|án)\b|\by (?:se )?(?:es|son|debe|puede|tiene)n?\b|\b(?:y|e) (?:se )?\w+(?:ó|aron|ieron)\b"
)
_SUBJECTLESS = re.compile(
    r"(?:[Nn]o )?(?:[Ss]e \w+|(?:[Ss]er|[Ee]star|[Qq]uedar|[Ee]xistir|[Pp]roceder|[Hh]abr)(?:á|án)\b|[Ee]s|[Ss]on|[Pp]rocede)\b"
)
_PASSIVE = re.compile(r"(?:[Nn]o )?(?:[Pp]odr|[Dd]eber)(?:á|án) (?:[\wáéíóú]+rse|ser|existir)\b")
# What may be left out of a yes-or-no question without changing its answer.
_HARMLESS_TAIL = re.compile(
    r"[,;:] (?:que|sin que|a efectos|de acuerdo|en los términos|según|por lo que|en la forma|en las condiciones|quien|a cuyo)\b"
)
_MAX_QUESTION_WORDS = 34
_ONE_OF_MANY = re.compile(
    r"(?:El|La) (?:plazo|tipo|importe|cuantía|fecha|objetivo|finalidad|órgano|límite|lugar|efecto|porcentaje|"
    r"resultado|período|periodo)\b"
)
_LIST_LEAD = re.compile(
    r"^(?P<a>.+?)\s*\b(?P<art>los|las|el|la)\s+siguientes?\s+(?P<n>[a-záéíóúñ]+(?:\s+(?:de\s+)?[a-záéíóúñ]+){0,2}):$"
)
_LIST_LEAD_AFTER = re.compile(
    r"^(?P<a>.+?)\s*\b(?P<art>los|las|el|la)\s+(?P<n>[a-záéíóúñ]+(?:\s+(?:de\s+)?[a-záéíóúñ]+)?)\s+siguientes?:$"
)
# What points elsewhere at the end of a clause, and can be left out of a question.
POINTER = re.compile(
    r",?\s(?:que se (?:establecen?|refieren?|indican?|citan?|señalan?|detallan?)|a (?:los |las |la )?que se "
    r"refier\w+|a los que se refier\w+|previst[ao]s? (?:en|por)|"
    r"establecid[ao]s? (?:en|por)|regulad[ao]s? (?:en|por)|contenid[ao]s? en|recogid[ao]s? en|señalad[ao]s? en|"
    r"de acuerdo con lo|conforme a lo|con arreglo a lo|en los términos|de conformidad con|según lo|en virtud de lo)\b.*$"
)
# A noun that says nothing without what pointed elsewhere.
_LOST = re.compile(
    r"\b(?:el|la|los|las) (?:plazos?|medios?|términos?|casos?|supuestos?|formas?|condiciones|efectos?|reglas?|personas?)$"
)
# A rule that only sends to another one answers nothing.
_ONLY_POINTS = re.compile(
    r"\blo (?:dispuesto|establecido|previsto|señalado|indicado|anterior)\b|\bse estará a\b|\best[ae] "
    r"(?:capítulo|sección|título|artículo|apartado)\b|\b(?:párrafo|apartado|número) anterior",
    re.IGNORECASE,
)


def rule_candidates(text: DocumentText) -> Iterator[Candidate]:
    """All questions that the patterns find, in reading order."""
    makers: tuple[Callable[[DocumentText, Statement], Iterator[Candidate]], ...] = (
        _definitions, _terms, _rates, _conditions, _first_conditions, _duties, _purposes, _who, _whether, _reversed,
    )  # fmt: skip
    for statement in text.statements:
        for make in makers:
            found = next((c for c in make(text, statement) if _good(c.question)), None)
            if found:
                yield found
    for listing in text.listings:
        yield from (c for c in _lists(listing) if _good(c.question))


def split_subject(sentence: str) -> tuple[str, str, str] | None:
    """Subject, verb group and the rest of a plain sentence; None where the subject is not plain."""
    match = re.match(rf"{_SUBJECT}\s+(?P<v>{VERB})\s*(?P<r>.*)$", sentence)
    if match is None:
        return None
    subject, verb, rest = match["s"], match["v"], match["r"]
    if (
        _NOT_A_SUBJECT.search(subject)
        or HEDGED.search(subject)
        or not 2 <= len(subject.split()) <= 16
        or not self_contained(subject)
    ):
        return None
    if subject.split()[-1].casefold() in (
        "de",
        "a",
        "en",
        "por",
        "con",
        "y",
        "o",
        "para",
        "el",
        "la",
        "los",
        "las",
        "sin",
        "no",
    ):
        return None
    return subject, verb, rest


def names_something(phrase: str) -> bool:
    """Whether a subject says what it is about without its context."""
    found = stems(phrase)
    return (len(found) >= 2 and not set(found) <= BARE) or (
        len(found) == 1 and found[0] not in BARE and len(found[0]) > 5
    )


def without_pointer(sentence: str) -> str:
    """A sentence without what sends the reader elsewhere at its end; unchanged where too little would be left."""
    short = POINTER.sub("", sentence.rstrip("."))
    return f"{short}." if len(short.split()) >= 8 and not _LOST.search(short) else sentence


def _good(question: str) -> bool:
    words = question.split()
    if not 5 <= len(words) <= _MAX_QUESTION_WORDS or not self_contained(question):
        return False
    return len(set(stems(question)) - BARE) >= 2 and question.count(",") <= 2 and "  " not in question


def asked(wh: str, verb: str, subject: str, middle: str = "") -> str:
    """A question with the subject after the verb and what belongs to it: "¿Cuándo debe expedirse la factura?"."""
    verb, subject, middle = present(verb), lower_first(subject), middle.strip(" ,")
    head = _WITH_VERB.match(middle)
    if head or len(middle.split()) <= 2:
        taken = middle if head is None or len(middle.split()) <= 2 else head.group()
        verb, middle = f"{verb} {taken}".strip(), middle[len(taken) :].strip()
    return f"¿{wh} {' '.join(part for part in (verb, subject, middle) if part)}?"


def _candidate(
    form: Form, question: str, statement: Statement, facts: tuple[tuple[str, ...], ...], quality: float, subject: str
) -> Candidate:
    return Candidate(form, question, statement.fragment, statement.start, len(statement.text), facts, quality, subject)


def _terms_of(text: DocumentText, answer: str, question: str, n: int = 3) -> tuple[tuple[str, ...], ...]:
    return tuple((term,) for term in text.key_terms(answer, n, without=stems(question)))


def _definitions(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    sentence = re.sub(r"^A (?:los )?efectos de [^,]{3,60}, (\w)", lambda m: m.group(1).upper(), st.text)
    nominal = r"(?:el|la|los|las|aqu[eé]ll?[oa]?s?|cualquier|tod[oa]s?|un|una|lo|quienes)\b"

    def made(question: str, subject: str, answer: str, quality: float) -> Candidate:
        return _candidate(Form.DEFINITION, question, st, _terms_of(text, answer, question), quality, subject)

    if m := re.match(
        rf"Se entende?(?:rá|rán|n|de)? (?:por|como) (?P<x>[^,:]{{4,80}}?),? (?P<d>{nominal}.{{25,}})", sentence
    ) or re.match(rf"Se entienden? (?:por|como) (?P<x>[^,:]{{4,80}}?),? (?P<d>{nominal}.{{25,}})", sentence):
        yield made(f"¿Qué se entiende por {lower_first(m['x'])}?", m["x"], m["d"], 0.95)
    if m := re.match(rf"(?:Son|Serán) (?P<x>[a-záéíóúñ]+(?: [a-záéíóúñ]+){{1,4}}?) (?P<d>{nominal}.{{25,}})", sentence):
        who = "Quiénes" if PERSONS.match(m["d"]) else "Qué"
        if not re.match(rf"(?:{FINITE}|exigibles?|de|competentes?|aplicables?|[\w]+(?:ad|id)[oa]s?)\b", m["x"]):
            yield made(f"¿{who} son {with_article(m['x'])}?", m["x"], m["d"], 0.9)
    if m := re.match(
        rf"(?:Se considera(?:rá|rán|n)?|Tendrán? la consideración de|Tienen? la consideración de) "
        rf"(?P<x>[a-záéíóúñ]+(?: [a-záéíóúñ]+){{0,5}}?),? (?:a )?(?P<d>{nominal}.{{25,}})",
        sentence,
    ):
        verb = "Quiénes tienen" if PERSONS.match(m["d"]) else "Qué tiene"
        if not re.match(
            r"(?:que|como|[\w]+(?:ad|id)[oa]s?|exent[oa]s?)\b|.*\bque\b|.*\b(?:cada|tod[oa]s?|para|de|a|en)$", m["x"]
        ):
            yield made(f"¿{verb} la consideración de {m['x']}?", m["x"], m["d"], 0.85)
    if not (parts := split_subject(sentence)):
        return
    subject, verb, rest = parts
    if not names_something(subject):
        return
    if re.search(r"\b(?:primer|segund|tercer|últim)[oa]?s?\b", subject):
        return
    if (
        verb in ("es", "son")
        and len(subject.split()) <= 9
        and re.match(rf"{nominal}\s+(?!mism|siguiente|previst|establecid)", rest)
        and len(rest) > 40
    ):
        which = "Cuál es" if _ONE_OF_MANY.match(subject) and verb == "es" else f"Qué {verb}"
        question = f"¿{which} {lower_first(subject)}?"
        form = Form.DEADLINE if re.match(r"El plazo\b", subject) else Form.DEFINITION
        yield _candidate(form, question, st, _terms_of(text, rest, question), 0.95, subject)
    elif verb in ("consiste", "consisten", "consistirá", "consistirán") and rest.startswith("en "):
        yield made(f"¿En qué {present(verb)} {lower_first(subject)}?", subject, rest, 0.9)
    elif m := re.match(r"por (?:objeto|finalidad|objetivo)\s+(?P<d>.{20,})", rest):
        yield made(f"¿Qué finalidad {present(verb)} {lower_first(subject)}?", subject, m["d"], 0.9)
    elif m := re.match(r"la consideración de (?P<d>.{6,})", rest):
        if "no " not in verb and verb.split()[-1] in ("tendrá", "tendrán", "tiene", "tienen"):
            yield made(f"¿Qué consideración {present(verb)} {lower_first(subject)}?", subject, m["d"], 0.7)
    elif m := re.match(r"obligad[oa]s? a (?P<d>.{15,})", rest):
        if "no " not in verb:
            yield made(f"¿A qué {present(verb)} {m.group().split()[0]} {lower_first(subject)}?", subject, m["d"], 0.8)
    elif re.match(r"(?:comprende|incluye|constará|consta)", verb) and len(rest.split()) >= 6 and "no " not in verb:
        of = "De qué" if verb.startswith("const") and rest.startswith("de ") else "Qué"
        yield made(f"¿{of} {present(verb)} {lower_first(subject)}?", subject, rest, 0.75)


def _terms(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """Deadlines and lengths of time."""
    sentence = st.text
    if m := re.match(
        rf"El plazo (?P<p>[^,:;]*?)\s+(?:será|es) (?:siempre )?(?:de|como máximo de) (?P<n>{NUMBER}) (?P<u>{_UNITS})",
        sentence,
    ):
        if len(stems(m["p"])) >= 2 and re.match(r"(?:de|para|máximo|mínimo)\b", m["p"]):
            yield _candidate(
                Form.DEADLINE, f"¿Cuál es el plazo {m['p']}?", st, (_length(m["n"], m["u"]),), 0.95, m["p"]
            )
        return
    term, date = _TERM.search(sentence), _DATE.search(sentence)
    found = term or date
    if found is None:
        return
    facts: tuple[tuple[str, ...], ...] = (_length(term["n"], term["u"]) if term else (found.group(),),)
    if len(_TERM.findall(sentence)) > 1:
        return
    before = sentence[: found.start()].rstrip(" ,")
    wh = (
        "En qué plazo"
        if term and not re.match(r"durante", found.group(), re.IGNORECASE)
        else "Durante cuánto tiempo"
        if term
        else "En qué fechas"
    )
    if parts := split_subject(before + " "):
        subject, verb, middle = parts
        if (
            len(middle.split()) <= 14
            and "," not in middle
            and not _clauses(middle)
            and (
                names_something(f"{subject} {middle}")
                and not re.search(r"(?:podrá|podrán)$", verb)
                and not _unfinished(middle)
            )
        ):
            yield _candidate(Form.DEADLINE, asked(wh, verb, subject, middle), st, facts, 0.85, subject)


def _clauses(stretch: str) -> bool:
    """Whether a stretch after the verb holds another clause, or takes something back."""
    return bool(_NOT_A_SUBJECT.search(stretch) or _ENDS_WITH_FINITE.search(stretch) or HEDGED.search(stretch))


def _unfinished(stretch: str) -> bool:
    return bool(
        re.search(
            r"\b(?:de|a|en|por|con|y|o|para|el|la|los|las|sin|que|del|al|sobre|desde|hasta|un|una)$", stretch.strip()
        )
    )


def _length(number: str, unit: str) -> tuple[str, ...]:
    return tuple(f"{form} {unit}" for form in number_forms(number))


def _rates(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """Percentages and amounts."""
    rates = list(_RATE.finditer(st.text))
    if len(rates) != 1 or not (parts := split_subject(st.text)):
        return
    subject, verb, rest = parts
    rate = rates[0]
    facts = (figure_forms(rate["n"], rate["u"]),)
    if not names_something(subject) or len(stems(subject)) < 2:
        return
    if re.match(rf"(?:de|del|el|en|como máximo,? de|un máximo de)?\s*{re.escape(rate.group())}", rest):
        if verb in ("será", "es"):
            yield _candidate(Form.FIGURE, f"¿Cuál es {lower_first(subject)}?", st, facts, 0.95, subject)
        elif verb in ("serán", "son"):
            yield _candidate(Form.FIGURE, f"¿Cuáles son {lower_first(subject)}?", st, facts, 0.8, subject)
    elif "consist" in verb:
        return
    elif re.match(
        rf"(?:con |en )?(?P<x>multa(?: pecuniaria)?(?: proporcional| fija)?) (?:del?) {re.escape(rate.group())}", rest
    ):
        yield _candidate(
            Form.FIGURE, f"¿Con qué multa {present(verb)} {lower_first(subject)}?", st, facts, 0.85, subject
        )
    elif re.match(
        rf"(?:al|a un|en un|en el|por el|en|del?|hasta el|a|el)\s+(?:tipo del?\s+)?{re.escape(rate.group())}", rest
    ):
        prep = "A" if re.match(r"al?\b", rest) else "En"
        if re.match(r"(?:asc|reduc|tribut|aplic|elev|increment|redu)", verb.split()[-1]):
            wh = f"{prep} cuánto" if "asc" in verb else "A qué tipo" if "tribut" in verb else f"{prep} qué porcentaje"
            yield _candidate(Form.FIGURE, asked(wh, verb, subject), st, facts, 0.8, subject)


def figure_forms(number: str, unit: str) -> tuple[str, ...]:
    """Ways of writing a figure with its unit ("10 por ciento", "10 %", "diez por ciento")."""
    units = ("por ciento", "%", "por 100") if unit.casefold() in ("por ciento", "por 100", "%") else (unit, "€")
    return tuple(dict.fromkeys(f"{n} {u}" for n in number_forms(number) for u in (unit, *units)))


def _conditions(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """Main clause first, condition after it: "¿Cuándo …?"."""
    condition = _CONDITION.search(st.text)
    if condition is None or len(condition["c"].split()) < 5:
        return
    main = st.text[: condition.start()].rstrip(" ,")
    wh = (
        "Con qué condición"
        if condition["link"].startswith("siempre")
        else "Cuándo"
        if condition["link"] == "cuando"
        else "En qué casos"
    )
    if "," in main or len(main.split()) > 24 or _unfinished(main):
        return

    def made(question: str, quality: float) -> Candidate:
        return _candidate(Form.CONDITION, question, st, _terms_of(text, condition["c"], question), quality, main)

    if m := re.match(rf"(?P<v>(?:No )?(?:[Ss]e )?{FINITE})\s+(?P<r>.+)$", main, re.IGNORECASE):
        first = present(lower_first(m["v"]))
        if (_SUBJECTLESS.match(main) or _PASSIVE.match(main)) and names_something(m["r"]) and not _clauses(m["r"]):
            yield made(f"¿{wh} {first} {m['r']}?", 0.9)
    elif parts := split_subject(main + " "):
        subject, verb, rest = parts
        if names_something(f"{subject} {rest}") and not _clauses(rest) and rest:
            yield made(asked(wh, verb, subject, rest), 0.8)


def _first_conditions(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """Condition first: "¿Qué ocurre cuando …?"."""
    match = _FIRST_CONDITION.match(st.text)
    if match is None:
        return
    link, body = lower_first(match["link"]), match["c"]
    for comma in re.finditer(r", ", body):
        condition, main = POINTER.sub("", body[: comma.start()]), body[comma.end() :]
        if not _MAIN.match(main):
            continue
        if _ONLY_POINTS.search(main):
            return
        if not 4 <= len(condition.split()) <= 26 or len(main.split()) < 5 or condition.count(",") > 1:
            return
        named = (
            _CLAUSE_SUBJECT.match(condition)
            if link not in _NOMINAL_LINKS
            else re.match(r"(?:el|la|los|las|un|una|(?!\w+r(?:se)?\b)\w{5,})\b", condition)
        )
        if not named or len(set(stems(condition)) - BARE) < 3 or not self_contained(condition):
            return
        verb = re.search(rf"(?:no\s+)?(?:se\s+)?{FINITE}", main, re.IGNORECASE)
        ask = (
            "¿Qué hay que hacer" if verb and re.match(r"(?:se )?deber", verb.group(), re.IGNORECASE) else "¿Qué ocurre"
        )
        link = {"tratándose de": "cuando se trata de", "transcurrido": "una vez transcurrido"}.get(link, link)
        question = f"{ask} {link} {condition}?"
        yield _candidate(Form.CONSEQUENCE, question, st, _terms_of(text, main, question), 0.85, condition)
        return


def _duties(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """What those must or may do who are in a situation; what must be done to reach something."""
    if m := re.match(
        r"(?P<s>(?:El|La|Los|Las|Quienes)\s[^:;]{5,150}?\bque\b[^:;]{5,140}?),?\s+(?P<v>deberán?|podrán?)\s+(?P<r>(?!ser\b)\w+r(?:se)?\b.{20,})",
        st.text,
    ):
        subject = m["s"].rstrip(" ,")
        if not re.search(r"\w+r(?:á|án)\b", subject) and subject.count(",") <= 1 and len(subject.split()) <= 24:
            do = "deben hacer" if m["v"].endswith("n") else "debe hacer"
            do = do if m["v"].startswith("deb") else do.replace("debe", "puede")
            question = f"¿Qué {do} {lower_first(subject)}?"
            if PERSONS.match(lower_first(subject)):
                yield _candidate(Form.CASE, question, st, _terms_of(text, m["r"], question), 0.8, subject)
    if m := re.match(r"Para (?P<c>(?!que\b|ello\b)\w+[aei]r(?:se)?\b[^,:;]{15,140}), (?P<r>.{25,})", st.text):
        question = f"¿Qué hay que hacer para {m['c']}?"
        must = re.search(r"\b(?:deber|ser(?:á|án) (?:preciso|necesari|requisito)|tendr|debe)", m["r"])
        if must and _MAIN.match(m["r"]):
            yield _candidate(Form.CASE, question, st, _terms_of(text, m["r"], question), 0.8, m["c"])


def _whether(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """May they, must they, does it count as: a rule put to the test by a yes-or-no question."""
    if HEDGED.search(st.text) or not (parts := split_subject(st.text)):
        return
    subject, verb, rest = parts
    clause = POINTER.sub("", re.split(r"[,;:.]", rest, maxsplit=1)[0]).strip()
    if (
        not 3 <= len(clause.split()) <= 22
        or _clauses(clause)
        or _unfinished(clause)
        or not names_something(f"{subject} {clause}")
    ):
        return
    tail = rest[len(clause) :].lstrip(" .")
    if (tail and not _HARMLESS_TAIL.match(tail)) or re.match(r"\w+r(?:se)? (?:y|o|e|u)\b", clause):
        return
    plain = verb.replace("no ", "").lower()
    if re.match(r"(?:pod|deb)(?:r(?:á|án)|erán?)$", plain) and re.match(r"[\wáéíóú]+r(?:se)?\b", clause):
        if plain.startswith("deb"):
            infinitive = re.match(r"(?:ser\s+\w+|[\wáéíóú]+)", clause)
            assert infinitive is not None
            after = clause[infinitive.end() :].strip()
            verb_group = f"{'tienen' if plain.endswith('n') else 'tiene'} que {infinitive.group()}"
            question = f"¿{verb_group[0].upper()}{verb_group[1:]} {lower_first(subject)} {after}".strip() + "?"
        else:
            question = asked("", plain, subject, clause).replace("¿ ", "¿")
    elif re.match(r"(?:tendr|tien|estar|está|quedar)", plain) and re.match(
        r"(?:la consideración|derecho|exent|sujet\w+ al?\b|obligad\w+ a\b|exclui\w+ de|incluid\w+ en)", clause
    ):
        question = asked("", plain, subject, clause).replace("¿ ", "¿")
    else:
        return
    question = f"¿{question[1].upper()}{question[2:]}"
    core = (verb,)
    yield _candidate(Form.CASE, question, st, (core, *_terms_of(text, clause, subject, 2)), 0.78, subject)


def _reversed(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """The rule that a condition, said last, leads to: "¿Qué ocurre cuando …?"."""
    condition = _CONDITION.search(st.text)
    if condition is None:
        return
    link, case = condition["link"], POINTER.sub("", re.split(r"[,;:]", condition["c"], maxsplit=1)[0]).strip()
    main = st.text[: condition.start()].strip(" ,")
    if (
        link.startswith("siempre")
        or not 5 <= len(case.split()) <= 24
        or not _CLAUSE_SUBJECT.match(case)
        or len(main.split()) < 4
        or _ONLY_POINTS.search(main)
    ):
        return
    if re.search(r"\w+r(?:á|án)\b", case) or not names_something(case) or _unfinished(case):
        return
    ask = "¿Qué hay que hacer" if re.search(r"\b[Dd]eb(?:er|en?\b)", main) else "¿Qué ocurre"
    question = f"{ask} {link} {case}?"
    yield _candidate(Form.CONSEQUENCE, question, st, _terms_of(text, main, question), 0.75, case)


def _purposes(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """What for and why."""
    for link, wh in (
        (
            r"(?:con el fin de|a fin de|con objeto de|con la finalidad de|con el objeto de|para que)",
            "Con qué finalidad",
        ),
        (r"(?:porque|ya que|dado que|puesto que)", "Por qué"),
    ):
        match = re.search(rf",?\s+{link}\s+(?P<c>.{{20,}})\.$", st.text)
        if match is None:
            continue
        main = st.text[: match.start()].rstrip(" ,")
        parts = split_subject(main + " ")
        if parts and "," not in main and len(main.split()) <= 24 and not _unfinished(main) and parts[2]:
            subject, verb, rest = parts
            if names_something(f"{subject} {rest}") and not _clauses(rest):
                question = asked(wh, verb, subject, rest)
                yield _candidate(Form.INFERENCE, question, st, _terms_of(text, match["c"], question), 0.8, subject)


def _who(text: DocumentText, st: Statement) -> Iterator[Candidate]:
    """Who is competent, who may, who is left out."""
    if (
        m := re.match(
            r"Corresponder?á?n? (?P<w>al? [^,:;]{5,80}?) (?P<x>(?:la|el|las|los) [^,:;]{10,110})[.,]", st.text
        )
    ) and not re.search(r"\w+[aei]r\b", m["w"]):
        yield _candidate(
            Form.STATEMENT, f"¿A quién corresponde {m['x']}?", st, ((m["w"].split(" ", 1)[1],),), 0.6, m["x"]
        )
    if (
        (
            m := re.match(
                r"(?P<v>(?:No )?(?:[Ee]star|[Qq]uedar|[Pp]odr|[Dd]eber|[Tt]endr)(?:á|án)) (?P<x>[^,:;]{8,110}?) "
                r"(?P<w>(?:los|las) [^,:;]{4,90} que .{15,})",
                st.text,
            )
        )
        and PERSONS.match(m["w"])
        and not re.search(r"\b(?:los|las|de|a|en)$", m["x"])
    ):
        verb = present(m["v"].lower()).replace("n ", "n ")
        question = f"¿Quiénes {verb} {m['x']}?"
        yield _candidate(Form.CONDITION, question, st, _terms_of(text, m["w"], question), 0.75, m["x"])


def _lists(listing: Listing) -> Iterator[Candidate]:
    """What a list holds."""
    if not 2 <= len(listing.items) <= 12 or listing.cut or sum(len(i.split()) for i in listing.items) > 180:
        return
    match = _LIST_LEAD.match(listing.lead) or _LIST_LEAD_AFTER.match(listing.lead)
    if match is None or match["a"].count(",") > 1:
        return
    before, noun = match["a"].strip(" ,"), match["n"]
    length = len(listing.fragment.text) - listing.start
    end = listing.fragment.text.find(listing.items[-1][-30:], listing.start)
    length = end + 30 - listing.start if end > 0 else length
    facts = tuple((_short(item),) for item in listing.items[:4])
    which = "Qué" if noun else "Cuáles"
    of_some = bool(re.search(r"\b(?:algun[oa]s?|cualquiera|un[oa]) de$", before))
    before = re.sub(r"\b(en|de|por|con|mediante) (?:algun[oa]s?|cualquiera|un[oa])(?: de)?$", r"\1", before)
    prep = re.search(
        r"\b(en relación con|de acuerdo con|respecto del?|además de|en|a|de|por|con|sobre|mediante)$", before
    )
    if prep and prep.group(1) == "además de":
        return
    core = before[: prep.start()].strip() if prep else before
    if (
        prep
        and prep.group(1) == "de"
        and not of_some
        and not re.search(rf"(?:(?:ad|id)[oa]s?|r(?:se)?|{FINITE})$", core)
    ):
        return
    if re.search(r"\bde \w+[aei]r$", core):
        return
    wh = f"{prep.group(1).capitalize()} {which.lower()} {noun}" if prep else f"{which} {noun}"

    def made(question: str, quality: float) -> Candidate:
        return Candidate(Form.LIST, question, listing.fragment, listing.start, length, facts, quality, noun)

    if m := re.match(rf"(?P<v>(?:No )?(?:[Ss]e )?{FINITE})\b\s*(?P<r>.*)$", core, re.IGNORECASE):
        verb = present(lower_first(m["v"]))
        if verb not in ("son", "es") and (m["r"] or prep or len(noun.split()) > 1) and not _clauses(m["r"]):
            yield made(f"¿{wh} {' '.join(x for x in (verb, m['r']) if x)}?", 0.85)
    elif parts := split_subject(core + " "):
        subject, verb, rest = parts
        if present(verb) in ("es", "son") and re.match(r"(?:el|la|los|las|un|una)\b", rest):
            return
        if not _clauses(rest) and not _unfinished(rest) and (names_something(f"{subject} {rest}")):
            yield made(asked(wh, verb, subject, rest), 0.9)


def _short(item: str) -> str:
    """The beginning of an item, up to its first comma or eight words."""
    head = re.split(r"[,;:.(]", item, maxsplit=1)[0]
    return " ".join(head.split()[:8])


__all__ = ["article", "asked", "is_feminine", "names_something", "rule_candidates", "split_subject"]
