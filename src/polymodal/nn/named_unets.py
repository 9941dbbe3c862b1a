"""The two halves of a U-Net by the name of who wrote its blocks."""

from typing import Literal

from polymodal.nn.monai_unet import MonaiDecoder, MonaiEncoder
from polymodal.nn.unet import UNetDecoder, UNetEncoder

UNetKind = Literal["ours", "monai"]


def halves(
    kind: UNetKind,
) -> tuple[type[UNetEncoder] | type[MonaiEncoder], type[UNetDecoder] | type[MonaiDecoder]]:
    """Encoder and decoder, which take the same arguments whoever wrote them."""
    if kind == "monai":
        return MonaiEncoder, MonaiDecoder
    return UNetEncoder, UNetDecoder
