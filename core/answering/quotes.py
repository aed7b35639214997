"""Check of an extractive answer: every «quotation» stands word for word in the source that it cites."""

import re
from collections.abc import Sequence

from core.models import Source

_CITED = re.compile(r"«(?P<quote>.*?)» \[(?P<number>\d+)\]", re.DOTALL)


def check_quotes(text: str, sources: Sequence[Source], *, minimum: float) -> tuple[float, int]:
    """Share (0..1) of the quotations that their sources hold, and how many fragments hold one.

    Only fragments with a relevance of at least ``minimum`` are counted; several pages of one fragment count once.
    """
    cited = [(m["quote"], int(m["number"])) for m in _CITED.finditer(text)]
    found = [n for quote, n in cited if 0 < n <= len(sources) and quote in sources[n - 1].passage]
    fragments = {sources[n - 1].fragment_id for n in found if sources[n - 1].relevance >= minimum}
    return (len(found) / len(cited) if cited else 0.0), len(fragments)
