"""Does the seal mean what it says? Statistics, panel of judges, gates."""
