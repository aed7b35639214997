"""The benchmark and its measures."""
