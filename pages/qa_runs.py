"""Start a battery, watch it, stop it, take it up again."""

import streamlit as st

from core.errors import AsesoriaError
from core.qa.background import Job, Order, Stage
from core.qa.desk import Desk
from core.qa.models import COUNTS, BookType, Profile
from pages.qa_inbox import notify
from pages.qa_report import BOOK_TEXT

_ENDED, _OPENED = "qa_ended", "qa_opened"


def show_runs(desk: Desk) -> None:
    """What is running, what was interrupted, and a new battery."""
    running = any(not job.ended for job in desk.batteries.jobs())
    st.fragment(run_every=1.0 if running else None)(_show_jobs)(desk)
    _show_interrupted(desk)
    _show_new(desk)


def _show_jobs(desk: Desk) -> None:
    jobs = desk.batteries.jobs()
    ended = {job.id for job in jobs if job.ended}
    news = bool(ended - st.session_state.setdefault(_ENDED, ended)) or st.session_state.pop(_OPENED, False)
    if news:  # one has just ended, or its report is asked for: a button in a fragment reruns that alone
        st.session_state[_ENDED] = ended
        st.rerun()
    st.session_state[_ENDED] = ended
    for job in jobs:
        with st.container(border=True, key=f"job-{job.id}"):
            _show_job(desk, job)


def _show_job(desk: Desk, job: Job) -> None:
    name = f"**{job.order.title}**"
    if job.stage is Stage.DONE:
        st.success(f"{name}: batería terminada.", icon=":material/check_circle:")
        with st.container(horizontal=True):
            st.button(
                "Ver el informe", key=f"see-{job.id}", on_click=_open_report, args=(job.report_id,), type="primary"
            )
            st.button("Quitar de la lista", key=f"drop-{job.id}", on_click=desk.batteries.dismiss, args=(job.id,))
    elif job.ended:
        st.warning(f"{name}: {job.message}", icon=":material/pause_circle:")
        st.button("Quitar de la lista", key=f"drop-{job.id}", on_click=desk.batteries.dismiss, args=(job.id,))
    else:
        share = job.done / job.total if job.total else 0.0
        left = f", quedan unos {duration(job.remaining_s)}" if job.total else ""
        counted = f" {job.done} de {job.total}" if job.total else "…"
        st.progress(share, text=f"{name}: {job.stage}{counted}{left}")
        st.button(
            "Detener",
            key=f"stop-{job.id}",
            icon=":material/stop_circle:",
            on_click=desk.batteries.stop,
            args=(job.id,),
        )
        st.caption(
            "Puede dejar esta página: la batería sigue. Si la detiene, lo respondido se guarda y se puede reanudar."
        )


def _show_interrupted(desk: Desk) -> None:
    for run_id, battery, kept in desk.batteries.interrupted():
        with st.container(border=True):
            st.markdown(
                f":material/pause_circle: **{battery.book.title}** ({BOOK_TEXT[battery.book.type]}, semilla {battery.seed}): "
                f"interrumpida con {kept} de {len(battery.questions)} respuestas guardadas."
            )
            order = Order(
                battery.book.doc_id,
                battery.book.title,
                battery.book.type,
                seed=battery.seed,
                profile=battery.book.profile,
                run_id=run_id,
            )
            st.button(
                "Reanudar", key=f"resume-{run_id}", icon=":material/play_arrow:", on_click=_start, args=(desk, order)
            )


def _show_new(desk: Desk) -> None:
    st.subheader("Nueva batería")
    titles = desk.documents()
    if not titles:
        st.info(
            "Todavía no hay ningún documento indexado. Espere a que termine el primero.",
            icon=":material/hourglass_top:",
        )
        return
    if desk.own:
        ((doc_id, title),) = titles.items()
        title, author, category = _ask_book(title, key=doc_id)
    else:
        author = category = ""
        doc_id = st.selectbox(
            "Documento", sorted(titles, key=lambda d: titles[d]), format_func=lambda d: titles[d], key="qa_doc"
        )
        title = titles[doc_id]
    left, right = st.columns([2, 1])
    kinds = list(BookType)
    kind = left.selectbox(
        "Tipo de libro", kinds, index=kinds.index(desk.usual_type(doc_id)), format_func=lambda k: BOOK_TEXT[k],
        key=f"qa_kind_{doc_id}", help="Decide cuántas preguntas de cada tipo se hacen.",
    )  # fmt: skip
    seed = right.number_input(
        "Semilla", 0, 10_000, 0, key="qa_seed", help="La misma semilla repite las mismas preguntas."
    )
    counts = ", ".join(f"{n} de tipo {t}" for t, n in COUNTS[kind].items())
    st.caption(
        f"{sum(COUNTS[kind].values())} preguntas ({counts}). Responde: {desk.engine}. "
        f"Tiempo estimado: unos {duration(desk.estimate_s(kind))}."
    )
    profile = _ask_profile()
    order = Order(doc_id, title, kind, seed=int(seed), profile=profile, author=author, category=category)
    st.button("Empezar la batería", type="primary", icon=":material/play_arrow:", on_click=_start, args=(desk, order))


def _ask_book(title: str, *, key: str) -> tuple[str, str, str]:
    """Title, author and category of an upload."""
    asked = "Las preguntas lo nombran así, tal como lo escriba."
    title = st.text_input("Título", title, key=f"qa_title_{key}", max_chars=200, help=asked).strip() or title
    left, right = st.columns(2)
    author = left.text_input("Autor (opcional)", key=f"qa_author_{key}", max_chars=120, help=asked).strip()
    category = right.text_input(
        "Categoría (opcional)", key=f"qa_category_{key}", max_chars=80, placeholder="fiscal, novela, historia…",
        help="En un libro de categoría fiscal se pregunta por temas fiscales que no trata.",
    ).strip()  # fmt: skip
    return title, author, category


def _ask_profile() -> Profile | None:
    with st.expander("Perfil intelectual del autor (opcional)", icon=":material/psychology:"):
        st.caption("Solo para libros con voz de autor. Una palabra, frase o idea por línea.")
        vocabulary = _lines(st.text_area("Vocabulario característico", key="qa_vocabulary", height=90))
        lenses = _lines(st.text_area("Lentes: cómo mira las cosas", key="qa_lenses", height=90))
        filters = _lines(st.text_area("Filtros negativos: lo que nunca diría", key="qa_filters", height=90))
        tone = st.text_input("Tono", key="qa_tone", max_chars=200).strip()
    if not (vocabulary or lenses or filters or tone):
        return None
    return Profile(vocabulary, lenses, filters, tone)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _start(desk: Desk, order: Order) -> None:
    try:
        desk.batteries.start(order)
    except AsesoriaError as error:
        notify("error", str(error))


def _open_report(report_id: str) -> None:
    st.session_state.qa_view = "reports"
    st.session_state.qa_report = report_id
    st.session_state[_OPENED] = True


def duration(seconds: float) -> str:
    """A time for people: «40 segundos», «3 minutos»."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} segundos"
    return f"{round(seconds / 60)} minutos"
