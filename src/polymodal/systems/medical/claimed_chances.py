"""How far the probabilities of findings are from how often they are true, finding by finding."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float

from polymodal.metrics.calibration import calibration_error
from polymodal.training.system import Scores


def errors_of_chances(
    logits: Float[np.ndarray, "n k"],
    targets: Float[np.ndarray, "n k"],
    rows: Bool[np.ndarray, " n"],
    findings: Sequence[str],
) -> Scores:
    """The expected calibration error of each finding and their mean, in percent; nothing of no items.

    >>> errors_of_chances(np.zeros((2, 1)), np.array([[1.0], [1.0]]), np.array([True, True]), ["mass"])
    {'ece_image_mass': 50.0, 'ece_image': 50.0}
    """
    if not rows.any():
        return {}
    claimed = torch.from_numpy(logits[rows].T.copy()).double().sigmoid()
    true = torch.from_numpy(targets[rows].T > 0.5).contiguous()
    found = {
        f"ece_image_{name}": 100 * calibration_error(claimed[k], true[k])
        for k, name in enumerate(findings)
    }
    return found | {"ece_image": float(np.mean(list(found.values())))}
