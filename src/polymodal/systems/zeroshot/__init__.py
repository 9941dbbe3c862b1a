"""Zero-shot learning from scratch: recognition of unseen classes without pretrained weights (003,
ch. 4).

What the systems share: images with their classes, an encoder with local features and losses on
them, and class prototypes in feature space, by which all systems are evaluated alike.
"""

from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.learner_settings import Settings, learn

__all__ = ["Learner", "Settings", "learn"]
