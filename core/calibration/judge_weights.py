"""The few numbers by which the judges weigh what they measure: a logistic regression each, fitted on ``tuning``."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from core.config import PROJECT_ROOT
from core.errors import RegisterError

WEIGHTS_PATH = PROJECT_ROOT / "data" / "models" / "judges.json"


class JudgeWeights(BaseModel):
    """``weights`` by name of what is measured, on its own scale. ``fitted_on`` says on which cases, in words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    weights: Mapping[str, float]
    intercept: float
    fitted_on: str

    def probability(self, measured: Mapping[str, float]) -> float:
        """Of being faithful (0..1).

        Raises:
            RegisterError: the weights are of other measures.
        """
        if set(measured) != set(self.weights):
            raise RegisterError(
                "data/models/judges.json es de otra versión de los comprobadores. Ejecute «python scripts/score_panel.py --fit»."
            )
        sum_ = self.intercept + sum(weight * measured[name] for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, sum_))))


def load_weights(name: str, path: Path = WEIGHTS_PATH) -> JudgeWeights:
    """The weights of the judge ``name``.

    Raises:
        RegisterError: the file is missing or not valid.
    """
    try:
        return JudgeWeights.model_validate(json.loads(path.read_text("utf-8"))[name])
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise RegisterError(
            f"data/models/{path.name} no es válido. Restáurelo del repositorio o ejecute «python scripts/score_panel.py --fit»."
        ) from error


def fit_weights(
    rows: Sequence[Mapping[str, float]], faithful: Sequence[float], *, version: int, fitted_on: str
) -> JudgeWeights:
    """A logistic regression (L2, C = 0.1 on standardised measures: few cases), given back on the measures' own scales.

    ``faithful``: verdicts, 0 or 1, of the same cases as ``rows``. The intercept is moved so that the judge calls as many
    of these cases faithful as are: with weak measures and many faithful answers it would else say yes to all.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    names = list(rows[0])
    x = np.array([[row[name] for name in names] for row in rows])
    means, scales = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    fitted = LogisticRegression(C=0.1).fit((x - means) / scales, np.asarray(faithful) >= 0.5)
    coefficients = np.where(x.std(axis=0) > 1e-6, fitted.coef_[0] / scales, 0.0)
    intercept = -float(np.quantile(x @ coefficients, 1 - np.mean(np.asarray(faithful) >= 0.5)))
    weights = {name: round(float(c), 5) for name, c in zip(names, coefficients, strict=True)}
    return JudgeWeights(version=version, weights=weights, intercept=round(intercept, 5), fitted_on=fitted_on)
