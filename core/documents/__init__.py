"""Life and death of a session's own documents: read, redacted, searched by nobody else, erased without a trace."""
