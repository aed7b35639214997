"""A question that could be asked: what the pattern makers hand to the battery."""

from dataclasses import dataclass

from core.models import Fragment
from core.qa.models import Form


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question with the stretch of a fragment that answers it.

    ``start``/``length``: the stretch in the fragment's text. ``facts``: what an answer must say, each as alternatives.
    ``quality``: how sure the pattern is to give a good question (0..1). ``subject``: what the question is about.
    ``others``: further fragments that the answer needs.
    """

    form: Form
    question: str
    fragment: Fragment
    start: int
    length: int
    facts: tuple[tuple[str, ...], ...]
    quality: float
    subject: str = ""
    others: tuple[tuple[Fragment, int, int], ...] = ()
