"""The quality battery of a document: questions, run, judges, verdict."""
