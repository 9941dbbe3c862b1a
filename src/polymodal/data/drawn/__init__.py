"""Drawn worlds: pictures by our own renderers, with the truth of every picture known."""
