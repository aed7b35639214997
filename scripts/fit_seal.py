"""Fit the relevance of what is quoted: ``answered_weight``, ``relevance_weight`` and ``answered_intercept`` of the seal.

    python scripts/fit_seal.py

Asks the questions of the part ``tuning`` of the reference set again (never ``report``), takes of each answer the probability
of the best quote for the thing asked that it answers least and the relevance of the best fragment, and fits a logistic
regression of the verdicts on their log-odds. Prints the numbers, to be written into data/thresholds.toml, and the shares of
faithful answers by relevance. Cases whose answer is no longer the one that was judged are left out and counted.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.answering.untrusted import data_only
from core.calibration.reference import load_reference
from core.config import Settings
from core.seal.signals import log_odds
from core.services import build_services


def main() -> None:
    """Fit and print."""
    engine = build_services(Settings()).engine
    found, verdicts, changed = [], [], 0
    for case in load_reference().cases:
        if case.part != "tuning":
            continue
        seen = engine.examine(case.question)
        if seen.answer.text != case.answer:
            changed += 1
            continue
        answered = engine.extract(case.question, data_only(seen.result)).answered
        if answered is not None:
            found.append((log_odds(answered), log_odds(max(hit.relevance for hit in seen.result.found))))
            verdicts.append(case.faithfulness)
    x, y = np.array(found), np.array(verdicts)
    model = LogisticRegression(C=1.0).fit(x, y)
    print(f"{len(y)} casos de «tuning» ({changed} han cambiado de respuesta y no cuentan); fieles {y.mean():.2f}")
    print(f"answered_weight = {model.coef_[0][0]:.2f}\nrelevance_weight = {model.coef_[0][1]:.2f}")
    print(f"answered_intercept = {model.intercept_[0]:.2f}")
    probability = model.predict_proba(x)[:, 1]
    for low, high in ((0.0, 0.4), (0.4, 0.6), (0.6, 1.01)):
        inside = (probability >= low) & (probability < high)
        share = f"{y[inside].mean():.2f}" if inside.any() else "—"
        print(f"de {low:.1f} a {min(high, 1.0):.1f}: {inside.sum()} casos, fieles {share}")


if __name__ == "__main__":
    main()
