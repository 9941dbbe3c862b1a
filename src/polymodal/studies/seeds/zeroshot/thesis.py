"""The thesis's own figures for CUB (003, appendix A), by our names of its rows."""

from polymodal.studies.result_files import PaperRow

LOSSES = ("", "+AC", "+LC")

Numbers = dict[str, dict[str, tuple[float, ...]]]
"""By encoder and model: without a local loss, with AC, with LC."""

ACCURACY: Numbers = {
    "alex": {
        "FC": (30.47, 34.92, 32.40),
        "VAE": (12.08, 13.41, 12.51),
        "beta-VAE": (11.75, 11.77, 12.33),
        "AAE": (15.16, 15.00, 15.49),
        "DIM": (23.93, 33.35, 31.84),
        "AMDIM": (24.34, 29.05, 31.12),
        "CMDIM(p=1)": (35.80, 40.11, 32.31),
        "CMDIM(p=0.5)": (35.12, 37.02, 35.27),
        "CMDIM(p=0.1)": (29.83, 33.60, 33.02),
        "PN": (37.59,),
    },
    "basic": {
        "FC": (27.44, 32.17, 30.44),
        "VAE": (12.13, 13.46, 10.27),
        "beta-VAE": (12.03, 12.85, 12.52),
        "AAE": (9.12, 12.36, 9.80),
        "DIM": (24.42, 32.54, 29.17),
        "AMDIM": (24.42, 30.29, 28.83),
        "CMDIM(p=1)": (29.24, 30.08, 30.04),
        "CMDIM(p=0.5)": (29.67, 35.15, 31.06),
        "CMDIM(p=0.1)": (27.03, 32.35, 31.14),
        "PN": (26.29,),
    },
}
"""003, second Table A.2: top-1 over the unseen classes."""

TRE_RATIO: Numbers = {
    "alex": {
        "FC": (0.758, 0.787, 0.758),
        "VAE": (1.111, 1.079, 1.11),
        "beta-VAE": (1.12, 1.087, 1.1),
        "AAE": (1.003, 0.974, 0.999),
        "DIM": (0.755, 0.783, 0.725),
        "AMDIM": (0.762, 0.804, 0.739),
        "CMDIM(p=1)": (0.676, 0.649, 0.624),
    },
    "basic": {
        "FC": (0.761, 0.737, 0.807),
        "VAE": (1.062, 1.042, 1.066),
        "beta-VAE": (1.04, 1.044, 1.044),
        "AAE": (1.011, 0.989, 1.036),
        "DIM": (0.771, 0.875, 0.798),
        "AMDIM": (0.881, 0.913, 0.85),
        "CMDIM(p=1)": (0.639, 0.633, 0.752),
    },
}
"""003, A.10, whose names are those of the code: `local_dim` is DIM, `local_twopass` AMDIM, and
`local_twopass_class_matching` CMDIM, whose p is not given: taken to be 1."""

PARTS_F1: Numbers = {
    "basic": {
        "FC": (0.198, 0.368, 0.284),
        "VAE": (0.07, 0.334, 0.265),
        "beta-VAE": (0.067, 0.353, 0.255),
        "AAE": (0.086, 0.085, 0.024),
        "DIM": (0.235, 0.393, 0.304),
        "AMDIM": (0.311, 0.406, 0.319),
        "CMDIM(p=1)": (0.313, 0.406, 0.314),
        "CMDIM(p=0.5)": (0.295, 0.397, 0.321),
        "CMDIM(p=0.1)": (0.315, 0.382, 0.312),
        "PN": (0.288,),
    },
}
"""003, A.11."""

PLACES = ("representations_pool", "representations_no_pool", "predictions_pool",
          "predictions_no_pool")  # fmt: skip
LOCALLY = {
    "FC": (28.55, 21.45, 13.02, 11.75),
    "VAE": (8.37, 8.06, 8.33, 8.15),
    "beta-VAE": (8.04, 8.77, 7.91, 8.02),
    "AAE": (8.20, 7.37, 7.28, 6.84),
    "DIM": (18.48, 14.39, 15.07, 11.81),
    "AMDIM": (21.45, 17.68, 16.67, 14.04),
    "CMDIM(p=1)": (34.11, 22.16, 13.51, 15.17),
    "CMDIM(p=0.5)": (33.48, 22.88, 19.07, 16.35),
    "CMDIM(p=0.1)": (26.17, 19.23, 18.38, 15.89),
}
"""003, second Table A.3: AlexNet's local features averaged before classification, or the
predictions of each averaged after it."""


def by_row(table: Numbers) -> dict[str, float]:
    """One number a row, by its name; PN has no local loss in the thesis.

    >>> by_row(PARTS_F1)["basic/FC+AC"]
    0.368
    """
    return {
        f"{encoder}/{model}{loss}": value
        for encoder, models in table.items()
        for model, values in models.items()
        for loss, value in zip(LOSSES, values, strict=False)
    }


def paper(**tables: Numbers) -> tuple[PaperRow, ...]:
    """The rows that have a number of the first metric, with what the other tables say of them."""
    numbers = {metric: by_row(table) for metric, table in tables.items()}
    first, *_ = numbers.values()
    return tuple(
        PaperRow(
            name=name, metrics={m: values[name] for m, values in numbers.items() if name in values}
        )
        for name in first
    )


def paper_of_places() -> tuple[PaperRow, ...]:
    """The thesis's figures for local features."""
    return tuple(
        PaperRow(name=f"alex/{model}", metrics=dict(zip(PLACES, values, strict=True)))
        for model, values in LOCALLY.items()
    )
