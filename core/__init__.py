"""AsesorIA's engine: everything but the pages. Imports no Streamlit (a test walks the imports)."""
