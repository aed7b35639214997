"""The trust seal: signals, rules, drift and state."""
