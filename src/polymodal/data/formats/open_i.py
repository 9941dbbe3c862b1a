"""Open-I's chest films: the table of `open-i-224.zip`, or the collection's own XML reports and PNG."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find, read_text
from polymodal.data.formats.captions_csv import ENDINGS
from polymodal.data.formats.csv_rows import read_rows
from polymodal.data.formats.entry import Entry, Flaw
from polymodal.data.formats.xml_tree import BrokenXmlError, Node, read_xml

TABLE, VIEWS = "table.csv", "views.csv"

PREFIX = "lab_"
"""How columns of labels begin."""

STEMS: Mapping[str, str] = {
    "Atelectasis": "atelecta",
    "Calcified Granuloma": "calcified granuloma",
    "Cardiomegaly": "cardiomegal",
    "Edema": "edema",
    "Effusion": "effusion",
    "Emphysema": "emphysema",
    "Fibrosis": "fibrosis",
    "Fracture": "fracture",
    "Granuloma": "granuloma",
    "Hernia": "hernia",
    "Infiltration": "infiltrat",
    "Lesion": "lesion",
    "Mass": "mass",
    "Nodule": "nodule",
    "Opacity": "opacit",
    "Pleural Thickening": "pleural thickening",
    "Pneumonia": "pneumonia",
    "Pneumothorax": "pneumothora",
}
"""The labels, and what an automatic MeSH term of the report contains where each is true."""

FRONTAL = ("pa", "ap", "frontal")


@dataclass(frozen=True)
class Film:
    """A film with its report and labels; nothing of it is checked against the image yet."""

    entry: Entry
    patient: str
    findings: str
    impression: str
    labels: Mapping[str, bool]


def labels_of(terms: str) -> dict[str, bool]:
    """The labels that automatic MeSH terms tell, which were found in the report's text.

    >>> [name for name, true in labels_of("atelectases|calcified granuloma").items() if true]
    ['Atelectasis', 'Calcified Granuloma', 'Granuloma']
    """
    return {name: stem in terms.lower() for name, stem in STEMS.items()}


def read(source: Source, pictures: Source) -> Iterator[Film | Flaw]:
    """The films of a table, or where there is none, of XML reports.

    Args:
        source: where table.csv or the reports are.
        pictures: where the images are.
    """
    files: dict[str, str] = {}
    for name in [n for pattern in ("*.*", "*/*.*") for n in pictures.glob(pattern)]:
        if name.lower().endswith(ENDINGS):
            files.setdefault(name.rpartition("/")[2].rpartition(".")[0], name)
    if find(source, TABLE):
        yield from _table(source, files)
        return
    reports = [n for pattern in ("*.xml", "*/*.xml") for n in source.glob(pattern)]
    if not reports:
        raise PolymodalError(
            f"{source.path}: there is neither a {TABLE} nor XML reports. Give the folder of open-i-224, or "
            "Open-I's ecgen-radiology with ,images=PATH, the folder of its PNG."
        )
    frontal = _frontal(source)
    for name in reports:
        yield from _report(source, name, files, frontal)


def _film(id: str, where: str, split: str | None, files: Mapping[str, str]) -> Entry:
    name = files.get(id, f"{id}.jpg")
    return Entry(name, (), where, id=id, split=split, places=("",), wordless=True)


def _table(source: Source, files: Mapping[str, str]) -> Iterator[Film | Flaw]:
    """The rows of table.csv."""
    path = source.path / TABLE
    table = read_rows(source, TABLE, "id", "findings", "impression")
    labels = [name for name in table.names if name.startswith(PREFIX)]
    if not labels:
        raise PolymodalError(
            f"{path}: expected columns of labels, {PREFIX}…, found: {', '.join(table.names)}."
        )
    for where, row in table:
        if not row:
            reason = f"expected {len(table.names)} columns, found another number. Mend the line."
            yield Flaw("malformed entry", where, reason)
            continue
        odd = [name for name in labels if row[name] not in ("0", "1")]
        if odd or not row["id"]:
            what = f"{odd[0]} is 0 or 1, not {row[odd[0]]!r}" if odd else "the id is empty"
            yield Flaw("malformed entry", where, f"{what}. Mend the line.")
            continue
        yield Film(
            _film(row["id"], where, row.get("split") or None, files),
            row["id"].partition("_")[0],
            row["findings"].strip(),
            row["impression"].strip(),
            {name.removeprefix(PREFIX).replace("_", " "): row[name] == "1" for name in labels},
        )


def _frontal(source: Source) -> set[str] | None:
    """The images that views.csv says are frontal; None where there is no such file."""
    if find(source, VIEWS) is None:
        return None
    rows = read_rows(source, VIEWS, "image", "view")
    return {row["image"] for _, row in rows if row and row["view"].strip().lower() in FRONTAL}


def _report(
    source: Source, name: str, files: Mapping[str, str], frontal: set[str] | None
) -> Iterator[Film | Flaw]:
    """The films of one XML report."""
    where = str(source.path / name)
    try:
        root = read_xml(read_text(source, name))
    except BrokenXmlError as error:
        reason = f"the XML is broken ({error}). Copy the report again."
        yield Flaw("broken XML", f"{where}:{error.line}", reason)
        return
    patient = next((node.attributes.get("id", "") for node in root.all("uId")), "")
    if not patient:
        yield Flaw("malformed report", where, "there is no uId with an id. Is it an Open-I report?")
        return
    told = {text.attributes.get("Label", ""): text.text.strip() for text in _texts(root)}
    terms = "|".join(t.text for mesh in root.all("MeSH") for t in mesh.all("automatic"))
    for image in root.all("parentImage"):
        id = image.attributes.get("id", "")
        if frontal is None or id in frontal:
            entry = _film(id, f"{where}:{image.line}", None, files)
            sections = told.get("FINDINGS", ""), told.get("IMPRESSION", "")
            yield Film(entry, patient, *sections, labels_of(terms))


def _texts(root: Node) -> Iterator[Node]:
    for citation in root.all("MedlineCitation"):
        for article in citation.all("Article"):
            for abstract in article.all("Abstract"):
                yield from abstract.all("AbstractText")
