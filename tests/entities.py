"""A small Flickr30K Entities in the real format, for tests to open and to break."""

from pathlib import Path

from PIL import Image, ImageDraw

SENTENCES = """\
[/EN#1/people A man] in [/EN#2/clothing a red hat] pets [/EN#3/animals two dogs] on [/EN#4/scene grass] .
[/EN#1/people He] and [/EN#3/animals/people his friends] pose for [/EN#0/notvisual a while] .
"""
XML = """\
<annotation>
  <filename>{id}.jpg</filename>
  <size><width>200</width><height>100</height><depth>3</depth></size>
  <object><name>1</name>
    <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>100</xmax><ymax>100</ymax></bndbox></object>
  <object><name>2</name><name>3</name>
    <bndbox><xmin>11</xmin><ymin>1</ymin><xmax>50</xmax><ymax>20</ymax></bndbox></object>
  <object><name>3</name>
    <bndbox><xmin>101</xmin><ymin>51</ymin><xmax>200</xmax><ymax>100</ymax></bndbox></object>
  <object><name>4</name><scene>1</scene><nobndbox>0</nobndbox></object>
  <object><name>9</name>
    <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>
</annotation>
"""
IDS = {"10": "train", "20": "val", "30": "test"}


def write_entities(folder: Path) -> tuple[Path, Path]:
    """The annotations of three photos, and the photos: half the annotated size, red on the left."""
    notes, photos = folder / "notes", folder / "photos"
    for home in (notes / "Sentences", notes / "Annotations", photos):
        home.mkdir(parents=True)
    rows = ["id,flickr8k_split,original_width,original_height,width,height"]
    for id, split in IDS.items():
        (notes / "Sentences" / f"{id}.txt").write_text(SENTENCES, "utf-8")
        (notes / "Annotations" / f"{id}.xml").write_text(XML.format(id=id), "utf-8")
        (notes / f"{split}.txt").write_text(f"{id}\n404{id}\n", "utf-8")
        rows.append(f"{id},{'dev' if id == '10' else 'train'},200,100,100,50")
        photo = Image.new("RGB", (100, 50), "blue")
        ImageDraw.Draw(photo).rectangle((0, 0, 49, 49), fill="red")
        photo.save(photos / f"{id}.png")
    (notes / "images.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (notes / "UNRELATED_CAPTIONS").write_text(
        "# format: <imageID> <sentence number>\n20 1\n", "utf-8"
    )
    return notes, photos
