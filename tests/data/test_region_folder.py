"""Datasets with boxes: opened from files in their own formats, and every flaw named."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from entities import IDS, SENTENCES, write_entities
from polymodal.base.errors import PolymodalError
from polymodal.data.records import Phrase, Record
from polymodal.data.region_folder import open_coco, open_entities
from polymodal.data.sources import open_splits

SHARED = Path(__file__).parents[3] / "shared" / "data"
REAL, PHOTOS = SHARED / "flickr30k-entities.zip", SHARED / "flickr8k-256-c.zip"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMODAL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_entities(tmp_path)[0]


def opened(notes: Path, **options: object) -> dict[str, list[Record]]:
    photos = str(notes.parent / "photos")
    return open_entities(notes, images=photos, size=64, progress=False, **options)


def named(record: Record, caption: int) -> list[tuple[str, list[str], list[tuple[float, ...]]]]:
    """Each phrase of a caption with the labels and boxes of its regions."""
    said = record.captions[caption]
    return [
        (said.text[p.start : p.end], *zip(*((r.label, r.box) for r in regions), strict=True))
        if (regions := [record.regions[k] for k in p.regions])
        else (said.text[p.start : p.end],)
        for p in said.phrases
    ]


def test_phrases_name_boxes_in_the_square(notes: Path) -> None:
    record = opened(notes)["train"][0]
    assert record.id == "10"
    assert record.captions[0].text == "A man in a red hat pets two dogs on grass ."
    man, hat = (0.0, 16.0, 32.0, 48.0), (3.2, 16.0, 16.0, 22.4)
    assert named(record, 0) == [
        ("A man", ("people",), (man,)),
        ("a red hat", ("clothing",), (hat,)),
        ("two dogs", ("animals", "animals"), (hat, (32.0, 32.0, 64.0, 48.0))),
        ("grass",),
    ]
    assert named(record, 1)[0] == ("He", ("people",), (man,))
    assert record.captions[1].phrases[1].types == ("animals", "people")
    assert record.captions[1].phrases[2] == Phrase(28, 35, (), ("notvisual",))
    assert [r.attributes["chain"] for r in record.regions] == [1, 2, 3, 3]  # 9 is in no caption
    assert record.regions[2].attributes["types"] == ("animals", "people")
    assert record["file"].endswith("photos/10.png")


def test_pictures_come_whole(notes: Path) -> None:
    train = opened(notes)["train"]
    image = train[0].image
    assert image.shape == (64, 64, 3)
    assert (image[:16] == 128).all() and (image[48:] == 128).all()
    assert (image[16:48, :30] == (255, 0, 0)).all() and (image[16:48, 34:] == (0, 0, 255)).all()
    assert "the whole picture" in train.rule


def test_boxes_of_a_tall_photo_bound_what_they_name(notes: Path) -> None:
    photo = Image.new("RGB", (100, 200), "blue")
    photo.paste("red", (20, 50, 60, 150))
    photo.save(notes.parent / "photos" / "10.png")
    in_xml("<width>200</width><height>100</height>", "<width>100</width><height>200</height>")(
        notes
    )
    in_xml(BOX, boxed(21, 51, 60, 150))(notes)
    in_xml(boxed(101, 51, 200, 100), boxed(1, 1, 1, 1))(notes)
    (notes / "images.csv").unlink()
    record = opened(notes)["train"][0]
    x0, y0, x1, y1 = record.regions[0].box
    assert (x0, y0, x1, y1) == pytest.approx((22.4, 16, 35.2, 48))
    rows, columns = np.nonzero(record.image[..., 0] > 200)
    assert abs(np.array([columns.min(), columns.max() + 1]) - (x0, x1)).max() < 1
    assert (rows.min(), rows.max() + 1) == (y0, y1)


def test_a_chain_is_called_what_it_is_called_most(notes: Path) -> None:
    more = "  [/EN#1/people/other Somebody] , [/EN#1/people he] .  \n"
    text = SENTENCES.replace("/EN#1/people A man", "/EN#1/other A man") + more
    (notes / "Sentences" / "10.txt").write_text(text, "utf-8")
    record = opened(notes)["train"][0]
    assert record.regions[0].label == "people"
    assert record.regions[0].attributes["types"] == ("people", "other")
    assert record.captions[0].phrases[0].types == ("other",)
    assert record.captions[2].text == "Somebody , he ."
    assert [phrase[0] for phrase in named(record, 2)] == ["Somebody", "he"]


def test_a_photo_held_upright_has_boxes_of_how_it_is_seen(notes: Path) -> None:
    photo = notes.parent / "photos" / "10.png"
    with Image.open(photo) as level:
        turned = level.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned.save(photo, exif=exif)
    record = opened(notes)["train"][0]
    assert (record.image[16:48, :30] == (255, 0, 0)).all()
    assert record.regions[0].box == (0.0, 16.0, 32.0, 48.0)


def test_both_splits_are_there_by_name(notes: Path) -> None:
    entities = opened(notes)
    assert {split: [*data.ids] for split, data in entities.items()} == {
        split: [id] for id, split in IDS.items()
    }
    flickr8k = opened(notes, split="flickr8k")
    assert {split: [*data.ids] for split, data in flickr8k.items()} == {
        "train": ["20", "30"],
        "val": ["10"],
    }
    with pytest.raises(
        PolymodalError, match=r"Unknown split of flickr30k: 'flickr8'\. Did you mean"
    ):
        opened(notes, split="flickr8")


def test_captions_that_are_not_about_the_photo_are_left_out(notes: Path) -> None:
    [record] = opened(notes)["val"]
    assert [caption.text[:6] for caption in record.captions] == ["He and"]
    assert {region.attributes["chain"] for region in record.regions} == {1, 2, 3}


def test_the_original_layout_opens(notes: Path, tmp_path: Path) -> None:
    """No images.csv, no UNRELATED_CAPTIONS; photos in a folder of their own, named as Flickr8k's."""
    (notes / "images.csv").unlink()
    (notes / "UNRELATED_CAPTIONS").unlink()
    photos = tmp_path / "photos"
    for id in IDS:
        Image.new("RGB", (200, 100)).save(photos / f"{id}_693b08cb0e.jpg")
        (photos / f"{id}.png").unlink()
    spec = f"flickr30k:{notes},images={photos},size=32"
    assert {name: len(split) for name, split in open_splits(spec).items()} == {
        "train": 1,
        "val": 1,
        "test": 1,
    }
    with pytest.raises(
        PolymodalError, match=r"split=flickr8k needs an images\.csv with the columns"
    ):
        open_splits(f"{spec},split=flickr8k")
    (notes / "val.txt").unlink()
    with pytest.raises(PolymodalError, match=r"there is no val\.txt, Entities' own split"):
        open_splits(spec)


def test_zips_joined_with_a_plus(notes: Path, tmp_path: Path) -> None:
    annotations = shutil.make_archive(str(tmp_path / "notes"), "zip", tmp_path, "notes")
    zips = []
    for id in IDS:
        part = tmp_path / f"part{id}" / "images"
        part.mkdir(parents=True)
        shutil.move(tmp_path / "photos" / f"{id}.png", part)
        zips.append(shutil.make_archive(str(tmp_path / "some" / f"p,{id}"), "zip", part.parent))
    splits = open_splits(f"flickr30k:{annotations},images={'+'.join(zips)},size=16")
    assert splits["test"][0]["file"] == f"{zips[2]}/30.png"
    assert splits["test"].images([0]).std() > 10
    with pytest.raises(PolymodalError, match=r"lacks its pictures\. Add ,images=PATH"):
        open_splits(f"flickr30k:{annotations}")
    with pytest.raises(
        PolymodalError, match=r"Unknown option of flickr30k: 'sizes'\. Did you mean"
    ):
        open_splits(f"flickr30k:{annotations},sizes=3")


def test_a_fingerprint_is_of_phrases_and_boxes_too(notes: Path) -> None:
    def print_of() -> str:
        return opened(notes)["train"].fingerprint

    before, sentences = print_of(), notes / "Sentences" / "10.txt"
    sentences.write_text(SENTENCES.replace("[/EN#1/people A", "A [/EN#1/people"), "utf-8")
    shorter = print_of()
    sentences.write_text(SENTENCES, "utf-8")
    assert print_of() == before != shorter
    xml = notes / "Annotations" / "10.xml"
    xml.write_text(xml.read_text().replace("<xmax>100<", "<xmax>99<"), "utf-8")
    assert print_of() not in (before, shorter)


def in_sentences(old: str, new: str) -> Callable[[Path], None]:
    return replaced("Sentences/10.txt", old, new)


def in_xml(old: str, new: str) -> Callable[[Path], None]:
    return replaced("Annotations/10.xml", old, new)


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def spoil(notes: Path) -> None:
        text = (notes / name).read_text("utf-8")
        assert old in text
        (notes / name).write_text(text.replace(old, new, 1), "utf-8")

    return spoil


LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{k} "{f"&lol{k - 1};" * 10}">' for k in range(1, 10))
    + "]>\n<annotation>&lol9;"
)

BOX = "<xmin>1</xmin><ymin>1</ymin><xmax>100</xmax><ymax>100</ymax>"


def boxed(*edges: object) -> str:
    tags = ("xmin", "ymin", "xmax", "ymax")
    return "".join(f"<{tag}>{edge}</{tag}>" for tag, edge in zip(tags, edges, strict=True))


FLAWS = [
    (in_sentences("a red hat]", "a red hat"), "malformed phrase", "10.txt:1",
     "a bracket opens within the phrase '[/EN#2/clothing a red hat pets ['"),
    (in_sentences("grass]", "grass"), "malformed phrase", "10.txt:1",
     "the phrase '[/EN#4/scene grass .' has no end. Mend the phrase."),
    (in_sentences("[/EN#1/people A man]", "A man]"), "malformed phrase", "10.txt:1",
     "the bracket at column 6 closes no phrase"),
    (in_sentences("[/EN#1/people He]", "[/EN#x/people He]"), "malformed phrase", "10.txt:2",
     "expected a phrase [/EN#chain/type words], found '[/EN#x/people He]'"),
    (in_sentences("[/EN#1/people He]", "[/EN#1/people ]"), "malformed phrase", "10.txt:2",
     "expected a phrase"),
    (in_sentences("/EN#2/", "/EN#7/"), "unknown chain", "10.txt:1",
     "the annotations have no chain 7, of the phrase 'a red hat'"),
    (in_sentences(SENTENCES, " \n\n"), "no sentence", "10.txt", "there is no sentence in the file"),
    (in_xml(BOX, boxed(1, 1, 202, 100)), "box outside the picture", "10.xml:4",
     "the box 0 0 202 100 does not lie in the picture of 200×100 pixels"),
    (in_xml(BOX, boxed(201, 1, 201, 100)), "box outside the picture", "10.xml:4", "Mend it"),
    (in_xml(BOX, boxed(60, 1, 50, 100)), "inverted box", "10.xml:4",
     "the box 59 0 50 100 ends before it begins"),
    (in_xml(BOX, boxed("nan", 1, 50, 100)), "inverted box", "10.xml:4", "ends before it begins"),
    (in_xml(BOX, boxed(1, 1, 50, "")), "malformed object", "10.xml:4",
     "expected a <bndbox> of four numbers, or <nobndbox> or <scene> of 1, found 1 1 50 ?"),
    (in_xml("<scene>1<", "<scene>0<"), "malformed object", "10.xml:10", "found neither"),
    (in_xml("<name>1</name>", ""), "malformed object", "10.xml:4",
     "expected the numbers of the object's chains, found none"),
    (in_xml("<name>1</name>", "<name>one</name>"), "malformed object", "10.xml:4", "['one']"),
    (in_xml("</annotation>\n", ""), "broken XML", "10.xml:13",
     "this is no sound XML: no element found. Copy the file again."),
    (in_xml("<annotation>", LAUGHS), "broken XML", "10.xml:1", "it declares a document type"),
    (in_xml("<name>1</name>", "<name>&one;</name>"), "broken XML", "10.xml:4", "undefined entity"),
    (in_xml("<width>200</width>", ""), "no size", "10.xml:1", "expected the picture's <size>"),
    (in_xml("<width>200</width>", "<width>300</width>"), "sizes disagree", "10.xml",
     "images.csv:2. Mend the wrong one."),
    (lambda notes: (notes / "Annotations/10.xml").unlink(), "missing annotation", "10.txt",
     "the photo 10 lacks Annotations/10.xml"),
    (lambda notes: (notes / "Sentences/10.txt").unlink(), "missing annotation", "10.txt",
     "the photo 10 lacks Sentences/10.txt"),
    (lambda notes: (notes.parent / "photos/10.png").unlink(), "missing image", "10.txt",
     "there is no picture 10.jpg (or .webp, .png, …). Add it"),
    (lambda notes: Image.new("RGB", (50, 50)).save(notes.parent / "photos/10.png"),
     "sizes disagree", "10.txt)", "the file has 50×50 pixels, but its boxes are in a picture of 200×100"),
    (lambda notes: Image.new("RGB", (100, 50)).save(notes.parent / "photos/10.jpg"),
     "duplicate image", "10.png", "the photo 10 is also 10.jpg. Keep one"),
    (lambda notes: (notes.parent / "photos/10.png").write_bytes(b""), "empty image", "10.txt)",
     "the image file has 0 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "kind", "where", "message"), FLAWS)
def test_every_flaw_is_named_or_left_out(
    notes: Path, spoil: Callable[[Path], None], kind: str, where: str, message: str
) -> None:
    spoil(notes)
    with pytest.raises(PolymodalError) as caught:
        opened(notes)
    assert message in str(caught.value)
    assert f"{where}: " in str(caught.value) and str(caught.value).endswith("skip_bad=True.)")
    splits = opened(notes, skip_bad=True)
    assert [(flaw.kind, flaw.where[-len(where) :]) for flaw in splits.skipped] == [(kind, where)]
    assert [*splits["test"].ids] == ["30"]


def test_a_flaw_costs_no_more_than_it_spoils(notes: Path) -> None:
    in_xml(BOX, boxed(1, 1, 300, 100))(notes)
    in_sentences("[/EN#1/people He]", "[/EN#1/people He")(notes)
    splits = opened(notes, skip_bad=True)
    [record] = splits["train"]
    assert [flaw.kind for flaw in splits.skipped] == ["box outside the picture", "malformed phrase"]
    assert [len(phrase.regions) for phrase in record.captions[0].phrases] == [0, 1, 2, 0]
    assert len(record.captions) == 1


def test_a_box_over_the_edge_by_rounding_is_clipped(notes: Path) -> None:
    in_xml(BOX, boxed(0, 1, 201, 100))(notes)
    assert opened(notes)["train"][0].regions[0].box == (0.0, 16.0, 64.0, 48.0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("images.csv", "id,split\n", r"images\.csv:1: expected the columns id, flickr8k_split"),
        ("images.csv", "id,flickr8k_split,original_width,original_height\n10,dev,x,3\n",
         r"images\.csv:2: expected an id, train, dev or test, .* found '10,dev,x,3'"),
        ("images.csv", "id,flickr8k_split,original_width,original_height\n10,,1,3\n10,,1,3\n",
         r"images\.csv:3: the photo 10 stands already at .*images\.csv:2"),
        ("val.txt", "20\n10\n", r"val\.txt:2: the photo 10 is already in train \(.*train\.txt:1\)"),
        ("UNRELATED_CAPTIONS", "10 one\n", r"UNRELATED_CAPTIONS:1: expected a photo and the number"),
        ("train.txt", "", None),
    ],
)  # fmt: skip
def test_broken_lists_are_named(notes: Path, name: str, text: str, message: str | None) -> None:
    (notes / name).write_text(text, "utf-8")
    if message is None:
        assert list(opened(notes)) == ["val", "test"]
        return
    with pytest.raises(PolymodalError, match=message):
        opened(notes)


def test_folders_of_something_else_are_named(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for split in ("train", "val", "test"):
        shutil.copy(notes / f"{split}.txt", tmp_path / "other")
    with pytest.raises(
        PolymodalError, match=r"there is no Sentences/\*\.txt. Give the folder of Fl"
    ):
        opened(tmp_path / "other")
    for split in ("train", "val", "test"):
        (notes / f"{split}.txt").write_text(f"not-{split}\n", "utf-8")
    with pytest.raises(PolymodalError, match="no picture with annotations is left"):
        opened(notes)
    with pytest.raises(PolymodalError, match=r"there is no instances_\*\.json. Give COCO's folder"):
        open_coco(notes)


@pytest.mark.skipif(
    not (REAL.exists() and PHOTOS.exists()), reason=f"{PHOTOS.name} and its captions are not here"
)
def test_the_real_test_photos(tmp_path: Path) -> None:
    """Flickr8k's test split alone, which is quicker than all."""
    with zipfile.ZipFile(REAL) as archive:
        home = "flickr30k-entities/"
        head, *rows = archive.read(f"{home}images.csv").decode().splitlines()
        rows = [row for row in rows if row.split(",")[1] == "test"]
        for row in rows:
            id = row.split(",")[0]
            archive.extract(f"{home}Sentences/{id}.txt", tmp_path)
            archive.extract(f"{home}Annotations/{id}.xml", tmp_path)
    (tmp_path / home / "images.csv").write_text("\n".join([head, *rows]))
    spec = f"flickr30k:{tmp_path / home},images={PHOTOS},split=flickr8k,size=64"
    test = open_splits(spec)["test"]
    phrases = [p for i in range(len(test)) for c in test.captions(i) for p in c.phrases]
    assert len(test) == 1000
    assert (len(phrases), sum(bool(p.regions) for p in phrases)) == (15_657, 13_063)
    dog = test[test.ids.index("1107246521")]
    assert dog.captions[0].text == "A black dog playing fetch with a ball of rope ."
    x0, y0, x1, y1 = (round(edge) for edge in dog.regions[0].box)
    black = dog.image.max(-1) < 50
    assert black[y0:y1, x0:x1].mean() > 2 * black.mean()
