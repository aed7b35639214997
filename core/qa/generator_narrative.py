"""Questions A and B from stories: who did it, when, how many, why, and what happened when."""

import re
from collections import Counter
from collections.abc import Iterator

from core.qa.candidates import Candidate
from core.qa.models import Form
from core.qa.spanish import NUMBER, is_feminine, lower_first, number_forms
from core.qa.text import DocumentText, Statement
from core.retrieval.terms import fold, stems

_IRREGULAR = (
    "fue|fueron|hizo|hicieron|dijo|dijeron|tuvo|tuvieron|pudo|pudieron|puso|pusieron|quiso|quisieron|supo|supieron|vino|vinieron|"
    "trajo|trajeron|estuvo|estuvieron|dio|dieron|vio|vieron|condujo|condujeron|produjo|tradujo|anduvo|propuso|compuso|obtuvo|"
    "mantuvo|detuvo|contuvo|dispuso|supuso|impuso|expuso|descubrió"
)
PAST = rf"(?:{_IRREGULAR}|[a-záéíóúñ]{{2,}}(?:ó|aron|ieron|yeron))"
# In an upload a person is called by what stands for the name.
_REDACTED = r"<NOMBRE_\d+>"
_ONE_NAME = rf"(?:[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+|{_REDACTED})"
_NAME = rf"(?:(?:Don|Doña|don|doña|Padre|Sor|el tío|la tía|El tío|La tía)\s)?{_ONE_NAME}(?:\s[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+){{0,2}}"
_CLITIC_START = re.compile(r"^(?:le|les|lo|la|los|las|me|te|nos|os)\b", re.IGNORECASE)
_DANGLES = re.compile(
    r"\b(?:ell[ao]s?|él|aquel\w*|aquell\w*|eso|esto|ello|allí|entonces|est[aeo]s?|es[ae]s?|dich\w+|mism[ao]s?|otr[ao]s?|también|tampoco|"
    r"\w+(?:[aei]r|ndo)(?:l[aeo]s?|me|te|nos)|todavía|ya|después|luego|además|así|lo|le|les|me|te|nos|yo|aquí|ahí|tal|tanto|tales)\b|[«»“”\"():;¿?¡!…—]",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"\b(?:en|de|desde)\s+(?:el\s+(?:año|verano|otoño|invierno)\s+(?:de\s+)?|la primavera de\s+)?(?P<y>1[5-9]\d\d|20\d\d)\b"
)
_KIN = re.compile(
    r"\b(?:hij[oa]s?|padre|madre|herman[oa]s?|abuel[oa]s?|niet[oa]s?|prim[oa]s?|ti[oa]|tí[oa]|espos[oa]|marido|mujer|viud[oa]|soci[oa]s?|amig[oa]s?|"
    r"maestr[oa]|aprendi[zc]\w*|vecin[oa]s?|sobrin[oa]s?|rival(?:es)?|discípul[oa]|enemig[oa]s?|novi[oa]|cuñad[oa])\b",
    re.IGNORECASE,
)
_THING_DID = rf"(?P<s>(?:El|La|Los|Las)\s[^,]{{4,60}}?)\s(?P<v>(?:se\s)?{PAST})\s(?P<r>[^,]{{6,80}})$"
_MAX_WORDS = 30


def people(text: DocumentText) -> list[str]:
    """Names of persons and places, most frequent first: capitalised inside a sentence, at least twice."""
    counts: Counter[str] = Counter()
    for fragment in text.fragments:
        for match in re.finditer(rf"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ][a-záéíóúñ]{{2,}}|{_REDACTED}", fragment.text):
            counts[match.group()] += 1
    return [name for name, n in counts.most_common() if n >= 2]


def actors(text: DocumentText, names: set[str]) -> Counter[str]:
    """Names that do something in the past: subjects of a preterite."""
    found: Counter[str] = Counter()
    for fragment in text.fragments:
        for match in re.finditer(rf"(?<!\w)(?P<n>{_ONE_NAME})\s(?:no\s)?(?:se\s)?{PAST}\b", fragment.text):
            if match["n"] in names:
                found[match["n"]] += 1
    return found


def narrative_candidates(text: DocumentText) -> Iterator[Candidate]:
    """All questions that the patterns find, in reading order."""
    names = set(people(text))
    doers = {name for name, n in actors(text, names).items() if n >= 2}
    for statement in text.statements:
        for make in (_why, _when, _how_many, _upon, _who):
            found = next(make(text, statement, doers), None)
            if (
                found
                and 5 <= len(found.question.split()) <= _MAX_WORDS
                and not _DANGLES.search(found.question.strip("¿?"))
            ):
                yield found
                break
        yield from _kin(text, statement, doers)


def named_subject(sentence: str, doers: set[str]) -> tuple[str, str, str] | None:
    """Name, verb in the past and the rest, where a sentence begins with a person who does something."""
    match = re.match(
        rf"(?P<s>{_NAME}(?:,\s[^,]{{3,60}},)?(?:\sy\s{_NAME})?)\s(?P<v>(?:no\s)?(?:se\s)?{PAST})\b\s*(?P<r>.*)$",
        sentence,
    )
    if match is None or not any(part in doers for part in re.findall(rf"[A-ZÁÉÍÓÚÑ]\w+|{_REDACTED}", match["s"])):
        return None
    subject = re.sub(r",\s[^,]{3,60},", "", match["s"])
    return subject, match["v"], match["r"].rstrip(".")


def _made(
    st: Statement, form: Form, question: str, facts: tuple[tuple[str, ...], ...], quality: float, subject: str
) -> Candidate:
    return Candidate(form, re.sub(r"\s+", " ", question), st.fragment, st.start, len(st.text), facts, quality, subject)


def _why(text: DocumentText, st: Statement, doers: set[str]) -> Iterator[Candidate]:
    match = re.match(r"(?P<m>.{15,150}?),?\s(?:porque|pues|ya que)\s(?P<c>.{15,})\.$", st.text)
    if match and (parts := named_subject(match["m"], doers)) and parts[2]:
        subject, verb, rest = parts
        question = f"¿Por qué {verb} {subject} {rest}?"
        facts = tuple((t,) for t in text.key_terms(match["c"], 2, without=stems(question)))
        yield _made(st, Form.INFERENCE, question, facts, 0.95, subject)


def _when(text: DocumentText, st: Statement, doers: set[str]) -> Iterator[Candidate]:
    years = list(_YEAR.finditer(st.text))
    if len(years) != 1 or not (years[0].group().startswith("en") or st.text.startswith("En ")):
        return
    year = years[0]
    sentence = st.text.rstrip(".")
    sentence = re.sub(rf"^En\s[^,]{{0,30}}{year['y']},\s", "", sentence)
    head = sentence[:1].upper() + sentence[1:]
    cut = _YEAR.search(head)
    main = re.split(r",|;", (head[: cut.start()] if cut else head), maxsplit=1)[0].strip()
    if parts := named_subject(main, doers):
        subject, verb, rest = parts
        if rest and len(rest.split()) >= 2:
            yield _made(st, Form.DEADLINE, f"¿En qué año {verb} {subject} {rest}?", ((year["y"],),), 0.9, subject)
    elif (m := re.match(_THING_DID, main)) and "que" not in m["s"].split():
        question = f"¿En qué año {m['v']} {lower_first(m['s'])} {m['r']}?"
        yield _made(st, Form.DEADLINE, question, ((year["y"],),), 0.75, m["s"])


def _how_many(text: DocumentText, st: Statement, doers: set[str]) -> Iterator[Candidate]:
    parts = named_subject(st.text, doers)
    if parts is None:
        return
    subject, verb, rest = parts
    match = re.match(
        rf"(?P<n>{NUMBER}|veinti\w+|treinta y \w+|cuarenta y \w+|doscient\w+|trescient\w+|quinient\w+|"
        rf"mil)\s(?P<o>[a-záéíóúñ]+s)\b\s*(?P<r>[^,;]*)",
        rest,
    )
    if match and match["n"] not in ("un", "una", "uno") and len(match["r"].split()) >= 2:
        where = _one_deed(match["r"])
        many = "Cuántas" if is_feminine(match["o"]) else "Cuántos"
        question = f"¿{many} {match['o']} {verb} {subject} {where}?"
        yield _made(
            st, Form.FIGURE, question, (tuple(f"{n} {match['o']}" for n in number_forms(match["n"])),), 0.85, subject
        )


def _upon(text: DocumentText, st: Statement, doers: set[str]) -> Iterator[Candidate]:
    match = re.match(r"Cuando (?P<c>[^,]{10,110}), (?P<m>[^.]{15,})\.$", st.text)
    if match and not _CLITIC_START.match(match["c"]) and (parts := named_subject(match["m"], doers)):
        subject, verb, rest = parts
        if subject in match["c"]:
            return
        if rest and not re.match(r"(?:no\s)?(?:fue|era|estuvo|tuvo)\b", verb):
            question = f"¿Qué hizo {subject} cuando {match['c']}?"
            facts = tuple((t,) for t in text.key_terms(f"{verb} {rest}", 2, without=stems(question)))
            yield _made(st, Form.CONSEQUENCE, question, facts, 0.9, subject)


def _who(text: DocumentText, st: Statement, doers: set[str]) -> Iterator[Candidate]:
    parts = named_subject(st.text, doers)
    if parts is None:
        return
    subject, verb, rest = parts
    clause = re.split(r"[,;:]", rest, maxsplit=1)[0].strip()
    clause = _one_deed(clause)
    content = list(stems(clause))
    if (
        len(content) < 3
        or " y " in subject
        or subject.split()[-1] in clause
        or re.match(r"(?:no|se (?:fue|quedó|puso))\b", verb)
    ):
        return
    if re.match(
        r"(?:dijo|pensó|respondió|contestó|fue|estuvo|tuvo|hubo|supo|quiso|pudo|sintió|comprendió)$", verb.split()[-1]
    ):
        return
    facts = (tuple(dict.fromkeys((subject, subject.split()[-1]))),)
    yield _made(st, Form.STATEMENT, f"¿Quién {verb} {clause}?", facts, 0.8, subject)


def _one_deed(clause: str) -> str:
    """A predicate up to the next thing done ("… y pagó …")."""
    return re.split(rf"\s(?:y|e)\s(?:no\s)?(?:se\s|le\s|les\s|lo\s|los\s|la\s|las\s)?{PAST}\b", clause, maxsplit=1)[
        0
    ].strip()


one_deed = _one_deed


def _kin(text: DocumentText, st: Statement, doers: set[str]) -> Iterator[Candidate]:
    found = [name for name in dict.fromkeys(re.findall(_ONE_NAME, st.text)) if name in doers]
    kin = _KIN.search(st.text)
    if len(found) == 2 and kin and len(st.text.split()) <= 40:
        between = st.text[min(st.text.index(n) for n in found) : max(st.text.index(n) for n in found)]
        if re.search(
            _KIN.pattern + rf"\s(?:mayor |menor |pequeñ[ao] )?(?:de|del)\s(?:{_NAME})", st.text, re.IGNORECASE
        ) and fold(kin.group()) in fold(between + st.text):
            question = f"¿Qué relación hay entre {found[0]} y {found[1]}?"
            yield _made(st, Form.RELATION, question, ((kin.group(),),), 0.8, found[0])
