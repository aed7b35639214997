"""One recogniser per file: each reads plain text (see `core.privacy.views`) and yields its finds."""
