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


class NothingApprovedError(IndexNotReadyError):
    """Only documents approved by their quality battery may answer, and none is."""


class InvalidQuestionError(AsesoriaError):
    """The question is empty, too long or not text."""


class SettingsError(AsesoriaError):
    """A setting has a value that means nothing."""


class LlmError(AsesoriaError):
    """The language model did not give a usable answer; the extraction takes over. ``retry``: trying again may help."""

    retry = False


class LlmUnavailableError(LlmError):
    """The model's server cannot be reached, or says that it has failed."""

    retry = True


class LlmTimeoutError(LlmError):
    """The model did not finish within the time limit."""


class LlmMissingModelError(LlmError):
    """The server does not have the model."""


class LlmLengthError(LlmError):
    """The prompt or the answer was cut because the token budget was spent."""


class LlmAnswerError(LlmError):
    """What came back is no usable answer: unreadable, empty, without citations, or not in Spanish."""

    retry = True


class LlmSaysNotEnoughError(LlmError):
    """The model says that the fragments do not suffice to answer."""


class RecordsError(AsesoriaError):
    """The records cannot be read or written now, or were made by another version of AsesorIA."""


class ReviewConflictError(AsesoriaError):
    """Somebody else has decided the same item of the inbox in the meantime."""


class UploadRefusedError(AsesoriaError):
    """A private document is not taken in: over a quota, or its personal data could not be redacted."""


class SessionEndedError(AsesoriaError):
    """The session's private documents were erased meanwhile, or its id is not one of ours."""
