"""The streams of a patient's random numbers: what is drawn in one never shifts what is drawn in another."""

HEAD, FOLDS, LESION, SHAPE, TISSUES, SCANNER, GRAIN, MISSING, PLANES = 0, 1, 2, 3, 4, 5, 6, 16, 17
