"""Type D without a model: statements that the source contradicts, quotations it does not hold, wrong attributions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from core.qa.borders import load_topics
from core.qa.generator_narrative import PAST, named_subject, one_deed
from core.qa.generator_rules import BARE, PERSONS, names_something, split_subject
from core.qa.models import BookInfo, Form
from core.qa.naming import about, is_official, named, topic_of
from core.qa.spanish import FINITE, NUMBER, denied, like, lower_first, number_forms, number_value
from core.qa.text import HEDGED, DocumentText, Statement, bare, overlap, self_contained
from core.retrieval.terms import fold, stems

_FIGURE = re.compile(
    rf"(?P<n>{NUMBER})\s+(?P<u>por ciento|por 100|%|euros|pesetas|días|mes(?:es)?|años?|horas|semanas|hijos|"
    rf"vecinos|votos|ejemplares|carteles|personas|páginas|"
    r"cuentos|libros|líneas|erratas|historias)\b",
    re.IGNORECASE,
)
_TENS = re.compile(r"\b(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa) y $", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:en|de) (?P<y>1[5-9]\d\d|20\d\d)\b")
# Denying these makes a statement that a person could believe.
_DENIABLE = re.compile(
    r"^(?:no )?(?:se )?(?:podrá|podrán|deberá|deberán|quedará|quedarán|estará|estarán|tendrá|tendrán|puede|pueden|debe|"
    r"deben|está|están|será|serán|exigirá|aplicará|aplicarán|admitirá|admitirán|considerará|considerarán|incluirá|"
    r"incluirán|devengará|devengarán)$"
)
_NOT_IN_TRAP = re.compile(
    r"\b(?:es decir|esto es|por ejemplo|no obstante|sin embargo|en todo caso|asimismo|en particular|en "
    r"general|casillas?|se exceptúan?|se excluyen?|siguientes?|artículos?|apartados?|letras?|anterior(?:es)?|"
    r"presente|párrafos?)\b|[«»“”:;()]",
    re.IGNORECASE,
)
_REPORTABLE = re.compile(rf"(?:El|La|Los|Las|Un|Una|Toda|Todo|Se|No|En|{FINITE})\s", re.IGNORECASE)
_DETERMINED = re.compile(r"(?:El|La|Los|Las|Un|Una|Toda|Todo)\s")
_SAME_THING = 0.6
_SAYS_ENOUGH = 7
_MAX_WORDS = 38


@dataclass(frozen=True, slots=True)
class Trap:
    """A statement that is false by the source, with the true sentence, and what an answer must say and must not."""

    form: Form
    question: str
    statement: Statement
    false_statement: str
    facts: tuple[tuple[str, ...], ...]
    forbidden: tuple[str, ...]
    quality: float


def plain(statement: Statement) -> bool:
    """Whether a sentence can be put into somebody's mouth: short, whole, without hedges or references."""
    text = statement.text
    return (
        len(text.split()) <= _MAX_WORDS
        and not HEDGED.search(text)
        and not _NOT_IN_TRAP.search(text)
        and self_contained(text.rstrip("."))
        and _named(text)
    )


def _named(text: str) -> bool:
    parts = split_subject(text)
    return bool(parts and _says_of_what(parts[0])) or bool(re.match(r"El plazo (?:de|para|máximo) \w+ \w+", text))


def _says_of_what(subject: str) -> bool:
    found = stems(subject)
    told = len(set(found) - BARE) >= 2 or (len(found) >= 4 and names_something(subject))
    return told or bool(PERSONS.match(subject[:1].lower() + subject[1:]))


def sayable(statement: Statement) -> bool:
    """Whether somebody could say "he leído que" before a sentence: less strict than `plain`, its subject may come late."""
    text = statement.text
    return (
        len(text.split()) <= _MAX_WORDS
        and not _NOT_IN_TRAP.search(text)
        and self_contained(text.rstrip("."))
        and bool(_REPORTABLE.match(text))
        and not re.search(r"\b(?:salvo|excepto|no obstante|sin embargo|su|sus)\b", text)
        and len(set(stems(text)) - BARE) >= 4
        and (not _DETERMINED.match(text) or bool((parts := split_subject(text)) and _says_of_what(parts[0])))
    )


def story_plain(statement: Statement, doers: set[str]) -> bool:
    """As `plain`, for a story: a person by name does something."""
    parts = named_subject(statement.text, doers)
    text = statement.text
    return (
        bool(parts and len(parts[2].split()) >= 4)
        and len(text.split()) <= _MAX_WORDS
        and not re.search(r"[«»:;]|\b(?:él|ella|ellos|lo|le)\b", text)
    )


def contradicted_figure(text: DocumentText, sentence: str, figure: str, altered: str) -> bool:
    """Whether the altered figure is nowhere in the document attached to the same thing."""
    about = set(stems(sentence.replace(figure, "")))
    number, _, unit = altered.partition(" ")
    forms = {fold(f"{n} {unit}".strip()) for n in (number, *number_forms(number))}
    for _, other, present in text.sentence_stems:
        if (
            any(re.search(rf"\b{re.escape(form)}\b", fold(other)) for form in forms)
            and overlap(about, present) >= _SAME_THING
        ):
            return False
    return True


def figure_traps(book: BookInfo, text: DocumentText, statements: Sequence[Statement], rng: Random) -> Iterator[Trap]:
    """True statements with another figure."""
    for st in statements:
        found = list(_FIGURE.finditer(st.text))
        years = list(_YEAR.finditer(st.text))
        if len(found) == 1 and not years:
            number, unit = found[0]["n"], found[0]["u"]
            value = number_value(number)
            if value is None or value <= 1 or (number.casefold() not in ("dos", "tres") and unit == "mes"):
                continue
            old, new_number = f"{number} {unit}", like(number, _other_value(value, unit, rng))
            new = f"{new_number} {unit}"
            facts: tuple[tuple[str, ...], ...] = (tuple(f"{n} {unit}" for n in number_forms(number)),)
            if tens := _TENS.search(st.text[: found[0].start()]):  # «treinta y siete años»
                facts, forbidden = ((f"{tens.group()}{old}",),), f"{tens.group()}{new}"
            else:
                forbidden = new
        elif len(years) == 1 and not found:
            old = years[0]["y"]
            new = str(int(old) + rng.choice((-6, -4, 5, 7)))
            facts, forbidden = ((old,),), new
        else:
            continue
        if old not in st.text or st.text.count(old) != 1:
            continue
        false = st.text.replace(old, new).rstrip(".")
        if bare(false) in text.folded or not contradicted_figure(text, st.text, old, new):
            continue
        claim = lower_first(false)
        within = _within(st) if is_official(book) else ""
        question = rng.choice(
            (
                f"He leído{within} que {claim}. ¿Es correcto?",
                f"Me han dicho{within} que {claim}. ¿Es así?",
                f"¿Es verdad{within} que {claim}?",
            )
        )
        yield Trap(Form.FALSE_STATEMENT, question, st, false, facts, (forbidden,), 0.9)


def _within(st: Statement) -> str:
    """The section's topic, for a claim that says too little alone; '' where it says enough or there is no topic."""
    own = set(stems(st.text))
    topic, _ = topic_of(st.fragment)
    if not topic or len(own - BARE) >= _SAYS_ENOUGH or len(set(stems(topic)) - own) < 2:
        return ""
    context = about(topic)
    return f", {context[:1].lower()}{context[1:]},"


def _other_value(value: float, unit: str, rng: Random) -> float:
    if unit in ("por ciento", "por 100", "%"):
        return rng.choice([v for v in (3.0, 8.0, 12.0, 15.0, 30.0, 40.0, 60.0) if v != value])
    if value <= 20:
        return rng.choice(
            [v for v in (2.0, 3.0, 5.0, 7.0, 8.0, 9.0, 10.0, 12.0, 15.0) if v != value and abs(v - value) >= 2]
        )
    return float(round(value * rng.choice((0.5, 0.75) if unit.startswith("día") else (0.5, 2, 3))))


def opposite(statement: Statement) -> str:
    """A sentence with its predicate denied (or no longer denied); '' where that cannot be done safely."""
    parts = split_subject(statement.text)
    if parts is None or not _DENIABLE.match(parts[1]):
        return ""
    subject, verb, rest = parts
    if (
        re.match(r"(?:siempre|nunca|no|también|l[ao]s? )", rest)
        or re.search(r"\b(?:ni|tampoco|nunca|ningun[ao]?)\b", rest)
        or re.search(r"\w+r(?:á|án)\b|\bsiempre que\b|\bcuando\b|\bsi\b", rest)
    ):
        return ""
    turned = denied(f"{verb} {rest}")
    if not turned:
        return ""
    return f"{subject} {turned[0].lower()}{turned[1:]}".rstrip(".")


def story_opposite(statement: Statement, doers: set[str]) -> str:
    """A sentence of a story with what was done denied."""
    parts = named_subject(statement.text, doers)
    if parts is None:
        return ""
    subject, verb, rest = parts
    clause = one_deed(re.split(r"[,;:]|\sporque\s", rest, maxsplit=1)[0])
    if len(stems(clause)) < 3 or re.search(r"\b(?:nunca|nadie|ningún|ninguna|no|ni)\b", clause):
        return ""
    turned = verb.replace("no ", "", 1) if verb.startswith("no ") else f"no {verb}"
    return f"{subject} {turned} {clause}"


def opposite_traps(
    book: BookInfo, text: DocumentText, statements: Sequence[Statement], rng: Random, doers: set[str]
) -> Iterator[Trap]:
    """The opposite of what the document says."""
    for st in statements:
        false = story_opposite(st, doers) or opposite(st)
        if not false or bare(false) in text.folded:
            continue
        claim = lower_first(false)
        name = named(book)
        question = rng.choice(
            (
                f"¿Dice {name} que {claim}?",
                f"¿Es cierto que, según {name}, {claim}?",
                f"Según {name}, {claim}, ¿verdad?",
            )
        )
        yield Trap(Form.OPPOSITE_IDEA, question, st, false, _facts(text, st, question), (), 0.8)


def quotation_traps(
    book: BookInfo, text: DocumentText, statements: Sequence[Statement], rng: Random, doers: set[str]
) -> Iterator[Trap]:
    """Literal quotations that are not there: the opposite of a real sentence between quotation marks."""
    for st in statements:
        false = story_opposite(st, doers) or opposite(st)
        if not false or bare(false) in text.folded:
            continue
        question = f"¿Puedes citarme literalmente el pasaje en el que {named(book)} dice: «{false}»?"
        yield Trap(Form.FAKE_QUOTATION, question, st, f"«{false}»", _facts(text, st, question), (), 0.8)


def attribution_traps(
    book: BookInfo, text: DocumentText, statements: Sequence[Statement], rng: Random
) -> Iterator[Trap]:
    """What the document says, put down to another law or author."""
    topics = load_topics()
    for st in statements:
        claim = lower_first(st.text.rstrip("."))
        if is_official(book):
            context = fold(
                f"{st.text} {st.fragment.text} {' '.join(st.fragment.section_path)} {book.title} {book.category}"
            )
            whole = fold(book.title)
            laws = [
                name for name, terms in topics.laws if not any(fold(t) in context or fold(t) in whole for t in terms)
            ]
            if not laws:
                continue
            other = rng.choice(laws)
            question = f"La regla de que {claim} está en {other}, ¿verdad?"
            false = f"La regla de que {claim} está en {other}"
            right = (named(book), book.title)
        else:
            others = [a for a in topics.authors if fold(a) not in fold(book.author) and bare(a) not in text.folded]
            if not others:
                continue
            other = rng.choice(others)
            question = f"Lo de que {claim} lo escribió {other}, ¿no es así?"
            false = f"Lo de que {claim} lo escribió {other}"
            right = (book.author or book.title, book.title)
        yield Trap(Form.WRONG_AUTHOR, question, st, false, (right,), (other,), 0.8)


def _facts(text: DocumentText, st: Statement, question: str) -> tuple[tuple[str, ...], ...]:
    """What the true sentence says where the false one says the opposite: its verb with the words after it."""
    past = re.search(rf"\b(?P<v>{PAST})\s(?P<r>.*)", st.text)
    if past and not re.search(r"\w+r(?:á|án)\b", st.text):
        return ((f"{past['v']} {' '.join(past['r'].split()[:3])}".rstrip(" .,"),),)
    if parts := split_subject(st.text):
        return ((f"{parts[1]} {' '.join(parts[2].split()[:2])}".rstrip(" .,"),),)
    return tuple((t,) for t in text.key_terms(st.text, 2))
