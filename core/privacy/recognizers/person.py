"""Names of persons by rules: lists of names, capitals, titles, labels and the form "Apellido, Nombre".

What the NLP engine finds is judged in `plausible`, by the same lists.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from core.privacy.gazetteer import gazetteer
from core.privacy.kinds import LIKELY, POSSIBLE, Kind, Match
from core.privacy.recognizers.person_words import COMPANY, Token, tokens

_TITLE = re.compile(
    r"(?<![\w.])(?:(?:D|Dª|D\.ª|Dn|Dña|D\.ña|Dñª|Sr|Sra|Srta|Sres|Dr|Dra|Dª\.?|Ilmo|Ilma|Excmo|Excma)\.?ª?\s|(?:don|doña|señor|señora|"
    r"señorita|Don|Doña|Señor|Señora|DON|DOÑA|SR|SRA|SEÑOR|SEÑORA)\s|Don/Doña\s|D\./Dña?\.?\s|D\./D\.ª\s|Sr\./Sra\.\s)"
)
_ROLES = (
    r"clientes?|titular(?:es)?|nombre(?: y apellidos| completo| del? [a-zé]+)?|apellidos(?:[ ,]+(?:y )?nombre)?|destinatari[oa]|arrendador(?:a|es)?|"
    r"arrendatari[oa]s?|inquilin[oa]s?|caser[oa]|propietari[oa]s?|trabajador(?:a|es)?|emplead[oa]s?|perceptor(?:a|es)?|beneficiari[oa]s?|representantes?(?: legal)?|"
    r"representad[oa]|administrador(?:a|es)?(?: [uú]nic[oa])?|apoderad[oa]|emisor(?:a)?|receptor(?:a)?|pagador(?:a)?|ordenante|paciente|alumn[oa]|asegurad[oa]|tomador(?:a)?|"
    r"comprador(?:a)?|vendedor(?:a)?|aut[oó]nom[oa]|contribuyente|declarante|obligad[oa](?: tributari[oa])?|c[oó]nyuge|espos[oa]|marido|mujer|pareja|hij[oa]s?|padre|madre|herman[oa]|"
    r"hereder[oa](?: universal)?|firmado(?: digitalmente)?(?: por)?|fdo|firma|contacto|persona de contacto|a la atenci[oó]n de|atenci[oó]n|a/a|att|atn|para|de|"
    r"interesad[oa]|solicitante|notari[oa]|perit[oa]|funcionari[oa]|abogad[oa]|gestor(?:a)?|asesor(?:a)?|soci[oa]s?|c[oó]mplice|proveedor(?:a)?|deudor(?:a)?|acreedor(?:a)?|"
    r"testigos?|hu[eé]sped|pasajer[oa]|viajer[oa]|cobrador(?:a)?|firmantes?|elaborado por|revisado por|pagado (?:por|a)|recib[ií] de|remite|president[ea]|secretari[oa]|"
    r"comuner[oa]s?|entregad?[oa]?(?: a)?|enviar a|facturar a|ponente|paciente|director(?:a)?|jef[ea]|tutor(?:a)?|suscriptor(?:a)?|"
    r"asistentes|raz[oó]n social|nombre o raz[oó]n social|apellidos y nombre o raz[oó]n social|m[eé]dic[oa]|profesor(?:a)?|conductor(?:a)?|t[eé]cnic[oa]|comercial|usuari[oa]|remitente|"
    r"atentamente|un saludo|saludos(?: cordiales)?|cordialmente|gracias|reciba un cordial saludo|colegiad[oa]|transmitente|adquirente|donante|donatari[oa]|causante|fallecid[oa]|testador(?:a)?|albacea"
)
_LABEL = re.compile(rf"(?<![^\W_])(?:{_ROLES})\.?(?:\s?[:|]\s*(?:\|\s*)?|\.\s|,?[ ]*\n\s*)", re.IGNORECASE)
_ROLE_THEN_NAME = re.compile(
    rf"(?<![^\W_])(?:la|el|al|a la|del|de la|su|mi|un|una|los|las)\s(?:{_ROLES})\s(?=[A-ZÁÉÍÓÚÑ])|(?i:a la atenci[oó]n de|a/a\.?|firmado(?: digitalmente)?(?: por)?|"
    r"fdo\.?:?|beneficiari[oa]|titular|a nombre de|a favor de|en nombre de|en representaci[oó]n de|representad[oa] por)\s(?=[A-ZÁÉÍÓÚÑ])"
)
_GREETING = re.compile(
    r"(?<![^\W_])(?:un (?:cordial )?saludo|un abrazo|saludos|gracias|hola|estimad[oa](?:s|/a|\(a\))?|querid[oa]s?|apreciad[oa]s?|buen[oa]s (?:d[ií]as|tardes|noches)),?\s",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"\s+[IVX]+\b")
_NOT_BEFORE = re.compile(
    r"(?:\b(?:san|sant|santa|santo|santes|s\.|sta\.|sto\.|calle|c/|avda\.?|avenida|plaza|pza\.?|paseo|hospital|colegio|instituto|parque|teatro|ley|puerto|isla|virgen)\s(?:de\s)?)$",
    re.IGNORECASE,
)
_MOST_WORDS = 11
_AND = ("y", "i", "e")
_LETTERS_ONLY = re.compile(r"[^\W\d_][^\d:;/@|]*")


def find(text: str) -> Iterator[Match]:
    """Names of persons in a plain text of one or more lines."""
    names = gazetteer()
    words = list(tokens(text, names))
    yield from _by_lists(text, words)
    starts = [w.start for w in words]
    for pattern, score in ((_TITLE, LIKELY), (_LABEL, LIKELY), (_ROLE_THEN_NAME, LIKELY), (_GREETING, LIKELY)):
        for match in pattern.finditer(text):
            at = _index(starts, match.end())
            loose = pattern is _LABEL
            while at < len(words):
                found = _after_cue(text, words, at, match.end(), lower=loose, titled=pattern is _TITLE)
                if found is None:
                    break
                yield Match(found[0], found[1], Kind.PERSON, score)
                comma = re.match(r"(?:,| y| e| i)\s", text[found[1] : found[1] + 4])
                if comma is None:
                    break
                match_end = found[1] + comma.end()
                at = _index(starts, match_end)
                if at >= len(words) or words[at].start != match_end or not words[at].first:
                    break


def whole_value(text: str, start: int, end: int) -> Match | None:
    """The value of a cell under "Cliente", "Nombre", … as a name: two to seven words of which one is known as a name."""
    value = text[start:end]
    inner = [t for t in tokens(value, gazetteer()) if not t.particle]
    if not 2 <= len(inner) <= _MOST_WORDS or not _LETTERS_ONLY.fullmatch(value) or COMPANY.search(value):
        return None
    if not any(t.name for t in inner) or not (
        inner[0].name or inner[0].unknown or inner[0].initial or inner[-1].strong
    ):
        return None
    plain = [t for t in inner if not (t.name or t.unknown or t.ordinary or t.initial) and t.capital]
    return None if plain else Match(start, end, Kind.PERSON, LIKELY)


def plausible(text: str, start: int, end: int, *, person: bool = True) -> Match | None:
    """What is kept of an entity that the NLP engine found: words that can be a name, and no company.

    ``person``: the engine took it for a person; of other entities only what the lists prove is kept.
    """
    inner = list(tokens(text[start:end], gazetteer()))
    while inner and not (inner[0].name or inner[0].unknown or (inner[0].initial and text[start - 1 : start] != "/")):
        inner.pop(0)
    while inner and not (inner[-1].name or inner[-1].unknown):
        inner.pop()
    if not inner or "\n" in text[start + inner[0].start : start + inner[-1].end]:
        return None
    known = sum(1 for t in inner if t.name)
    strong = any(t.strong for t in inner)
    ordinary = sum(1 for t in inner if not (t.name or t.unknown or t.particle or t.initial))
    left, right = start + inner[0].start, start + inner[-1].end
    if person and known and inner[0].name and ordinary <= 1 and len(inner) >= 2:
        ordinary = 0  # "Nazario Pintor": a surname that is also a word
    if (
        ordinary
        or COMPANY.match(text, right)
        or _NOT_BEFORE.search(text[max(0, left - 20) : left])
        or _ROMAN.match(text, right)
    ):
        return None
    if not all(t.capital for t in inner if not t.particle):
        return None
    if (
        person
        and len(inner) >= 2
        and (known or all(t.unknown and not t.text.isupper() for t in inner if not t.particle))
    ):
        return Match(left, right, Kind.PERSON, POSSIBLE)
    if (strong and (known >= 2 or inner[0].first or len(inner) > 1)) or (known >= 2 and inner[0].first):
        return Match(left, right, Kind.PERSON, POSSIBLE)
    return None


def _index(starts: Sequence[int], place: int) -> int:
    return bisect_left(starts, place)


def _adjacent(text: str, left: Token, right: Token, *, gap: str = r"[ ]{1,3}\n?[ ]*|\n[ ]*|\.?-\n?|\.") -> bool:
    return bool(re.fullmatch(gap, text[left.end : right.start]))


def _by_lists(text: str, words: Sequence[Token]) -> Iterator[Match]:
    """Runs of known names: first name and surnames, surnames and first name behind a comma, two surnames."""
    at = 0
    while at < len(words):
        end = _run(text, words, at)
        if end <= at:
            at += 1
            continue
        run = words[at:end]
        inverted = _inverted(text, words, at, end)
        if inverted:
            yield Match(_with_particles(text, words, at), words[inverted - 1].end, Kind.PERSON, LIKELY)
            at = inverted
            continue
        if _is_name(text, run):
            yield Match(run[0].start, run[-1].end, Kind.PERSON, LIKELY)
            at = end
            continue
        at += 1


def _surname_like(run: Sequence[Token], word: Token) -> bool:
    """Whether an ordinary word can be a surname here: behind a first name that is nothing else, as its first or second."""
    if not word.ordinary or not run[0].first or not run[0].strong or not run[0].capital:
        return False
    surnames = [t for t in run if not t.first and not t.particle]
    return len(surnames) < 2 and (not word.text.isupper() or len(word.text) <= 9)


def _with_particles(text: str, words: Sequence[Token], at: int) -> int:
    """Where surnames begin that have particles of their own in front: "de la Torre", "El Amrani", "Ben Ali"."""
    first = at
    while first and words[first - 1].particle and re.fullmatch(r"[ ]", text[words[first - 1].end : words[first].start]):
        first -= 1
    while first < at and words[first].text.casefold() in _AND:
        first += 1
    alone = at - first == 1 and words[first].text.casefold() in ("de", "la", "las", "los", "a")
    if alone and re.search(
        r"(?:^|[:|\n(]|\b(?:a|y|con|por|para|entre))[ ]*$", text[max(0, words[first].start - 8) : words[first].start]
    ):
        alone = False  # "a de Miguel Cárdenas, Ana": the particle is the surname's
    return words[at].start if alone else words[first].start


def _run(text: str, words: Sequence[Token], at: int) -> int:
    """Index behind the last word of the name that may begin at ``at``: all of one case, particles inside only."""
    first = words[at]
    opens = first.ordinary and _surnames_before_comma(text, words, at)
    if first.particle or not (first.name or first.initial or first.unknown or opens):
        return at
    end, last_name = at + 1, at + 1
    upper = first.text.isupper() and len(first.text) > 1
    while end < len(words) and end - at < _MOST_WORDS:
        word, previous = words[end], words[end - 1]
        if not _adjacent(text, previous, word):
            break
        line_over = "\n" in text[previous.end : word.start]
        if (
            line_over
            and not (word.last and word.strong)
            and not (word.particle and text[word.end : word.end + 1] == " ")
        ):
            break
        if word.particle:
            if previous.particle and word.text.casefold() in _AND:
                break
            if word.text.casefold() in _AND and not _surname_follows(text, words, end):
                break
            end += 1
            continue
        known = [t for t in words[at:end] if t.name]
        fits = (
            word.name
            or (word.unknown and bool(known))
            or (word.initial and not line_over)
            or _surname_like(words[at:end], word)
            or (end == at + 1 and word.ordinary and first.last and _given_behind(text, words, end))
            or (end == at + 1 and bool(opens))
        )
        if not fits or (first.capital and not word.capital) or (not first.capital and word.capital):
            break
        if upper and not word.text.isupper() and not word.initial and len(word.text) > 1:
            break
        if word.first and not word.last and any(t.last and not t.first for t in words[at:end]) and not line_over:
            break  # the next person of a list without commas
        end += 1
        last_name = end
    return last_name


def _given_behind(text: str, words: Sequence[Token], at: int) -> bool:
    """Whether words[at] ends the surnames of "Apellido Apellido, Nombre" with a first name that is nothing else."""
    return (
        at + 1 < len(words)
        and words[at + 1].first
        and words[at + 1].strong
        and words[at + 1].capital
        and words[at + 1].text.isupper() == words[at].text.isupper()
        and text[words[at].end : words[at + 1].start] == ", "
    )


def _surnames_before_comma(text: str, words: Sequence[Token], at: int) -> bool:
    """Whether an ordinary word is the first of two surnames before a comma: "Ramas Restrepo, Josué"."""
    return (
        at + 1 < len(words)
        and words[at + 1].last
        and words[at + 1].strong
        and words[at + 1].text.isupper() == words[at].text.isupper()
        and text[words[at].end : words[at + 1].start] == " "
        and _given_behind(text, words, at + 1)
    )


def _surname_follows(text: str, words: Sequence[Token], at: int) -> bool:
    """Whether "y" joins two surnames and not two persons."""
    after = at + 1
    while after < len(words) and words[after].particle and words[after].capital:
        after += 1
    if after >= len(words) or not (words[after].last or words[after].unknown):
        return False
    if not words[after].last:  # "Cayetano Soldevila y Necci.": nothing of a name behind it
        return (
            after + 1 >= len(words)
            or not re.fullmatch(r"[ ]{1,2}", text[words[after].end : words[after + 1].start])
            or (not words[after + 1].capital)
        )
    if words[after].capital:
        stop = after + 1
        while (
            stop < len(words)
            and words[stop].last
            and re.fullmatch(r"[ ]{1,2}", text[words[stop - 1].end : words[stop].start])
        ):
            stop += 1
        if (
            stop < len(words)
            and words[stop].first
            and re.fullmatch(r",[ ]", text[words[stop - 1].end : words[stop].start])
        ):
            return False  # "Ana Rovira y Valdés, Pedro"
    if not words[after].first:
        return True
    behind = words[after + 1] if after + 1 < len(words) else None
    return behind is None or not (behind.last and re.fullmatch(r"[ ]{1,2}", text[words[after].end : behind.start]))


def _inverted(text: str, words: Sequence[Token], at: int, end: int) -> int:
    """Index behind "Apellido Apellido, Nombre" whose surnames are words[at:end]; 0 where there is none."""
    if end >= len(words) or not re.fullmatch(r"[ ]?,[ ]*\n?[ ]*", text[words[end - 1].end : words[end].start]):
        return 0
    surnames = [t for t in words[at:end] if not t.particle]
    ordinary = [t for t in surnames if t.ordinary]
    if len(ordinary) > 1 or (ordinary and not _given_behind(text, words, end - 1)):
        return 0
    if (
        not surnames
        or not all(t.last or t.unknown or t.ordinary for t in surnames)
        or (surnames[0].first and not surnames[0].last)
    ):
        return 0
    if any(t.first and not t.last for t in surnames):
        return 0
    stop = end
    while stop < len(words) and stop - end < 4:
        word = words[stop]
        if stop > end and not _adjacent(text, words[stop - 1], word):
            break
        joins = word.particle and stop > end and word.text.casefold() not in _AND
        if word.initial and "\n" in text[words[stop - 1].end : word.start]:
            break
        given_unknown = (
            stop == end and (word.unknown or word.last) and len(surnames) > 1 and any(t.strong for t in surnames)
        )
        if not (word.first or word.initial or joins or given_unknown) or (
            word.capital != surnames[0].capital and not word.particle
        ):
            break
        stop += 1
    while stop > end and words[stop - 1].particle:
        stop -= 1
    given = words[end:stop]
    if not any(t.name or t.unknown for t in given):
        return 0
    # "…con Ana García, Pedro López": the first name belongs to the surname behind it
    follows = stop < len(words) and words[stop].last and _adjacent(text, words[stop - 1], words[stop], gap=r"[ ]")
    if follows and len(surnames) == 1:
        return 0
    proof = any(t.strong for t in (*surnames, *given)) or len(surnames) > 1
    listed = text[words[stop - 1].end : words[stop - 1].end + 1] == "," or text[: words[at].start].rstrip().endswith(
        ","
    )
    return stop if proof or not listed else 0


def _is_name(text: str, run: Sequence[Token]) -> bool:
    """Whether a run of words that can be names is one."""
    solid = [t for t in run if not t.particle]
    if COMPANY.match(text, run[-1].end) and not solid[0].first:
        return False
    if _NOT_BEFORE.search(text[max(0, run[0].start - 20) : run[0].start]) or _ROMAN.match(text, run[-1].end):
        return False
    first, rest = solid[0], solid[1:]
    lower = not first.capital
    if lower:
        proof = (
            first.first
            and any(t.last for t in rest)
            and (first.strong or (sum(t.strong for t in rest) >= 1 and len(rest) >= 2))
        )
        return proof and all(t.name for t in solid)
    if not rest:
        return (
            first.first and first.strong and not first.last and not first.text.isupper() and _mid_sentence(text, first)
        )
    if first.first:
        if first.strong:
            return True
        return any(t.strong for t in rest) or (
            all(t.last for t in rest) and (not first.text.isupper() or len(rest) > 1)
        )
    if first.initial:
        return any(t.strong for t in rest) or (
            len(rest) > 1 and rest[-1].last and all(t.last or t.initial for t in rest)
        )
    if first.last:
        surnames = [t for t in solid if t.last]
        if sum(t.strong for t in surnames) >= 2 and len(solid) == len(run):
            return True  # with a particle between them it is as often a town: "Torrejón de Ardoz"
        return first.strong and any(t.first and t.strong for t in rest)
    surnames = [t for t in rest if t.last]
    proof = any(t.strong for t in surnames) or len(surnames) > 1
    joined = all(t.text.casefold() in _AND for t in run if t.particle)
    shouted = first.text.isupper() and not (len(surnames) > 1 and len(surnames) == len(rest))
    return first.unknown and proof and len(rest) <= 3 and not shouted and joined


def _mid_sentence(text: str, word: Token) -> bool:
    """Whether a lone first name stands in a sentence ("de Lucía", "con Marta"), where its capital means something."""
    head = text[max(0, word.start - 12) : word.start]
    return bool(
        re.search(
            r"(?:^|[\s(])(?:a|de|con|por|para|y|e|que|soy|llamo|es|según|señora?|sobre|contra|entre|mi hij[oa]|mi)\s$",
            head,
        )
    )


def _after_cue(
    text: str, words: Sequence[Token], at: int, place: int, *, lower: bool, titled: bool
) -> tuple[int, int] | None:
    """The name that a title, label or greeting announces at ``place``; None where something else follows."""
    if at >= len(words) or words[at].start - place > 2 or "\n" in text[place : words[at].start]:
        return None
    end, solid = at, 0
    while end < len(words) and end - at < _MOST_WORDS:
        word = words[end]
        if end > at and not _adjacent(
            text,
            words[end - 1],
            word,
            gap=r"[ ]{1,3}|\.[ ]?|-|,[ ]" if _comma_form(text, words, at, end) else r"[ ]{1,3}|\.[ ]?|-",
        ):
            break
        if word.particle and end > at:
            if word.text.casefold() in _AND and not _surname_follows(text, words, end):
                break
            end += 1
            continue
        allowed = word.name or (word.unknown and not (word.text.isupper() and len(word.text) < 5)) or word.initial
        # an ordinary word can be a surname: behind a name, in the same capitals, before the end of the value
        allowed = allowed or (
            word.ordinary
            and end > at
            and (words[at].name or words[at].unknown)
            and end - at < 4
            and _closes(text, words, end)
        )
        if not allowed or not (word.capital or lower):
            break
        end += 1
        solid = end
    run = [t for t in words[at:solid] if not t.particle]
    if not run or COMPANY.match(text, run[-1].end):
        return None
    known = [t for t in run if t.name]
    if not run[0].capital:
        good = len(known) >= 2 and any(t.strong for t in known) and all(t.name for t in run)
    else:
        good = (
            bool(known)
            or len([t for t in run if t.unknown]) >= (1 if titled else 2)
            or (run[0].unknown and len(run) > 1)
        )
        if good and not titled and len(run) == 1:
            good = run[0].strong or run[0].first
    return (run[0].start, run[-1].end) if good else None


def _closes(text: str, words: Sequence[Token], at: int) -> bool:
    """Whether the value ends with this word or goes on with another word of a name."""
    tail = text[words[at].end : words[at].end + 3]
    return (
        not tail.strip()
        or tail.lstrip(" ")[:1] in "\n|,;.:()<-"
        or (at + 1 < len(words) and (words[at + 1].name or words[at + 1].particle))
    )


def _comma_form(text: str, words: Sequence[Token], at: int, end: int) -> bool:
    """Whether the comma before words[end] is that of "Apellido, Nombre"."""
    return (
        "," in text[words[end - 1].end : words[end].start]
        and words[end].first
        and not any(t.first and not t.last for t in words[at:end])
        and words[end].capital
    )
