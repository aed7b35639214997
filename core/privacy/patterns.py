"""All recognisers of ours together, without the NLP engine: fast, and enough for every identifier."""

import re
from collections.abc import Mapping

from core.privacy.kinds import Kind, Match
from core.privacy.recognizers import address, cadastral, card, ccc, cif, email, iban, naf, nie, nif, person, phone
from core.privacy.views import Finder, Views, search, views_of

FINDERS: Mapping[Kind, Finder] = {
    Kind.NIF: nif.find,
    Kind.NIE: nie.find,
    Kind.CIF: cif.find,
    Kind.IBAN: iban.find,
    Kind.CCC: ccc.find,
    Kind.CARD: card.find,
    Kind.NAF: naf.find,
    Kind.CADASTRAL: cadastral.find,
    Kind.EMAIL: email.find,
    Kind.PHONE: phone.find,
    Kind.PERSON: person.find,
    Kind.ADDRESS: address.find,
}
_HEADERS: Mapping[Kind, re.Pattern[str]] = {
    Kind.NIF: re.compile(r"\b(?:n\.?i\.?f|d\.?n\.?i|c\.?i\.?f|documento|identificaci[oó]n)", re.IGNORECASE),
    Kind.PHONE: re.compile(r"\b(?:tel|tfno|tlf|m[oó]vil|fax)", re.IGNORECASE),
    Kind.PERSON: re.compile(
        r"\b(?:cliente|titular|nombre|apellido|trabajador|emplead|perceptor|inquilin|arrend|soci[oa]\b|proveedor|beneficiari|contacto|persona|"
        r"propietari|destinatari|alumn|paciente|declarante|hereder|representante|administrador|autónom|destinatari)",
        re.IGNORECASE,
    ),
    Kind.CCC: re.compile(r"\b(?:cuenta|iban|ccc)", re.IGNORECASE),
    Kind.NAF: re.compile(r"\b(?:naf|nuss|afiliaci[oó]n|seguridad social)", re.IGNORECASE),
    Kind.CADASTRAL: re.compile(r"catastr", re.IGNORECASE),
}
_AS_LABEL: Mapping[Kind, str] = {
    Kind.NIF: "NIF: ",
    Kind.PHONE: "Teléfono: ",
    Kind.PERSON: "Nombre: ",
    Kind.CCC: "Cuenta: ",
    Kind.NAF: "NAF: ",
    Kind.CADASTRAL: "Ref. catastral: ",
}


def find_kind(kind: Kind, views: Views) -> list[Match]:
    """Finds of one kind in a text, broken lines, cells and the headers of tables considered."""
    return [*search(FINDERS[kind], kind, views), *_under_headers(kind, views)]


def find_patterns(text: str) -> list[Match]:
    """Finds of every kind, not yet resolved."""
    views = views_of(text)
    return [match for kind in FINDERS for match in find_kind(kind, views)]


def _under_headers(kind: Kind, views: Views) -> list[Match]:
    """What the header of a column says of its cells: read each as if its label stood before it."""
    header, label = _HEADERS.get(kind), _AS_LABEL.get(kind, "")
    if header is None:
        return []
    found = []
    view = views.plain
    for grid in views.grids:
        named = [i for i, (a, b) in enumerate(grid.rows[0]) if header.search(view.text[a:b])]
        for row in grid.rows[1:]:
            for index in named:
                if index >= len(row):
                    continue
                start, end = row[index]
                if kind is Kind.PERSON and (whole := person.whole_value(view.text, start, end)):
                    found.append(view.back(whole))
                    continue
                for match in FINDERS[kind](label + view.text[start:end]):
                    if match.start >= len(label):
                        shift = start - len(label)
                        found.append(view.back(Match(match.start + shift, match.end + shift, match.kind, match.score)))
    return found
