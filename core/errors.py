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


class UploadRefusedError(AsesoriaError):
    """A private document is not taken in: over a quota, or its personal data could not be redacted."""


class SessionEndedError(AsesoriaError):
    """The session's private documents were erased meanwhile, or its id is not one of ours."""
