"""SUN Attribute in its own files: `images/LETTER/CLASS/*.jpg` and `SUNAttributeDB/attributes.mat`."""

from polymodal.base.errors import PolymodalError
from polymodal.data.formats.archive import Source, find
from polymodal.data.formats.class_listing import Listing
from polymodal.data.formats.mat import read_mat, strings
from polymodal.data.formats.xlsa17 import Benchmark
from polymodal.data.formats.xlsa_listed import read_listed


def read(source: Source, benchmark: Benchmark) -> Listing:
    """The images of 717 scenes, with 102 attributes."""
    file = find(source, "SUNAttributeDB/attributes.mat", "attributes.mat")
    names = _names(source, file, benchmark.attributes.shape[1]) if file else ()
    return read_listed(benchmark, "images", names)


def _names(source: Source, file: str, count: int) -> tuple[str, ...]:
    """The attributes' names."""
    where = f"{source.path / file}: attributes"
    names = strings(read_mat(source, file, "attributes")["attributes"], where)
    if len(names) != count:
        raise PolymodalError(
            f"{where}: expected {count} names, found {len(names)}. Copy the file again."
        )
    return names
