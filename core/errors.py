"""One root for every error that a user may have to read; each carries a Spanish message with the next step."""


class AsesoriaError(Exception):
    """Root of the domain errors. ``str(error)`` is the Spanish message shown to the user."""


class UnsupportedFileTypeError(AsesoriaError):
    """The file's type is not one that AsesorIA reads (PDF, TXT, Markdown)."""


class UnreadableDocumentError(AsesoriaError):
    """The file is of a supported type, but no text can be taken from it."""


class AcquisitionError(AsesoriaError):
    """An official document or a model file could not be obtained, or is not the expected one."""


class RegisterError(AsesoriaError):
    """``data/sources.csv`` or ``data/thresholds.toml`` is not valid."""


class IndexNotReadyError(AsesoriaError):
    """There is nothing to search yet, or what there is was built with other parts."""


class InvalidQuestionError(AsesoriaError):
    """The question is empty, too long or not text."""


class RecordsError(AsesoriaError):
    """The records cannot be read or written now, or were made by another version of AsesorIA."""


class ReviewConflictError(AsesoriaError):
    """Somebody else has decided the same item of the inbox in the meantime."""
