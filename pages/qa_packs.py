"""Question packs: what people ask most in a category, answered from one document. Shown, never scored."""

import streamlit as st

from core.qa.desk import Desk
from core.qa.models import GivenAnswer
from core.qa.packs import Pack, load_packs, run_pack
from pages.shared import show_source

CATEGORY_TEXT = {"tax": "Fiscal"}
_GIVEN = "qa_pack_given"


def show_packs(desk: Desk) -> None:
    """Choose document and pack, run it, read the answers."""
    st.caption(
        "Preguntas frecuentes de cada categoría. No puntúan ni cambian el dictamen: sirven para ver qué responde el "
        "documento, o que no responde."
    )
    titles = desk.documents()
    if not titles:
        st.info("Todavía no hay ningún documento indexado.", icon=":material/hourglass_top:")
        return
    doc_id = st.selectbox(
        "Documento", sorted(titles, key=lambda d: titles[d]), format_func=lambda d: titles[d], key="qa_pack_doc"
    )
    packs = load_packs()
    left, right = st.columns(2)
    categories = list(dict.fromkeys(p.category for p in packs))
    category = left.selectbox(
        "Categoría", categories, format_func=lambda c: CATEGORY_TEXT.get(c, c.capitalize()), key="qa_pack_category"
    )
    of_category = {p.name: p for p in packs if p.category == category}
    name = right.selectbox("Paquete", list(of_category), key="qa_pack_name")
    pack = of_category[name]
    if st.button("Hacer estas preguntas", type="primary", icon=":material/play_arrow:"):
        _run(desk, doc_id, pack)
    found = st.session_state.get(_GIVEN, {}).get((doc_id, category, name), ())
    if not found:
        st.markdown("\n".join(f"- {question}" for question in pack.questions))
        return
    answered = sum(g.answer is not None and g.answer.grounded for g in found)
    st.subheader(f"{name}: el documento responde {answered} de {len(found)} (sin puntuación)")
    for number, given in enumerate(found, start=1):
        _show_given(given, key=f"pack{number}")


def _run(desk: Desk, doc_id: str, pack: Pack) -> None:
    total = len(pack.questions)
    bar = st.progress(0.0, text=f"Preguntando… 0 de {total}")
    answerer = desk.answerer(doc_id)
    found = run_pack(pack, answerer, lambda done: bar.progress(done / total, text=f"Preguntando… {done} de {total}"))
    bar.empty()
    st.session_state.setdefault(_GIVEN, {})[doc_id, pack.category, pack.name] = found


def _show_given(given: GivenAnswer, *, key: str) -> None:
    with st.container(border=True):
        st.markdown(f"**{given.question_id}**")
        if given.answer is None:
            st.error(given.error, icon=":material/error:")
            return
        st.markdown(given.answer.text.replace("$", r"\$"))
        for number, source in enumerate(given.answer.sources, start=1):
            show_source(source, number, key=f"{key}-source{number}")
