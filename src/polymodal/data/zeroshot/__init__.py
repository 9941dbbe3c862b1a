"""Zero-shot datasets in their own files, divided as Xian et al. did: one reader a dataset."""

from polymodal.data.zeroshot.opening import READERS, open_classes
from polymodal.data.zeroshot.split import ClassedSplit

__all__ = ["READERS", "ClassedSplit", "open_classes"]
