"""The pictures of the papers, made of trained systems: each a PNG, and what was measured for it.

A figure is a function of systems and data that writes its picture and gives its numbers, which are
the same whenever it is asked again.
"""

from polymodal.studies.figures.conditional import figure4
from polymodal.studies.figures.latent import figure1
from polymodal.studies.figures.word_histograms import figure3, figure7

__all__ = ["figure1", "figure3", "figure4", "figure7"]
