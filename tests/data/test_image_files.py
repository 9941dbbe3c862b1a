"""Image files of every mode, and every way in which one can be bad."""

import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from polymodal.data import image_files as pictures


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def read(content: bytes, size: int = 8) -> np.ndarray:
    return pictures.read(BytesIO(content), len(content), size)


def flat(mode: str, colour: object, kind: str = "PNG", **options: object) -> bytes:
    return saved(Image.new(mode, (16, 16), colour), kind, **options)


@pytest.mark.parametrize(
    ("content", "colour"),
    [
        (flat("RGB", (200, 40, 40)), (200, 40, 40)),
        (flat("L", 77), (77, 77, 77)),
        (flat("1", 1), (255, 255, 255)),
        (flat("RGBA", (200, 40, 40, 255)), (200, 40, 40)),
        (flat("RGBA", (200, 40, 40, 0)), (255, 255, 255)),
        (flat("LA", (0, 0)), (255, 255, 255)),
        (flat("CMYK", (0, 255, 255, 0), "JPEG", quality=100), (255, 0, 0)),
        (flat("I;16", 0x8000), (128, 128, 128)),
        (flat("RGB", (200, 40, 40), "GIF"), (200, 40, 40)),
        (flat("RGB", (200, 40, 40), "BMP"), (200, 40, 40)),
        (flat("RGB", (200, 40, 40), "TIFF"), (200, 40, 40)),
        (flat("RGB", (200, 40, 40), "WEBP", lossless=True), (200, 40, 40)),
    ],
    ids=["RGB", "L", "1", "RGBA", "clear", "LA", "CMYK", "16-bit", "GIF", "BMP", "TIFF", "WEBP"],
)
def test_every_mode_becomes_rgb(content: bytes, colour: tuple[int, int, int]) -> None:
    image = read(content)
    assert image.shape == (8, 8, 3)
    assert image.dtype == np.uint8
    assert np.abs(image.astype(int) - colour).max() <= 2


def test_a_palette_with_a_transparent_colour_lies_on_white() -> None:
    image = Image.new("P", (16, 16), 1)
    image.putpalette([0, 0, 0, 10, 20, 30])
    assert (read(saved(image)) == (10, 20, 30)).all()
    assert (read(saved(image, transparency=1)) == 255).all()


def test_a_photo_is_turned_upright() -> None:
    sideways = Image.new("RGB", (16, 16), "black")
    sideways.paste("white", (0, 0, 8, 16))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held so that left is up
    image = read(saved(sideways, exif=exif))
    assert (image[0] == 255).all()
    assert (image[-1] == 0).all()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_the_size_is_that_of_the_upright_photo(kind: str) -> None:
    photo = Image.new("RGB", (16, 8))
    exif = Image.Exif()
    for orientation, size in ((1, (16, 8)), (3, (16, 8)), (6, (8, 16))):
        exif[0x0112] = orientation
        content = saved(photo, kind, exif=exif)
        assert pictures.size_of(BytesIO(content), len(content)) == size


@pytest.mark.parametrize(("width", "height"), [(60, 30), (30, 60), (33, 33), (500, 3), (2, 1)])
def test_a_letterboxed_picture_is_whole(width: int, height: int) -> None:
    photo = Image.new("RGB", (width, height), (200, 40, 40))
    content = saved(photo)
    image = pictures.read(BytesIO(content), len(content), 30, pictures.WHOLE)
    x0, y0, x1, y1 = pictures.place_in_square(width, height, 30)
    assert max(x1 - x0, y1 - y0) == 30
    assert abs((x1 - x0) * height - (y1 - y0) * width) <= max(width, height)
    assert abs(x0 - (30 - x1)) <= 1 and abs(y0 - (30 - y1)) <= 1  # in the middle
    inside = np.zeros((30, 30), np.bool_)
    inside[y0:y1, x0:x1] = True
    assert (image[inside] == (200, 40, 40)).all()
    assert (image[~inside] == 128).all()


def test_the_square_is_that_of_resizing_first_and_cropping_after() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (60, 100, 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    resized = image.resize((50, 30), Image.Resampling.BICUBIC).crop((10, 0, 40, 30))
    difference = read(saved(image), 30).astype(int) - np.asarray(resized)
    assert np.abs(difference).max() <= 1


def test_an_image_of_the_right_size_is_left_as_it_is() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    assert (read(saved(Image.fromarray(noise))) == noise).all()


def test_a_very_long_image_needs_no_memory() -> None:
    assert read(saved(Image.new("RGB", (200_000, 1), "red")), 64).shape == (64, 64, 3)


def claimed(width: int, height: int) -> bytes:
    """A small PNG whose header claims any size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    data = chunk(b"IDAT", zlib.compress(b"\0" * 100))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [9_500, 40_000])
def test_a_bomb_is_known_by_its_header(side: int) -> None:
    content = claimed(side, side)
    for judge in (pictures.check_header, pictures.verify):
        with pytest.raises(pictures.BadPictureError, match="unpack to too much") as caught:
            judge(BytesIO(content), len(content))
        assert caught.value.kind == "image bomb"


def test_a_bomb_is_refused_where_warnings_are_silent() -> None:
    import warnings

    content = claimed(9_500, 9_500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(pictures.BadPictureError, match="9500×9500 pixels"):
            pictures.check_header(BytesIO(content), len(content))


def test_a_giant_file_is_not_read() -> None:
    with pytest.raises(pictures.BadPictureError, match="300 MiB in one file"):
        pictures.check_header(BytesIO(b""), 300 * 2**20)


def test_the_user_may_raise_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    content = claimed(9_500, 9_500)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    pictures.check_header(BytesIO(content), len(content))


def test_no_bytes() -> None:
    with pytest.raises(pictures.BadPictureError, match="0 bytes") as caught:
        read(b"")
    assert caught.value.kind == "empty image"


@pytest.mark.parametrize("content", [b"hello", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"<svg/>", b"\0"])
def test_no_image(content: bytes) -> None:
    with pytest.raises(pictures.BadPictureError, match="Save it as JPEG or PNG") as caught:
        read(content)
    assert caught.value.kind == "not an image"


@pytest.mark.filterwarnings("ignore:.*EXIF data", "ignore:Truncated File Read")  # Pillow, of TIFF
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP"])
def test_an_image_cut_off_anywhere_is_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    content = saved(Image.fromarray(noise), kind)
    for length in (20, len(content) // 4, len(content) // 2, len(content) * 3 // 4):
        with pytest.raises(pictures.BadPictureError) as caught:
            read(content[:length])
        assert caught.value.kind in ("truncated image", "not an image")


def test_pixels_of_32_bits_are_refused() -> None:
    with pytest.raises(pictures.BadPictureError, match="8 or 16 bits"):
        read(saved(Image.new("F", (8, 8)), "TIFF"))
