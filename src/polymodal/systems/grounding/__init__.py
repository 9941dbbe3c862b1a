"""Phrase grounding from captions alone: which region of an image a phrase of its caption means (002)."""
