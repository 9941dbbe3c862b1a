"""Which layouts are learned from, and what the systems of this task must know of them."""

from dataclasses import dataclass
from typing import Any

from polymodal.base.ranges import OneOrMore, ShareBelowOne
from polymodal.data.layout_examples import LayoutExamples
from polymodal.data.layouts import LayoutRules, classes_of
from polymodal.data.records import Dataset


@dataclass(frozen=True, kw_only=True)
class LayoutSettings:
    """The objects and items that are learned from."""

    fewest: OneOrMore[int] = 3
    """Items with fewer objects are left out; the fields' defaults are sg2im's."""
    most: OneOrMore[int] = 8
    """Items with more objects are left out."""
    least_area: ShareBelowOne[float] = 0.02
    """Objects whose box is no larger share of the picture are left out."""

    @property
    def rules(self) -> LayoutRules:
        """Which layouts are kept."""
        return LayoutRules(fewest=self.fewest, most=self.most, least_area=self.least_area)


def learn_layouts(config: LayoutSettings, train: Dataset) -> dict[str, Any]:
    """The classes, and the size of the pictures."""
    classes = classes_of(train)
    size = train.images([0]).shape[1]
    return {"classes": list(classes), "size": int(size)}


def examples_of(
    config: LayoutSettings, learned: dict[str, Any], dataset: Dataset
) -> LayoutExamples:
    """The items of a split whose layouts are kept, by the classes of the training split."""
    return LayoutExamples(dataset, learned["classes"], config.rules)
