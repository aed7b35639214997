"""Spanish sentences in tax prose: abbreviations, ordinals, amounts and article numbers do not end one."""

import re

_ABBREVIATIONS = frozenset(
    """art arts ap apdo apdos aptdo núm nums núms num nº pág págs p pp ed vol cap caps tel tfno fax avda c/ ctra pza sr
    sra srs sres dr dra d dª dña etc ej ejem máx mín aprox vid cfr vgr ss sig sigs párr disp adic trans lib tít secc
    s.a s.l s.l.u s.a.u s.c c.b cía p.ej i.v.a n.i.f d.g.t a.e.a.t ee.uu nn dcho izq gtos ptas pta kg km m cm mod admón
    depto dpto ud uds vd vds fdo pral prov prof ref rfª""".split()
)
_BOUNDARY = re.compile(r"(?<=[.!?…:;])[»”\")\]⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾]*\s+")
_LAST_WORD = re.compile(r"(\S+?)[.]$")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences of ``text``; joined with the white space between, they are the text.

    A colon or semicolon ends no sentence. Nothing is split inside parentheses that stay open less than 300
    characters.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        before = text[start : match.start()]
        rest = text[match.end() :]
        if not before.strip() or not rest or not _ends_sentence(before, rest, text[start : match.end()].rstrip()):
            continue
        spans.append((start, start + len(text[start : match.end()].rstrip())))
        start = match.end()
    if text[start:].strip():
        spans.append((start, start + len(text[start:].rstrip())))
    return spans


def _ends_sentence(before: str, rest: str, whole: str) -> bool:
    if before.endswith((":", ";")):
        return False
    opens = whole.count("(") - whole.count(")")
    if opens > 0 and len(whole) - whole.rfind("(") < 300:
        return False
    first = rest.lstrip("«“\"'(¿¡[—–- ")[:1]
    if before.endswith(("!", "?", "…")):
        return not first.islower()
    word = _LAST_WORD.search(before)
    if word:
        token = word.group(1).lstrip('(«“"').casefold()
        if token in _ABBREVIATIONS or re.fullmatch(r"(?:[a-zñ]\.)*[a-zñ]", token):
            return False
        # "1. Texto": the figure numbers what follows; "1.º" never gets here (no space after the point).
        if re.fullmatch(r"\d{1,3}|[ivxlc]{1,5}", token) and len(before.split()) == 1:
            return False
    return bool(first) and (first.isupper() or first.isdigit() or not first.isalnum())


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, in order."""
    return [text[a:b] for a, b in split_sentences(text)]
