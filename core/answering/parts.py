"""Questions that ask several things: their parts, each with what it is about, so that each can be searched."""

import re
from dataclasses import dataclass

from core.retrieval.terms import stems

_WORD = (
    r"(?:qu[eé]|cu[aá]l(?:es)?|cu[aá]nt[oa]s?|cu[aá]ndo|qui[eé]n(?:es)?|d[oó]nde"
    r"|cómo|como (?:lo|la|los|las|se|me|puedo|hago|tengo|debo))"
)
_BEFORE = r"(?:(?:tambi[eé]n|adem[aá]s) )?(?:(?:con|en|a|de|desde|hasta|por|para|cada)\s+)?"
# What a part begins with: a question word, or a verb by which people ask whether.
_WHETHER = (
    r"(?:me |lo |la |se |te |los |las )*(?:puedo|puede|pueden|podr[ií]a|tengo que|tienen que|hay que|debo|hay alguna)"
)
_ASKS = rf"{_BEFORE}{_WORD}\b|{_WHETHER}\b"
# What is asked by its noun, or by «si …» after «quiero saber».
_THING = (
    r"(?:tambi[eé]n |adem[aá]s )?(?:(?:a|de|en|con|por|para) )?(?:el |la |los |las |su |sus )?"
    r"(?:[uú]ltim[oa] d[ií]a|plazos?|fechas?|vencimiento|mes en que|d[ií]a en que|d[ií]as que|momento en que"
    r"|multas?|sanci[oó]n(?:es)?|recargos?|inter(?:eses|[eé]s de demora)|tipo de inter[eé]s"
    r"|porcentaje|importe|l[ií]mites?|cuant[ií]a|volumen|requisitos|obligaci[oó]n|tratamiento|frase|orden que|si (?=(?:\w+ ){0,5}"
    r"(?:puedo|puede|tengo|hay|debo|lleva|cuenta|estoy|est[aá]|tributa|sirve|vale|me|se|la|lo)\b))"
)
_CUE = re.compile(
    rf"(?<!\w)(?:{_THING}|{_WORD}|{_WHETHER}|se puede|llevan?|vale|sirve|obligad[oa]s?|presento|cobrarle"
    r"|no s[eé] si|necesito saber|quiero saber|saber|dime|ind[ií]queme|expl[ií]came)(?!\w)",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    rf"[?!]+[\s¿]*(?:y |e |o |pero )?(?={_ASKS})|[,;:.]\s*(?:y |e |o |pero |ademas |además )?¿?(?={_ASKS})"
    rf"|\s+(?:y|e|o|ni)\s+¿?(?={_ASKS})|(?:[,;:]?\s+(?:y|e|o|ni)|[,;:])\s+(?={_THING}\b)",
    re.IGNORECASE,
)
_QUESTION = re.compile(rf"^\W*{_BEFORE}{_WORD}\b", re.IGNORECASE)
_ASKING = re.compile(rf"^\W*(?:{_ASKS})", re.IGNORECASE)
# Two taxes, or two forms, in one question: the other one's name is taken out of each part.
_TAXES = (re.compile(r"\b(?:el |del |en el |de )?iva\b", re.IGNORECASE),
          re.compile(r"\b(?:la |el |del |en la |en el |de )?(?:renta|irpf)\b", re.IGNORECASE))  # fmt: skip
_FORM = re.compile(
    r"(?:\b(?:el|del|modelo) )*(?<![\d.,])(03[67]|100|11[15]|123|13[01]|18[04]|190|30[389]|34[79]|390|720)"
    r"(?![\d.,]*\d|\s*(?:€|eur|pavos))",
    re.IGNORECASE,
)
# A part with fewer words of meaning than this takes the subject of the first one with it.
_FEW_WORDS = 6
_MAX_PARTS = 3
# With a context of this many words of meaning before the first thing asked, a part needs not that one's words too, unless
# it points back to them.
_CONTEXT_WORDS = 3
_POINTS_BACK = re.compile(
    r"\b(?:lo|los|las|ello|ella|eso|esa|ese|est[aeo]|dicho|dicha|hacerl[oa]|\w+[aei]rl[oa]s?)\b", re.IGNORECASE
)
# Words of meaning that say of what something is asked, beside what is asked of it.
_SUBJECT_WORDS = 2
_JOINED = re.compile(r"^(?!.*[.:]).*(?:\b(?:[yeo]|ni)\b|;)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing asked: its ``title`` above its answer, and the ``query`` by which it is searched."""

    title: str
    query: str


def parts_of(question: str) -> tuple[Part, ...]:
    """The things that ``question`` asks, at most three; none where it asks one."""
    return _by_clauses(question) or _by_subjects(question)


def _by_clauses(question: str) -> tuple[Part, ...]:
    pieces: list[tuple[str, bool]] = []  # each with whether it is asked: a question mark closes it, or «y» and another
    start = 0
    for boundary in _BOUNDARY.finditer(question):
        text, sign = question[start : boundary.start()].strip(" ¿?,;:."), boundary.group()
        joined = _JOINED.search(sign) is not None and _asks_a_thing(question[: boundary.start()])
        if not joined and _ASKING.match(text) and not _ASKING.match(question[boundary.end() :]):
            continue  # «¿qué plazo y multa tiene …?» asks two things of what stands after both
        pieces.append((text, "?" in sign or joined))
        start = boundary.end()
    pieces.append((question[start:].strip(" ¿?,;:."), True))
    pieces = [
        (text, closed) for text, closed in pieces if stems(text) or (_QUESTION.match(text) and len(text.split()) > 2)
    ]
    context = ""
    while len(pieces) > 1 and not pieces[0][1] and not _QUESTION.match(pieces[0][0]):
        context, pieces = f"{context} {pieces[0][0]}".strip(), pieces[1:]
    asked = [text for text, closed in pieces if closed or _ASKING.match(text)]
    if len(asked) < 2:
        return ()
    told, _, first = asked[0].rpartition(". ")  # sentences before what is asked say what it is about
    context = f"{context} {told}".strip()
    subject = f"{context} {' '.join(_CUE.sub(' ', _QUESTION.sub('', first)).split())}".strip()
    parts = [Part(_title(first), f"{context}, {first}".strip(" ,"))]
    for piece in asked[1:_MAX_PARTS]:
        alone = len(stems(piece)) >= _FEW_WORDS or (
            len(stems(context)) >= _CONTEXT_WORDS and not _POINTS_BACK.search(piece)
        )
        about = context if alone else subject
        parts.append(Part(_title(piece), f"{about}, {piece}".strip(" ,")))
    return tuple(parts)


def _asks_a_thing(text: str) -> bool:
    """Whether the last sentence of what stands before an «y» asks by itself: it names what it wants to know, and of what."""
    return bool(_CUE.search(text.rpartition(". ")[2])) and len(stems(_CUE.sub(" ", text))) >= _SUBJECT_WORDS


def _title(piece: str) -> str:
    return f"¿{piece}?" if _ASKING.match(piece) else f"{piece[:1].upper()}{piece[1:]}"


def _by_subjects(question: str) -> tuple[Part, ...]:
    """Parts for two taxes or two forms that one question names."""
    taxes = [tax for tax in _TAXES if tax.search(question)]
    forms = list(dict.fromkeys(match.group(1) for match in _FORM.finditer(question)))
    if len(forms) == 2:
        without = [_FORM.sub(lambda m, f=f: m.group() if m.group(1) == f else " ", question) for f in forms]  # type: ignore[misc]
        names = [f"Modelo {form}" for form in forms]
    elif len(taxes) == 2:
        without = [_TAXES[1].sub(" ", question), _TAXES[0].sub(" ", question)]
        names = ["IVA", "IRPF"]
    else:
        return ()
    queries = [re.sub(r"\s+(?:y|e|o)\s*(?=[?.,]|$)", " ", " ".join(text.split())) for text in without]
    return tuple(Part(name, query) for name, query in zip(names, queries, strict=True))
