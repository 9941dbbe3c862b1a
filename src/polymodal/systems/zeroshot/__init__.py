"""Recognition of classes never seen, by features that were learned from nothing (003, ch. 4).

What the learners of features share: pictures with their classes, an encoder with local features and
losses on them, and prototypes of classes among the features, by which all are judged alike.
"""

from polymodal.systems.zeroshot.learner import Learner
from polymodal.systems.zeroshot.learner_settings import Settings, learn

__all__ = ["Learner", "Settings", "learn"]
