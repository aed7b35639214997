"""What the words of a question say of its scope: places, years, other matters, other languages."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.retrieval.terms import fold

SCOPE_PATH = PROJECT_ROOT / "data" / "scope.toml"

_YEAR = re.compile(r"(?<![.,/\d])\b(?:19|20)\d{2}\b(?![.,]?\d)(?!\s*(?:€|eur|km|kilos|kg|horas|unidades))")
# "la renta del 23", "el 303 del 24": the two figures end the phrase, or a word of the question follows, no unit.
_SHORT_YEAR = re.compile(
    r"\b(?:renta|irpf|declaracion|ejercicio|campana|ano|iva|trimestre|modulos|(?:modelo\s+)?(?:303|130|131|111|115|347|390))"
    r"\s+(?:del?\s+)?(?:ano\s+)?'?(\d{2})(?=\s*(?:$|[?,.;:)])|\s+(?:que|cual|cuando|cuant[oa]|se|y|para|como|de|hay|era|fue|"
    r"la|el|en|por|tengo|me|si|no|o)\b)"
)
_EVENT_BEFORE_YEAR = re.compile(
    r"\b(?:compr\w+|empec\w+|empez\w+|abri\w*|alta|jubil\w+|hered\w+|vend\w+|hice|hicim\w+|factur\w+|emit\w+|"
    r"cobr\w+|desde|nac\w+|"
    r"constru\w+|adquir\w+|matricul\w+|firm\w+|contrat\w+|cerr\w+|pague|pagu\w+)\b[^.?!]{0,45}$"
)
_ASKED_YEAR = re.compile(
    r"\b(?:en|de|del|para|ejercicio|ano|renta|campana|calendario|modulos|era|fue)\s+(?:el\s+)?(?:ano\s+)?$"
)
_OWN_PLACE = re.compile(
    r"\b(?:soy|vivo|vivimos|estoy|estamos|tengo|tenemos|trabajo|resido|abro|abri|monto|monte|aqui|domicili\w*|"
    r"afincad\w*|"
    r"empadronad\w*|autonom[oa]|local|taller|bar|tienda|negocio|despacho|consulta|hacienda)\b[^.?!]{0,50}\b(?:en|de|por)\s+(?:la\s+|el\s+)?$"
)
# Words that only somebody of the place uses of their own taxes.
_OWN_WORDS = ("igic", "ipsi", "ticketbai", "batuz", "foral", "hacienda foral", "diputacion foral")
_COUNTERPART = re.compile(
    r"\b(?:client\w*|vend\w*|compr\w*|proveedor\w*|envi\w*|mand\w*|export\w*|import\w*|traslad\w*|empresa)\b[^.?!]{0,40}$"
)


@dataclass(frozen=True, slots=True)
class Territory:
    """A place with a tax authority of its own."""

    name: str
    words: re.Pattern[str]
    administration: str


@dataclass(frozen=True, slots=True)
class ScopeData:
    """The words and texts of ``data/scope.toml``."""

    covered: tuple[int, ...]
    covered_text: str
    social_security: re.Pattern[str]
    social_security_answer: str
    territories: tuple[Territory, ...]
    answers: Mapping[str, str]
    greeting: re.Pattern[str]
    instruction: re.Pattern[str]


@lru_cache(maxsize=2)
def load_scope(path: Path = SCOPE_PATH) -> ScopeData:
    """Read the scope's words and texts.

    Raises:
        RegisterError: the file is not valid.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return ScopeData(
            covered=tuple(data["years"]["covered"]),
            covered_text=data["years"]["says"],
            social_security=_words(data["social_security"]["words"]),
            social_security_answer=data["social_security"]["answer"],
            territories=tuple(Territory(t["name"], _words(t["words"]), t["administration"]) for t in data["territory"]),
            answers=dict(data["answers"]),
            greeting=_words(data["greeting"]["words"]),
            instruction=_words(data["instruction"]["words"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise RegisterError(f"data/scope.toml no es válido ({error}). Restaure el archivo del repositorio.") from error


def _words(alternatives: str) -> re.Pattern[str]:
    joined = "".join(line.strip() for line in alternatives.splitlines())
    return re.compile(rf"\b(?:{joined})\b")


@dataclass(frozen=True, slots=True)
class Signs:
    """What the words of a question say of its scope."""

    territory: Territory | None
    own_place: bool
    counterpart: bool
    other_year: int | None
    year_is_asked: bool
    social_security: bool

    def numbers(self) -> list[float]:
        """As features."""
        return [
            float(self.territory is not None),
            float(self.own_place),
            float(self.counterpart),
            float(self.other_year is not None),
            float(self.year_is_asked),
            float(self.social_security),
        ]


def read_signs(question: str, scope: ScopeData | None = None) -> Signs:
    """Look for places, years and words of other matters in a question."""
    scope = scope or load_scope()
    text = fold(question)
    territory, own, counterpart = None, False, False
    for candidate in scope.territories:
        for match in candidate.words.finditer(text):
            territory = territory or candidate
            before = text[: match.start()]
            own = own or bool(_OWN_PLACE.search(before)) or match.group() in _OWN_WORDS
            counterpart = counterpart or bool(_COUNTERPART.search(before))
    year, asked = None, False
    for match in _YEAR.finditer(text):
        if int(match.group()) in scope.covered:
            continue
        before = text[: match.start()]
        year = year or int(match.group())
        asked = asked or bool(_ASKED_YEAR.search(before) and not _EVENT_BEFORE_YEAR.search(before))
    for match in _SHORT_YEAR.finditer(text):
        found = 2000 + int(match.group(1))
        if found not in scope.covered and found <= 2040:
            year, asked = year or found, True
    return Signs(
        territory=territory,
        own_place=own,
        counterpart=counterpart,
        other_year=year,
        year_is_asked=asked,
        social_security=bool(scope.social_security.search(text)),
    )


def has_known_words(question: str) -> bool:
    """Whether at least one word of the question is a word (of Spanish, or nearly)."""
    from core.ingestion.cleaning import spanish_word

    words = re.findall(r"[^\W\d_]{2,}", question)
    if not words:
        return bool(re.search(r"\d{3}", question))  # "¿303?" is a form
    return any(spanish_word(word) >= 2.0 for word in words)


def is_greeting(question: str, scope: ScopeData | None = None) -> bool:
    """Whether a question is nothing but greetings and thanks."""
    scope = scope or load_scope()
    return not re.search(r"\w", scope.greeting.sub("", fold(question)))


def is_instruction(question: str, scope: ScopeData | None = None) -> bool:
    """Whether the text gives orders to a language model instead of asking ("ignora tus instrucciones…")."""
    scope = scope or load_scope()
    return scope.instruction.search(fold(question)) is not None


def is_other_language(question: str) -> bool:
    """Whether a question of at least four words is plainly in another language."""
    from wordfreq import zipf_frequency

    words = re.findall(r"[^\W\d_]+", question.casefold())
    if len(words) < 4:
        return False

    def mean(language: str) -> float:
        return float(sum(zipf_frequency(w, language) for w in words)) / len(words)

    spanish = mean("es")
    return max(mean(language) for language in ("en", "fr", "de", "it", "pt", "ca")) > spanish + 0.7
