"""The figures of the papers, drawn from trained systems: each a PNG, and the numbers measured for it.

A figure is a function of systems and data that writes its PNG and returns its numbers, which are the
same for every call.
"""

from polymodal.studies.figures.conditional import figure4
from polymodal.studies.figures.latent import figure1
from polymodal.studies.figures.word_histograms import figure3, figure7

__all__ = ["figure1", "figure3", "figure4", "figure7"]
