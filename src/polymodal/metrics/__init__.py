"""Scores of one task a file."""
