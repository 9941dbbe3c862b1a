"""Text on pictures: Pillow's own font, lines of a given width, and the colours of paper and ink."""

from PIL import ImageFont

PAPER, INK, FAINT = (250, 250, 248), (38, 38, 42), (140, 140, 146)

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def font(size: int) -> Font:
    """Pillow's own font."""
    return ImageFont.load_default(size)


def wrap(text: str, width: int, size: int) -> list[str]:
    """Break a text into lines no wider than `width` pixels; a longer word has a line of its own."""
    letters = font(size)
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and letters.getlength(longer) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line] if line else lines
