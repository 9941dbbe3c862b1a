"""Mutual information between the representations of an item's modalities (003, §8.3.2).

The sum over n and m of eq. 8.3.2 is taken here as the mean over ordered pairs of different
modalities. n = m is left out: what a map tells of itself is all of it, and teaches nothing. The map
of all modalities is among them where --pairs says so. A modality that an item lacks takes no part,
and a pair that fewer than two items of the batch have takes none at this step.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from polymodal.maths.information import bound_named
from polymodal.nn.critics import ConcatAndConvolve
from polymodal.nn.paired_places import Apart, information
from polymodal.systems.medical.information_settings import InformationSettings

JOINT = "joint"
"""The name of the representation of all modalities."""

Rows = Mapping[str, Float[Tensor, "b _ _"]]
"""Of each modality its places in rows."""


class CrossModal(nn.Module):
    """The bounds of one layer of local features, with a critic for each ordered pair."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        local: Mapping[str, int],
        whole: Mapping[str, int],
        config: InformationSettings,
    ) -> None:
        """Critics of the bounds that have a weight.

        Args:
            names: the modalities.
            local: how wide the local features of each are, those of `joint` among them.
            whole: how wide the global ones are.
            config: which bounds are raised.
        """
        super().__init__()
        self.names, self.config = list(names), config
        self.apart = Apart(config.others, config.elsewhere)
        self.bound = bound_named(config.bound)
        pairs = {
            "ll": list(local_pairs(self.names, config.pairs)) if config.lambda_ll else [],
            "lg": [(name, JOINT) for name in self.names] if config.lambda_lg else [],
            "gg": [(name, JOINT) for name in self.names] if config.lambda_gg else [],
        }
        widths = {"ll": (local, local), "lg": (local, whole), "gg": (whole, whole)}
        self.pairs = {kind: own for kind, own in pairs.items() if own}
        self.critics = nn.ModuleDict(
            {
                f"{kind}:{n}>{m}": ConcatAndConvolve(
                    summary=widths[kind][0][n],
                    local=widths[kind][1][m],
                    hidden=config.critic_width(widths[kind][0][n], widths[kind][1][m]),
                )
                for kind, own in self.pairs.items()
                for n, m in own
            }
        )

    def forward(
        self, local: Rows, whole: Rows, there: Bool[Tensor, "b n"] | None
    ) -> dict[str, Float[Tensor, ""]]:
        """Each kind's bound, in nats: the mean over the pairs that take part.

        Args:
            local: local features of each modality and of all together.
            whole: global ones, as a single place.
            there: which modalities each item has; None where none is missing.
        """
        left = {"ll": local, "lg": local, "gg": whole}
        right = {"ll": local, "lg": whole, "gg": whole}
        found = {}
        for kind, pairs in self.pairs.items():
            each = []
            for n, m in pairs:
                rows = self.having(n, m, there)
                if rows is not None and len(rows) < 2:
                    continue
                x, y = self.taught(n, left[kind][n]), self.taught(m, right[kind][m])
                if rows is not None:
                    x, y = x[rows], y[rows]
                critic = self.critics[f"{kind}:{n}>{m}"]
                each.append(information(critic, x, y, apart=self.apart, bound=self.bound))  # type: ignore[arg-type]
            if each:
                found[kind] = torch.stack(each).mean()
        return found

    def having(self, n: str, m: str, there: Bool[Tensor, "b n"] | None) -> Tensor | None:
        """The items that have both of a pair; None for all."""
        if there is None:
            return None
        own = [
            there.any(1) if name == JOINT else there[:, self.names.index(name)] for name in (n, m)
        ]
        return (own[0] & own[1]).nonzero().squeeze(1)

    def taught(self, name: str, features: Tensor) -> Tensor:
        """Features through which a gradient passes only where their modality is to learn."""
        return features.detach() if name in self.config.teachers else features


def local_pairs(names: Sequence[str], kind: str) -> Iterator[tuple[str, str]]:
    """Ordered pairs of what is compared place by place.

    >>> list(local_pairs(["t1", "t2"], "both"))
    [('t1', 't2'), ('t2', 't1'), ('t1', 'joint'), ('joint', 't1'), ('t2', 'joint'), ('joint', 't2')]
    """
    if kind != "joint":
        yield from permutations(names, 2)
    if kind != "modalities":
        for name in names:
            yield name, JOINT
            yield JOINT, name
