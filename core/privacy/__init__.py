"""Personal data: found in text and tables, and replaced by placeholders before anything else sees the text."""
