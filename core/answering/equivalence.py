"""Which values of a passage say the same as a claim's, across notations and kinds."""

from core.answering.values import Kind, Value


def same(claim: Value, passage: Value, *, tabular: bool = False) -> bool:
    """Whether a passage's value is that of the claim, its type included."""
    if claim.kind is passage.kind:
        if claim.kind is Kind.ARTICLE:
            return passage.norm == claim.norm or passage.norm.startswith(f"{claim.norm}.")
        if claim.norm != passage.norm:
            return False
        if claim.kind in (Kind.PERIOD, Kind.MONEY):
            return not claim.detail or claim.detail == passage.detail
        return not (claim.detail and passage.detail) or claim.detail == passage.detail
    return _across(claim, passage, tabular=tabular)


def _across(claim: Value, passage: Value, *, tabular: bool) -> bool:
    kinds = (claim.kind, passage.kind)
    bare = {Kind.NUMBER}
    if passage.kind in bare and claim.kind in (Kind.PERCENT, Kind.MONEY):
        return claim.norm == passage.norm and (tabular or not passage.words)
    if passage.kind in bare and claim.kind in (Kind.MODEL, Kind.PART, Kind.ORDINAL, Kind.QUARTER, Kind.YEAR):
        return claim.norm == passage.norm
    if claim.kind in bare and passage.kind in (Kind.MODEL, Kind.YEAR, Kind.PART):
        return claim.norm == passage.norm
    if claim.kind in bare and passage.kind is Kind.PERIOD:
        return claim.norm == passage.norm.split()[0]
    if claim.kind in bare and passage.kind in (Kind.PERCENT, Kind.MONEY):
        return claim.norm == passage.norm and not claim.words
    if kinds == (Kind.NUMBER, Kind.DATE):
        return claim.norm == passage.norm.partition("/")[0]
    if kinds == (Kind.MONTH, Kind.DATE):
        return claim.norm == passage.norm.partition("/")[2]
    if kinds == (Kind.PART, Kind.ARTICLE):
        return claim.norm in passage.norm.split(".")[1:]
    if kinds in ((Kind.PART, Kind.ORDINAL), (Kind.ORDINAL, Kind.PART), (Kind.QUARTER, Kind.ORDINAL)):
        return claim.norm == passage.norm
    if kinds == (Kind.FRACTION, Kind.PERCENT):
        return {"1/2": "50", "1/4": "25", "3/4": "75", "1/5": "20", "1/10": "10"}.get(claim.norm) == passage.norm
    if kinds == (Kind.PERCENT, Kind.FRACTION):
        return {"50": "1/2", "25": "1/4", "75": "3/4", "20": "1/5", "10": "1/10"}.get(claim.norm) == passage.norm
    return False
