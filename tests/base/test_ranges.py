"""Ranges of fields: what each lets through, and that every setting that has one is held to it."""

import math
import re
from dataclasses import dataclass
from typing import Annotated, get_args, get_type_hints

import pytest

from polymodal import systems
from polymodal.base.errors import PolymodalError
from polymodal.base.ranges import OneOrMore, Positive, Range, ShareBelowOne, check_ranges
from polymodal.diagnosis import compositionality, examination, locality, pointwise
from polymodal.metrics import kernel_distance, picture_scores
from polymodal.search import index_settings
from polymodal.systems.zeroshot import prototypes
from polymodal.training.training_config import Training

INSIDE_AND_OUT = {
    "must be above 0": ([1, 1e-9], [0, -1, math.nan]),
    "must be 0 or more": ([0, 2], [-1]),
    "must be 1 or more": ([1], [0]),
    "must be 2 or more": ([2], [1]),
    "must be below 2^63": ([2**63 - 1], [2**63]),
    "must be 2 or 4": ([2, 4], [3, 0]),
    "must be a multiple of 8": ([8, 64], [12, 0, -8]),
    "is a number of steps, 0 or more": ([0], [-1]),
    "is a weight, 0 or more": ([0], [-1, math.inf]),
    "is a probability, from 0 to 1": ([0, 1], [1.5, -0.1]),
    "is a share, from 0 to 1": ([0, 1], [1.1, -0.1]),
    "is a share, from 0 to below 1": ([0, 0.9], [1, -0.1]),
    "is a share of the budget, 0 to 1": ([0, 1], [2]),
    "is a share of the side, up to 1": ([1], [1.5, 0]),
    "is a share of the side, above 0 and at most 1": ([1], [1.1, 0]),
}
"""Numbers that fit, and numbers that do not."""

LEARNER = {
    "must be above 0": "dim slim lr fit_steps fit_lr ridge",
    "must be 0 or more": "local_weight local_hidden",
    "is a share, from 0 to below 1": "dropout",
    "is a share of the side, up to 1": "crop",
}
INFOMAX = {"must be 1 or more": "critic_hidden critic_dim", "must be 0 or more": "limit penalty"}
TOWERS = {
    "must be above 0": "embed_dim word_dim word_scale hidden scale lr fold margin",
    "must be a multiple of 8": "convnet_width",
    "is a number of steps, 0 or more": "warmup",
    "is a weight, 0 or more": "pseudo_positives",
    "is a share of the budget, 0 to 1": "decay_at",
    "is a share of the side, above 0 and at most 1": "crop",
}
SEGMENTER = {
    "must be above 0": "width lr",
    "must be 2 or more": "levels",
    "is a number of steps, 0 or more": "curriculum",
    "is a weight, 0 or more": "seg_weight dice_weight",
}
INFORMED = {
    "is a weight, 0 or more": "lambda_ll lambda_lg lambda_gg",
    "is a number of steps, 0 or more": "lambda_warmup",
    "must be above 0": "critic_hidden",
    "must be 1 or more": "others most_places",
    "must be 0 or more": "elsewhere",
}
TELLER = {
    "must be above 0": "word_dim most_words lr",
    "must be a multiple of 8": "convnet_width",
    "is a share of the side, above 0 and at most 1": "crop",
}
LAYOUTS = {
    "must be 1 or more": "fewest most",
    "is a share, from 0 to below 1": "least_area",
    "must be a multiple of 8": "width",
    "must be above 0": "lr",
}
SYSTEMS = {
    "vse": [TOWERS],
    "grounding": [
        {
            "must be above 0": "word_width word_layers word_heads dim kept lr proposals",
            "must be 0 or more": "hidden",
            "is a weight, 0 or more": "word_weight",
        }
    ],
    "mlm": [{"must be above 0": "width layers heads lr"}],
    "gaussian": [TOWERS, {"is a weight, 0 or more": "vib"}],
    "vlvae": [
        {
            "must be 1 or more": "latent code decoder_dim width final_maps samples flow_samples "
            "transforms flow_hidden",
            "must be above 0": "lr flow_lr",
            "must be 0 or more": "image_weight text_weight free_bits joint",
            "is a share, from 0 to 1": "warmup warm_from flow_share dropout",
        }
    ],
    "judge": [
        {
            "must be above 0": "code hidden lr",
            "is a weight, 0 or more": "place_weight",
            "is a number of steps, 0 or more": "warmup",
        }
    ],
    "cmim": [SEGMENTER, INFORMED],
    "hemis": [SEGMENTER],
    "unet": [SEGMENTER],
    "shaspec": [SEGMENTER, {"is a weight, 0 or more": "align_weight classify_weight"}],
    "findings": [
        INFORMED,
        TELLER,
        {
            "must be above 0": "text_width text_blocks embed_dim",
            "is a weight, 0 or more": "class_weight",
        },
    ],
    "tienet": [
        TELLER,
        {"must be above 0": "hidden attentions", "is a share, from 0 to 1": "class_share"},
    ],
    "crops": [LAYOUTS, {"must be above 0": "dim"}],
    "spotter": [
        LAYOUTS,
        {
            "must be 2 or 4": "stride",
            "must be 1 or more": "candidates",
            "is a share, from 0 to 1": "threshold",
        },
    ],
    "sgsm": [
        {key: value for key, value in LAYOUTS.items() if "multiple" not in key},
        {
            "must be a multiple of 8": "convnet_width",
            "must be above 0": "dim hidden gamma1 gamma2 gamma3",
            "must be 1 or more": "layers",
        },
    ],
    "ocgan": [
        {key: value for key, value in LAYOUTS.items() if "multiple" not in key},
        {
            "must be above 0": "width norm_width noise object_noise object_dim mask_width patch_width "
            "object_width",
            "is a share, from 0 to below 1": "momentum ema",
            "is a weight, 0 or more": "lambda_p lambda_o lambda_ac lambda_sgsm r1",
        },
    ],
    "fc": [LEARNER],
    "pn": [LEARNER, {"must be above 0": "scale"}],
    "dim": [LEARNER, INFOMAX],
    "amdim": [LEARNER, INFOMAX],
    "cmdim": [LEARNER, INFOMAX, {"is a probability, from 0 to 1": "p"}],
    "vae": [LEARNER, {"must be above 0": "code std", "must be 0 or more": "beta"}],
    "aae": [
        LEARNER,
        {"must be above 0": "code hidden std", "must be 0 or more": "adversarial_weight"},
    ],
    "vicreg": [
        LEARNER,
        {"must be 1 or more": "expander", "must be 0 or more": "invariance variance covariance"},
    ],
    "dino": [
        LEARNER,
        {
            "must be above 0": "hidden code outputs temperature teacher_temperature",
            "is a share, from 0 to below 1": "momentum centre_momentum",
        },
    ],
}
COUNTS = "epochs batch_size checkpoint_every devices log_every max_steps val_every"
OTHERS = [
    (Training, "must be above 0", COUNTS),
    (Training, "must be 0 or more", "seed clip"),
    (Training, "must be below 2^63", "seed"),
    (kernel_distance.Subsets, "must be 1 or more", "count"),
    (kernel_distance.Subsets, "must be 2 or more", "size"),
    (picture_scores.Measuring, "must be 1 or more", "splits block"),
    (prototypes.Fitting, "must be above 0", "steps most lr batch_size scale"),
    (prototypes.Fitting, "must be 0 or more", "hidden decay"),
    (pointwise.Mining, "must be above 0", "hidden steps lr places clip"),
    (pointwise.Mining, "must be 2 or more", "batch_size"),
    (locality.Probing, "must be above 0", "steps lr batch_size"),
    (compositionality.Fit, "must be above 0", "restarts start lr patience tolerance most"),
    (examination.Settings, "must be 2 or more", "images"),
    (index_settings.Settings, "must be 1 or more", "oversample lists probes links building effort"),
]


OF_SYSTEMS = [
    (name, words, fields)
    for name, parts in SYSTEMS.items()
    for part in parts
    for words, fields in part.items()
]


@pytest.mark.parametrize(("kind", "words", "fields"), OTHERS + OF_SYSTEMS)
def test_a_field_is_held_to_its_range(kind, words, fields):
    kind = systems.system_named(kind).Config if isinstance(kind, str) else kind
    for name in fields.split():
        inside, outside = (
            map(float, numbers)
            if float in (hint := get_type_hints(kind)[name], *get_args(hint))
            else [number for number in numbers if isinstance(number, int)]
            for numbers in INSIDE_AND_OUT[words]
        )
        message = rf"^{name} {re.escape(words)}, not "
        for value in outside:
            with pytest.raises(
                PolymodalError, match=rf"{message}{value}(: no margin, no loss)?\.$"
            ):
                kind(**{name: value})
        for value in inside:
            try:
                kind(**{name: value})
            except PolymodalError as error:  # of what does not go together
                assert not re.match(message, str(error))


def test_no_system_was_forgotten():
    assert SYSTEMS.keys() == set(systems.names())


@dataclass(frozen=True)
class Parent:
    lr: Positive[float] = 1.0
    steps: OneOrMore[int | None] = None
    free: float = -1.0

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class Child(Parent):
    lr: float = 2.0
    momentum: ShareBelowOne[float] = 0.9
    odd: Annotated[int, Range("must be odd", lambda n: n % 2, ": it has a middle")] = 1


def test_what_is_inherited_keeps_its_range():
    with pytest.raises(PolymodalError, match=r"^lr must be above 0, not 0\.$"):
        Child(lr=0)
    with pytest.raises(PolymodalError, match=r"^momentum is a share, from 0 to below 1, not 1\.$"):
        Child(momentum=1)
    assert Child(steps=None, free=-9).lr == 2


def test_why_is_said_last():
    with pytest.raises(PolymodalError, match=r"^odd must be odd, not 2: it has a middle\.$"):
        Child(odd=2)
