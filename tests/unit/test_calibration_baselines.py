"""Baselines and what follows: the seal's mode there and back in the next answer, the alert, the command's exit codes."""

import json
from pathlib import Path

import pytest

from core.__main__ import main
from core.answering.sealing import Sealer
from core.calibration.baselines import CALIBRATION, Saved, changes, save_baseline, versions_of
from core.calibration.gates import Grade
from core.calibration.measure import Calibration
from core.calibration.view import CaseFilter, read_reference, shipped, with_people
from core.config import Settings
from core.errors import RecordsError, RegisterError
from core.models import Answer, Category, Level, Mode, Scope, SealMode, SelfCheck, Source
from core.records.baselines import list_baselines
from core.records.database import Database
from core.records.reviews import close_review, list_reviews
from core.records.store import erase
from core.records.summary import Filters, by_ids, level_counts, newest
from core.records.verdicts import Verdict, add_verdict, list_verdicts
from core.seal.state import StateReader, read_states
from core.thresholds import load_thresholds
from tests.calibration_data import VERSIONS, add_interactions, made_panel, made_reference, write_reference

THRESHOLDS = load_thresholds()
GATES = THRESHOLDS.calibration


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(f"sqlite:///{tmp_path / 'records.db'}")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path, records_url=f"sqlite:///{tmp_path / 'records.db'}",
        reference_file=tmp_path / "reference_set.json", panel_file=tmp_path / "panel_scores.json",
    )  # fmt: skip


def calibration(settings: Settings, *, turned: bool = False, contrary: bool = False, n: int = 60) -> Calibration:
    found = made_reference(n, turned=turned, version=f"{turned}{contrary}{n}")
    write_reference(settings.home, found, made_panel(found, apart=2, contrary=contrary))
    return shipped(read_reference(settings), (), GATES)


def save(database: Database, found: Calibration, **versions: str) -> Saved:
    return save_baseline(database, found, versions={**VERSIONS, **versions}, who="Ana", thresholds=GATES)


def next_seal(database: Database) -> tuple[Level, SealMode]:
    """Seal of the next answer, whose self-check failed where it counts."""
    reader = StateReader(lambda: database, has_model=lambda: True)
    sealer = Sealer(THRESHOLDS, reader.mode)
    sources = tuple(
        Source(f"f{i}", "d", "Manual", 1, (), "El tipo es del 21 %.", 0.9, "", Scope.PUBLIC) for i in range(2)
    )
    sealed = sealer.with_seal(
        Answer("El tipo es del 21 %. [1] [2]", True, Category.DIRECT, Mode.SYNTHESIS, sources),
        relevances=[0.9], coverage=1.0, supporting=2, self_check=SelfCheck.ERROR,
    ).seal  # fmt: skip
    assert sealed is not None
    return sealed.level, sealed.mode


def test_there_and_back_over_stored_baselines(database: Database, settings: Settings) -> None:
    good, bad = calibration(settings), calibration(settings, turned=True)
    assert next_seal(database) == (Level.MEDIUM, SealMode.NORMAL)
    assert save(database, good).decision is None
    assert save(database, bad).decision is None, "one does not switch"
    assert next_seal(database) == (Level.MEDIUM, SealMode.NORMAL)
    switched = save(database, bad)
    assert switched.decision is not None and switched.decision.mode is SealMode.DETERMINISTIC
    assert next_seal(database) == (Level.HIGH, SealMode.DETERMINISTIC), "the self-check is left out"
    assert save(database, bad).decision is None, "it is in that mode already"
    back = save(database, good)
    assert back.decision is not None and back.decision.mode is SealMode.NORMAL
    assert next_seal(database) == (Level.MEDIUM, SealMode.NORMAL)
    states = read_states(database)
    assert [s.mode for s in states] == [SealMode.NORMAL, SealMode.DETERMINISTIC, SealMode.NORMAL]
    assert all(s.changed_by == "calibración del sello" and s.reason and s.since for s in states[1:])


def test_too_few_cases_switch_nothing(database: Database, settings: Settings) -> None:
    few = calibration(settings, turned=True, n=GATES.switch_cases - 1)
    assert few.grade_pearson is Grade.BLOCKING
    assert [save(database, few).decision for _ in range(3)] == [None] * 3
    assert next_seal(database)[1] is SealMode.NORMAL


def test_a_blocking_kappa_opens_one_alert_until_it_is_closed(database: Database, settings: Settings) -> None:
    found = calibration(settings, contrary=True)
    assert found.grade_kappa is Grade.BLOCKING and found.grade_pearson is Grade.EXPECTED
    assert [save(database, found).alert for _ in range(2)] == [True, False]
    (alert,) = list_reviews(database, kind=CALIBRATION)
    assert alert.details["baseline"] == 1 and alert.details["n"] == 58 and "bloqueante" in alert.details["reason"]
    close_review(database, alert, person="Ana", reason="Se ha revisado a los jueces.")
    assert save(database, found).alert is True
    assert save(database, calibration(settings)).alert is False


def test_a_baseline_holds_all_its_versions_and_says_what_changed(database: Database, settings: Settings) -> None:
    found = calibration(settings)
    reference = read_reference(settings)
    save_baseline(database, found, versions=reference.versions(), who=" Ana ", thresholds=GATES)
    save(database, found, reference="x", judges="y", model="m2")
    save(database, found, reference="x", judges="y", model="m2", thresholds="2", prompt="p2")
    first, second, third = list_baselines(database)
    assert (first.saved_by, first.n, first.model, first.corpus_version) == ("Ana", 58, "m1", "c1")
    assert first.pearson == pytest.approx(first.details["pearson"]["r"], abs=1e-4)
    assert (
        versions_of(first)["judges"] == "a 1, b 1, c 1" and versions_of(first)["reference"] == reference.found.version
    )
    assert set(first.details) >= {"pearson", "kappa", "faithful_by_level", "ece", "reliability", "risk_coverage"}
    assert changes([first, second, third]) == (
        (), ("modelo", "conjunto de referencia", "jueces"), ("instrucciones", "umbrales"),
    )  # fmt: skip
    with pytest.raises(RecordsError, match="quién"):
        save_baseline(database, found, versions=VERSIONS, who=" ", thresholds=GATES)


# --- people's verdicts


def test_people_stand_beside_the_maintainers(database: Database) -> None:
    found = made_reference()
    case = found.cases[0]

    def give(who: str, value: float, version: str = found.version) -> None:
        add_verdict(database, Verdict("reference", case.id, value, "Porque sí lo dice.", "página 3", who, version))

    def joined(count_people: bool = True) -> float:
        return with_people(found, list_verdicts(database, kind="reference"), count_people=count_people)[0].faithfulness

    other = 1 - case.faithfulness
    give("Ana", other, version="de otro conjunto")
    assert joined() == case.faithfulness
    give("Ana", other)
    assert joined() == other and joined(count_people=False) == case.faithfulness
    give("Luis", case.faithfulness)
    assert joined() == case.faithfulness, "a tie is the maintainers'"
    give("Luis", other)
    assert joined() == other, "a person's last verdict counts"
    assert len(list_verdicts(database, kind="reference")) == 4, "none is overwritten"


def test_verdicts_of_one_moment_keep_their_order(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.records.verdicts.utc_now", lambda: "2026-11-30T10:00:00.000+00:00")
    given = [f"Porque sí lo dice, por {n}.ª vez." for n in range(12)]
    for reason in given:
        add_verdict(database, Verdict("reference", "c1", 1.0, reason, "página 3", "Ana", "1"))
    assert [verdict.reason for verdict in list_verdicts(database, kind="reference")] == given


@pytest.mark.parametrize(
    "change", [{"reviewer": " "}, {"reason": "corto"}, {"decides": ""}, {"faithfulness": 0.5}, {"faithfulness": -1.0}]
)
def test_a_verdict_without_its_reasons_is_refused(database: Database, change: dict) -> None:
    from dataclasses import replace

    whole = Verdict("reference", "c", 1.0, "Lo dice el pasaje.", "página 3", "Ana")
    with pytest.raises(RecordsError):
        add_verdict(database, replace(whole, **change))
    assert list_verdicts(database, kind="reference") == []


def test_a_verdict_goes_with_its_interaction(database: Database) -> None:
    from datetime import date

    ids = add_interactions(database, 2, until=date(2026, 11, 30))
    for interaction_id in ids:
        add_verdict(database, Verdict("interaction", interaction_id, 1.0, "Lo dice el pasaje.", "página 3", "Ana"))
    erase(database, ids[:1])
    assert [v.case_id for v in list_verdicts(database, kind="interaction")] == ids[1:]
    with pytest.raises(RecordsError, match="ya no está"):
        add_verdict(database, Verdict("interaction", ids[0], 1.0, "Lo dice el pasaje.", "página 3", "Ana"))


def test_counts_are_filtered_by_the_database(database: Database) -> None:
    from datetime import date

    add_interactions(database, 100, until=date(2026, 11, 30), days=10)

    def total(**only: object) -> int:
        return sum(c.answers for c in level_counts(database, Filters(**only)))  # type: ignore[arg-type]

    assert total() == 100 and total(since="2026-11-30") == 10 and total(until="2026-11-21") == 10
    assert total(categories=("no_answer",)) == 20 and total(modes=("synthesis",)) == 0 and total(versions=("1",)) == 100
    assert total(documents=("iva_2025",)) == 50 and total(documents=("iva_2025", "ley-37-1992")) == 100
    assert total(documents=('iva" or 1=1 --', "iva%")) == 0
    assert len(newest(database, Filters(), limit=7)) == 7
    assert [r["id"] for r in by_ids(database, [f"{1:032x}", "no"], Filters())] == [f"{1:032x}"]


def test_a_case_passes_its_filters() -> None:
    cases = made_reference().cases
    assert sum(CaseFilter().keeps(c) for c in cases) == 60 and sum(CaseFilter(part="").keeps(c) for c in cases) == 66
    assert sum(CaseFilter(categories=("personal_case",)).keeps(c) for c in cases) == 15
    assert sum(CaseFilter(documents=("iva_2025",)).keeps(c) for c in cases) == 30
    assert not any(CaseFilter(versions=("9",)).keeps(c) or CaseFilter(modes=("synthesis",)).keeps(c) for c in cases)


# --- files and command


def test_files_that_are_missing_or_do_not_belong_together(settings: Settings) -> None:
    with pytest.raises(RegisterError, match="Todavía no hay"):
        read_reference(settings)
    found = made_reference()
    write_reference(settings.home, found, None)
    assert read_reference(settings).panel is None and "todavía no ha puntuado" in read_reference(settings).panel_problem
    write_reference(settings.home, found, made_panel(found).model_copy(update={"reference_version": "9"}))
    assert "score_panel" in read_reference(settings).panel_problem
    write_reference(settings.home, made_reference(0), None)
    with pytest.raises(RegisterError, match="ningún caso"):
        read_reference(settings)


def run(monkeypatch: pytest.MonkeyPatch, settings: Settings, *args: str) -> int:
    for name in ("home", "records_url", "reference_file", "panel_file"):
        monkeypatch.setenv(f"ASESORIA_{name.upper()}", str(getattr(settings, name)))
    return main(["calibrate", *args])


@pytest.mark.parametrize(
    ("made", "gate"),
    [
        ({}, 0),
        ({"turned": True}, 4),
        ({"contrary": True}, 4),
        ({"n": 5}, 4),  # what cannot be measured does not pass
    ],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, capsys: pytest.CaptureFixture[str], made: dict, gate: int
) -> None:
    calibration(settings, **made)
    assert run(monkeypatch, settings, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data) >= {"pearson", "kappa", "faithful_by_level", "ece", "state", "grade"}
    assert set(data["kappa"]) >= {"value", "ci", "n", "excluded"} and set(data["pearson"]) >= {"r", "ci", "n", "grade"}
    assert run(monkeypatch, settings, "--gate") == gate
    assert "casos revisados por una persona" in capsys.readouterr().out


def test_an_acceptable_seal_is_3(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    found = made_reference(60)
    cases = [
        c.model_copy(update={"faithfulness": 1 - c.faithfulness}) if i % 9 == 0 else c
        for i, c in enumerate(found.cases)
    ]
    found = found.model_copy(update={"cases": tuple(cases), "version": "aceptable"})
    write_reference(settings.home, found, made_panel(found, apart=0))
    assert shipped(read_reference(settings), (), GATES).grade is Grade.ACCEPTABLE
    assert run(monkeypatch, settings, "--gate") == 3


def test_saving_by_command_and_no_reference(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, settings) == 2 and run(monkeypatch, settings, "--gate") == 4
    assert "Todavía no hay conjunto de referencia" in capsys.readouterr().err
    calibration(settings, turned=True)
    for _ in range(2):
        assert run(monkeypatch, settings, "--save", "--who", "Ana", "--json") == 0
    out = capsys.readouterr().out
    assert '"switched": true' in out and '"mode": "deterministic"' in out
    assert [b.saved_by for b in list_baselines(database)] == ["Ana", "Ana"]
