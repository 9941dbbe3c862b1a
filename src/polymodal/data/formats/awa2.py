"""Animals with Attributes 2 in its own files: `JPEGImages/CLASS/*.jpg` and `predicates.txt`."""

from polymodal.data.formats.archive import Source, find
from polymodal.data.formats.class_listing import Listing, read_numbered
from polymodal.data.formats.xlsa17 import Benchmark
from polymodal.data.formats.xlsa_listed import read_listed

ATTRIBUTES = "predicates.txt"


def read(source: Source, benchmark: Benchmark) -> Listing:
    """The images of 50 animals, with 85 attributes."""
    count = benchmark.attributes.shape[1]
    rows = read_numbered(source, ATTRIBUTES, count) if find(source, ATTRIBUTES) else []
    return read_listed(benchmark, "JPEGImages", tuple(name for name, _ in rows))
