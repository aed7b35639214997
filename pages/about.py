"""What AsesorIA is and is not, what it can miss, what it keeps, and whom an error can harm."""

import streamlit as st

from core.config import Settings
from core.documents.notice import load_measures, load_recall, privacy_notice

WHAT_IT_IS = """
AsesorIA busca en documentos oficiales (manuales, calendario e instrucciones de la AEAT; leyes y reglamentos del BOE) y le enseña las \
frases que responden, con la página o el artículo de donde salen. Es una herramienta para **encontrar y comprobar**.

- **No es un asesor fiscal** ni lo sustituye: no conoce su situación completa, no decide por usted y no presenta nada en su nombre.
- **No es la Agencia Tributaria** ni tiene relación con ella. Lo que responde no obliga a nadie ni sirve de prueba.
- **No responde de todo**: cubre el territorio común (no País Vasco, Navarra, Canarias, Ceuta ni Melilla) y no la Seguridad Social.
- **No comprueba sus documentos**: lee lo que dicen y avisa de cuentas que no cuadran, pero no sabe si son auténticos o correctos.
"""

WHAT_IT_MISSES = """
- Puede **no encontrar** una regla que sí está en los documentos, o quedarse corta: abra siempre la página citada.
- Puede citar la **regla general y callar una excepción** que está en otro sitio.
- Los documentos tienen **fecha**: una norma posterior no está hasta que se actualicen. Cada fuente enseña la suya.
- De un PDF puede **perder** lo que no es texto (un sello, una foto, un escaneo) o leer mal una tabla complicada; lo avisa cuando lo nota.
- La **detección de datos personales** no es perfecta: puede dejar alguno en el texto guardado, o quitar algo que no lo era.
- Revisa las **cuentas** de una factura solo cuando no hay duda de cómo se leen; que no avise no significa que estén bien.
"""

HARM = """
| a quién | cómo | qué se ha hecho |
|---|---|---|
| al **autónomo** que se fía de una respuesta equivocada | una sanción, un recargo, una deducción perdida | solo frases citadas a la letra, con su página a la \
vista; abstenerse cuando no basta; aviso siempre visible; un caso personal recibe la regla general y no un veredicto |
| a quien **no encuentra** lo que existe | deja de aplicar algo a lo que tenía derecho | la abstención dice que no lo ha encontrado *aquí* y a quién \
preguntar |
| a las **personas que salen en sus documentos** (clientes, proveedores, empleados) | sus datos quedan en un servidor sin que lo sepan | se \
quitan antes de guardar el texto; si no se pueden quitar, el documento se rechaza; cada sesión está aparte y caduca |
| a quien **comparte ordenador** o servidor | otra persona ve sus documentos | sesión por navegador, con cookie que ningún programa de la página \
puede leer; botón para borrarlo todo |
| a quien escribe con **faltas, en otra lengua o sin palabras técnicas** | se le entiende peor | se entrena y se mide también con preguntas de la \
calle; aun así, puede encontrar menos |
"""

PUBLIC = """
Las preguntas y respuestas están en la memoria de la pestaña y se van con ella; puede borrarlas con «Borrar la conversación». Los \
documentos oficiales son públicos. De sus documentos:
"""

st.title("Acerca de AsesorIA")
st.header("Qué es y qué no es")
st.markdown(WHAT_IT_IS)
st.header("Qué se le puede pasar")
st.markdown(WHAT_IT_MISSES)
if measures := load_measures():
    st.markdown("**Medido** con preguntas de respuesta conocida:")
    st.markdown("\n".join(f"- {name}: **{figure}**" for name, figure in measures.items()))
if recall := load_recall():
    st.markdown("**Datos personales detectados** en textos hechos para medirlo:")
    st.dataframe(
        [
            {"Dato": r.kind, "Ejemplos": r.count, "Detectados": f"{100 * r.recall:.1f} %".replace(".", ",")}
            for r in recall
        ],
        hide_index=True,
    )
st.header("Qué se guarda y cuánto tiempo")
st.markdown(PUBLIC)
st.markdown(privacy_notice(Settings(), recall))
st.header("A quién puede perjudicar un error, y qué se ha hecho")
st.markdown(HARM)
st.page_link("corpus.py", label="Los documentos oficiales y su fecha", icon=":material/library_books:")
