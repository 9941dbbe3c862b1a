"""captions.csv as people and programs write it: open quotes, other delimiters, odd bytes."""

import csv
import io
import random
from pathlib import Path

import pytest
from PIL import Image

from polymodal.base.errors import PolymodalError
from polymodal.data.folder import Folder, open_folder
from polymodal.data.formats.archive import Directory
from polymodal.data.formats.captions_csv import read
from polymodal.data.formats.entry import Entry, Flaw
from toys import flat

ROWS = [f"{number:02d}.png,caption {number},train" for number in range(2, 32)]
"""Row k is on line k of the file."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Thirty images, 02.png to 31.png, and no captions yet."""
    content = io.BytesIO()
    Image.new("RGB", (8, 8)).save(content, "PNG")
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(2, 32):
        (folder / f"{number:02d}.png").write_bytes(content.getvalue())
    return folder


def write(folder: Path, rows: list[str], header: str = "image,caption,split") -> Path:
    path = folder / "captions.csv"
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


def changed(**lines: str) -> list[str]:
    """The rows, those of some lines (line5=…) replaced."""
    return [lines.get(f"line{number}", row) for number, row in enumerate(ROWS, start=2)]


def strict(folder: Path) -> str:
    with pytest.raises(PolymodalError) as caught:
        open_folder(folder, size=8, progress=False)
    return str(caught.value)


def lenient(folder: Path) -> Folder:
    return open_folder(folder, size=8, skip_bad=True, progress=False)


def kept(opened: Folder) -> dict[str, str]:
    """The only caption of each image."""
    split = opened["train"]
    return {id: split.captions(i)[0].text for i, id in enumerate(split.ids)}


@pytest.mark.parametrize(
    ("lines", "swallowed", "why"),
    [
        ({"line12": '12.png,"open,train'}, range(13, 32), "broken CSV (unexpected end of data)"),
        ({"line12": '12.png,"open,train', "line26": '26.png,closed",train'}, range(13, 27),
         "one names the image '13.png'"),
        ({"line12": '12.png,"open,train', "line26": '26.png,"quoted, rightly",train'}, range(13, 27),
         "broken CSV (',' expected after '\"')"),
        ({"line12": '12.png,"open,train', "line13": '13.png,closed",train'}, range(13, 14),
         "one names the image '13.png'"),
        ({"line12": '12.png,"open,train', "line13": 'gone.jpg,closed",train'}, range(13, 14),
         "one names the image 'gone.jpg'"),
        ({"line12": '12.png,"open,train', "line13": "", "line14": '14.png,closed",train'},
         range(14, 15), "one names the image '14.png'"),
        ({"line12": '12.png,"open', "line13": '13.png,closed"'}, range(13, 14),
         "one names the image '13.png'"),
    ],
)  # fmt: skip
def test_an_open_quote(folder: Path, lines: dict[str, str], swallowed: range, why: str) -> None:
    path = write(folder, changed(**lines))
    count = f"{len(swallowed)} line{'s' if len(swallowed) > 1 else ''}"
    found = strict(folder)
    assert (
        f"{path}:12: a quote that opens in this row swallows {count} after it, to line {swallowed[-1]}"
        in found
    )
    assert why in found
    assert "Close the quote, or double it where it belongs to the caption" in found
    opened = lenient(folder)
    assert [flaw.where for flaw in opened.skipped] == [
        f"{path}:{number}" for number in (12, *swallowed)
    ]
    assert [flaw.kind for flaw in opened.skipped] == [
        "open quote", *["swallowed line"] * len(swallowed)
    ]  # fmt: skip
    assert opened.skipped[1].reason == "the quote of line 12 swallows this line. Mend that quote."
    assert kept(opened) == {
        f"{n:02d}.png": f"caption {n}" for n in range(2, 32) if n < 12 or n > swallowed[-1]
    }


def test_an_open_quote_that_swallows_more_than_a_field_may_hold(folder: Path) -> None:
    long = [f"02.png,caption {number} {'x' * 1000},train" for number in range(3, 200)]
    path = write(folder, ['31.png,"open,train', *long])
    opened = lenient(folder)
    swallowed = len(opened.skipped) - 1
    assert 120 < swallowed < 130
    assert len(opened["train"].captions(0)) == len(long) - swallowed
    message = f"{path}:2: a quote that opens in this row swallows {swallowed} lines after it"
    assert message in strict(folder)


def quoted(cells: list[str]) -> str:
    """A row as it should be written."""
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="\n").writerow(cells)
    return row.getvalue()


@pytest.mark.parametrize("columns", [["image", "caption"], ["caption", "image", "split"]])
def test_every_row_is_read_rightly_or_listed(folder: Path, columns: list[str]) -> None:
    """A quote too many or too few in one row changes no other row without a word."""
    rng = random.Random(0)
    for _ in range(200):
        said = {
            f"{number:02d}.png": "x " + " ".join(rng.choices(["red", ",", '"', "\n"], k=4))
            for number in range(2, 32)
        }
        rows = [
            quoted([{"image": image, "caption": said[image]}.get(c, "train") for c in columns])
            for image in said
        ]
        broken = rng.randrange(len(rows))
        places = [place for place, sign in enumerate(rows[broken]) if sign == '"']
        place = rng.choice(places or range(len(rows[broken])))
        rest = rows[broken][place + 1 :] if places else f'"{rows[broken][place:]}'
        rows[broken] = rows[broken][:place] + rest
        (folder / "captions.csv").write_text(f"{','.join(columns)}\n{''.join(rows)}", "utf-8")
        found = list(read(Directory(folder), "captions.csv"))
        read_rightly = {(e.image, e.captions[0]) for e in found if isinstance(e, Entry)}
        listed = {int(f.where.rpartition(":")[2]) for f in found if isinstance(f, Flaw)}
        line = 2
        for row, pair in zip(rows, said.items(), strict=True):
            lines = range(line, line := line + row.count("\n"))
            assert row is rows[broken] or pair in read_rightly or listed & set(lines)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_caption_of_several_lines_that_name_no_image(
    folder: Path, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "image,caption,split",
        '02.png,"a red car,',
        "",
        'parked, badly",train',
        "03.png,b,train",
    ]
    (folder / "captions.csv").write_bytes(end.join(lines).encode())
    opened = lenient(folder)
    assert opened.skipped == ()
    assert kept(opened) == {"02.png": f"a red car,{end}{end}parked, badly", "03.png": "b"}
    told = f"{folder}/captions.csv: 1 caption has several lines, first the one in line 2. If that"
    assert flat(capsys.readouterr().err).count(told) == 1
    (folder / "captions.csv").write_bytes(end.join([lines[0], *lines[4:]]).encode())
    assert kept(lenient(folder)) == {"03.png": "b"}
    assert capsys.readouterr().err == ""


def test_a_caption_of_several_lines_before_its_image(folder: Path) -> None:
    write(folder, ['"a red car,', 'parked, badly",02.png', "b,03.png"], "caption,image")
    found = read(Directory(folder), "captions.csv")
    assert [(e.image, e.where[-2:]) for e in found if isinstance(e, Entry)] == [
        ("02.png", ":2"),
        ("03.png", ":4"),
    ]
    path = write(folder, ['"a red car,02.png', 'parked, badly",03.png'], "caption,image")
    assert f"{path}:2: a quote that opens in this row" in strict(folder)
    rows = ['a,02.png,"train', '""", b",03.png,train', "c,04.png,train"]
    path = write(folder, rows, "caption,image,split")
    assert "1 line after it, to line 3: together they have 6 columns, not 3." in strict(folder)
    assert list(kept(lenient(folder))) == ["04.png"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"]
)  # fmt: skip
def test_delimiters_and_encodings(folder: Path, delimiter: str, encoding: str) -> None:
    row = ["02.png", f'"été{delimiter} or, so; they\tsay"', "train"]
    text = f"{delimiter.join(['image', 'caption', 'split'])}\r\n{delimiter.join(row)}\r\n"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (folder / "captions.csv").write_bytes((mark + text).encode(encoding))
    assert kept(open_folder(folder, progress=False)) == {"02.png": row[1].strip('"')}


def test_the_delimiter_of_the_header_is_that_of_all_rows(folder: Path) -> None:
    path = write(folder, ["02.png;a, b", "03.png,c"], "image;caption")
    assert (
        f"{path}:3: expected 2 columns (image, caption), found 1. Put a caption that holds semicolons in "
        "double quotes." in strict(folder)
    )
    write(folder, ["02.png\ta, b", "03.png\tc\td"], "image\tcaption")
    assert "found 3. Put a caption that holds tabs in double quotes." in strict(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("image,caption\n02.png,ab\n".encode("utf-16-le"), ":1: there is a NUL byte in the header. Is the "
         "file UTF-16 without a byte-order mark? Save it as UTF-8."),
        ("image,caption\n02.png,été\n".encode("utf-16-le"), ":2: not UTF-8: the byte 0xe9. Is it UTF-16 "
         "without a byte-order mark? Save the file as UTF-8."),
        (b"image,caption\n02.png,a\n03.png,\xe9t\xe9\n", ":3: not UTF-8: the byte 0xe9. Save the file as "
         "UTF-8, for example: iconv -f latin1 -t utf-8 captions.csv."),
        (b"\xef\xbb\xbfimage,caption\n02.png,\xe9t\xe9\n", ":2: not UTF-8: the byte 0xe9."),
        ("\ufeffimage,caption\n02.png,a\n".encode("utf-16-le") + b"x",
         ":3: not UTF-16, though its first bytes say so: the byte 0x78. Save the file as UTF-8."),
        (b'image,"caption\n02.png,a\n', ":1: broken CSV (unexpected end of data) in the header. Mend it."),
        (b"x" * 200_000, ":1: broken CSV (field larger than field limit (131072)) in the header. Mend it."),
        (b"x" * 1000, ":1: Unknown column '" + "x" * 40 + "…'."),
        (b"image,caption,image\n", ":1: expected a header image,caption"),
        (b"image,caption,split,split\n", ":1: a column stands twice: image,caption,split,split. Remove"),
        (b"image,caption\n", ": there is no caption in it. Write some, or give another file."),
        (b"", ":1: expected a header image,caption (and split, id if wished), found: an empty line."),
        (b"\nimage,caption\n02.png,a\n", ":1: expected a header image,caption"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read(folder: Path, content: bytes, message: str) -> None:
    path = folder / "captions.csv"
    path.write_bytes(content)
    assert f"{path}{message}" in strict(folder)
    with pytest.raises(PolymodalError):
        lenient(folder)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("03.png,a\0b,train", "there is a NUL byte in this row. Remove it."),
        (
            f"03.png,{'x' * 10_000_000},train",
            "broken CSV (field larger than field limit (131072)). Shorten the caption.",
        ),
    ],
)
def test_a_row_that_cannot_be_read(folder: Path, row: str, message: str) -> None:
    path = write(folder, [ROWS[0], row, ROWS[2]])
    found = strict(folder)
    assert f"{path}:3: {message}" in found
    assert len(found) < 1000
    opened = lenient(folder)
    assert [(flaw.kind, flaw.where) for flaw in opened.skipped] == [("malformed line", f"{path}:3")]
    assert list(kept(opened)) == ["02.png", "04.png"]


def test_one_file_under_two_names_is_one_image(folder: Path) -> None:
    (folder / "images").mkdir()
    (folder / "03.png").rename(folder / "images" / "03.png")
    path = write(folder, [ROWS[0], ROWS[1], "images/03.png,the same,test"])
    message = f"the image images/03.png is already named at {path}:3. Name it in one way only."
    assert f"{path}:4: {message}" in strict(folder)
    opened = lenient(folder)
    assert [(flaw.kind, flaw.where) for flaw in opened.skipped] == [
        ("duplicate image", f"{path}:4")
    ]


def test_a_link_out_of_the_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "02.png").rename(tmp_path / "elsewhere.png")
    (folder / "02.png").symlink_to(tmp_path / "elsewhere.png")
    write(folder, ROWS)
    assert len(open_folder(folder, progress=False)["train"]) == 30
    (tmp_path / "elsewhere.png").unlink()
    assert "there is no file 02.png" in strict(folder)
