"""Closed forms: Gaussians, similarities, likelihoods, bounds on information, losses of a score matrix."""
