"""Thin renderers: read state, call one service, draw."""
