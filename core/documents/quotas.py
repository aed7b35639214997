"""How much one session may hold."""

from collections.abc import Sequence

from core.config import Settings
from core.documents.record import PrivateDocument
from core.errors import UploadRefusedError


def check_room(name: str, held: Sequence[PrivateDocument], settings: Settings) -> None:
    """Refuse one document too many; one of the same ``name`` is about to be replaced and does not count.

    Raises:
        UploadRefusedError: there is no room.
    """
    if sum(1 for d in held if d.name != name) >= settings.session_documents:
        raise UploadRefusedError(
            f"Ya hay {len(held)} documentos, que es el máximo de una sesión. Quite alguno y vuelva a subir este."
        )


def check_pages(name: str, pages: int, held: Sequence[PrivateDocument], settings: Settings) -> None:
    """Refuse a document with more pages than are left to the session.

    Raises:
        UploadRefusedError: too many pages.
    """
    left = settings.session_pages - sum(d.pages for d in held if d.name != name)
    if pages > left:
        raise UploadRefusedError(
            f"El documento tiene {pages} páginas y a esta sesión le quedan {max(0, left)} de "
            f"{settings.session_pages}. Quite algún documento o divida este."
        )
