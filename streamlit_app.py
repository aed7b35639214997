"""The ASGI app: the pages of ``pages/navigation.py`` and the HTTP API, in one process.

Run it with ``streamlit run streamlit_app.py``.
"""

import streamlit as st
from starlette.middleware import Middleware

from core.api import routes
from core.documents.cookie import SessionCookie
from core.startup import shared_startup

app = st.App("pages/navigation.py", routes=routes(shared_startup), middleware=[Middleware(SessionCookie)])
