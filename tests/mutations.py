"""True answers made false in one value: by one that the source does not have, by another of the source, by a swap."""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from core.answering.values import Kind, Value, read_values
from core.answering.verify import Passage

KINDS = {Kind.PERCENT, Kind.MONEY, Kind.DATE, Kind.PERIOD, Kind.ARTICLE, Kind.MODEL, Kind.LAW, Kind.NUMBER}
_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()


@dataclass(frozen=True)
class TrueAnswer:
    """An answer, what it cites by number, and the lines of it that are the product's own."""

    text: str
    passages: Mapping[int, Passage]
    own: tuple[str, ...] = ()


def values_of(answer: TrueAnswer) -> list[Value]:
    """The figures, dates and articles of an answer, outside of marks and of own lines."""
    own = {line.strip() for line in answer.own}
    masked = "\n".join(
        re.sub(r"\S", "_", line)
        if line.strip() in own
        else re.sub(r"\[[\d, ]+\]|^(?:- )?\d{1,3}\.\s", lambda m: "_" * len(m[0]), line)
        for line in answer.text.split("\n")
    )
    return [v for v in read_values(masked) if _mutable(v, masked[v.start : v.end])]


def _mutable(value: Value, text: str) -> bool:
    if value.kind not in KINDS or value.norm in ("0", "1") or (value.words and value.kind is Kind.NUMBER):
        return False
    return not (value.kind is Kind.DATE and text.isalpha())  # the later months of «1 a 20 de abril, julio y octubre»


def rendered(value: Value, norm: str, old: str) -> str:
    """``norm`` written as a value of the kind, with a unit where the one that it replaces has one."""
    if value.kind is Kind.DATE:
        day, month = norm.split("/")
        if "/" in old or not re.search(r"[a-z]", old):
            return day
        return f"{day} de {_MONTHS[int(month) - 1]}"
    if value.kind is Kind.PERIOD:
        number, unit = norm.split()
        return f"{number} {unit}{'es' if unit == 'mes' else 's'}"
    if value.kind in (Kind.LAW, Kind.ARTICLE, Kind.MODEL):
        return norm
    number = f"{Decimal(norm):,}".replace(",", "_").replace(".", ",").replace("_", ".")
    unit = re.search(r"\s*(?:%|por\s.*|puntos.*|€|euros?|EUR|pesetas)$", old)
    return number + (unit.group() if unit else "")


def _with(text: str, value: Value, new: str) -> str:
    return text[: value.start] + new + text[value.end :]


def _norms(answer: TrueAnswer, kind: Kind) -> list[str]:
    """The values of a kind that stand in the answer's passages and not in their context."""
    return sorted({v.norm for p in answer.passages.values() for v in read_values(p.text) if v.kind is kind})


def absent(answer: TrueAnswer, rng: random.Random) -> str | None:
    """One value replaced by one that no cited passage has, in any kind."""
    there = {v.norm.split()[0] for p in answer.passages.values() for v in read_values(f"{p.context}\n{p.text}")}
    values = [v for v in values_of(answer) if re.fullmatch(r"[\d.]+(?: \w+)?|\d+/\d+", v.norm)]
    if not values:
        return None
    value = rng.choice(values)
    for _ in range(50):
        if value.kind is Kind.DATE:
            new = f"{rng.randint(2, 28)}/{value.norm.split('/')[1]}"
        elif value.kind is Kind.LAW:
            new = f"{rng.randint(1, 99)}/{value.norm.split('/')[1]}"
        elif value.kind is Kind.ARTICLE:
            new = str(rng.randint(2, 190))
        else:
            number, _, unit = value.norm.partition(" ")
            new = str(Decimal(number) + rng.choice((1, 2, 3, 5, 10, 50, 100))) + (f" {unit}" if unit else "")
        if new.split()[0] not in there:
            return _with(answer.text, value, rendered(value, new, answer.text[value.start : value.end]))
    return None


def other(answer: TrueAnswer, rng: random.Random) -> str | None:
    """One value replaced by another of the same kind that a passage cited by its own line has."""
    choices = []
    for value in values_of(answer):
        start = answer.text.rfind("\n", 0, value.start) + 1
        end = answer.text.find("\n", value.start)
        line = answer.text[start : end if end >= 0 else None]
        cited = {int(n) for n in re.findall(r"\d+", " ".join(re.findall(r"\[[\d, ]+\]", line)))}
        local = TrueAnswer("", {n: p for n, p in answer.passages.items() if n in cited})
        norms = [
            n
            for n in _norms(local, value.kind)
            if n.split()[-1:] == value.norm.split()[-1:] or value.kind is not Kind.PERIOD
        ]
        choices += [
            (value, n) for n in norms if n != value.norm and not n.startswith(f"{value.norm}.") and "bis" not in n
        ]
    if not choices:
        return None
    value, norm = rng.choice(choices)
    return _with(answer.text, value, rendered(value, norm, answer.text[value.start : value.end]))


def swapped(answer: TrueAnswer, rng: random.Random) -> str | None:
    """Two values of one kind exchanged."""
    values = values_of(answer)
    pairs = [
        (a, b)
        for i, a in enumerate(values)
        for b in values[i + 1 :]
        if a.kind is b.kind
        and a.norm != b.norm
        and a.end <= b.start
        and not a.norm.startswith(b.norm)
        and not b.norm.startswith(a.norm)
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    text = answer.text
    return text[: a.start] + text[b.start : b.end] + text[a.end : b.start] + text[a.start : a.end] + text[b.end :]


def mutations(answers: list[TrueAnswer], how: str, rng: random.Random) -> Iterator[tuple[TrueAnswer, str]]:
    """The answers that can be made false in a way (``absent``, ``other``, ``swapped``), each with the false text."""
    make = {"absent": absent, "other": other, "swapped": swapped}[how]
    for answer in answers:
        text = make(answer, rng)
        if text is not None and text != answer.text:
            yield answer, text
