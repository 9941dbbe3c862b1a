"""Animals with Attributes 2 in its own files: `JPEGImages/CLASS/*.jpg` and `predicates.txt`."""

from polymodal.data.formats.source import Source, find
from polymodal.data.zeroshot.listed import read_listed
from polymodal.data.zeroshot.listing import Listing, read_numbered
from polymodal.data.zeroshot.xlsa import Benchmark

ATTRIBUTES = "predicates.txt"


def read(source: Source, benchmark: Benchmark) -> Listing:
    """The images of 50 animals, with 85 attributes."""
    count = benchmark.attributes.shape[1]
    rows = read_numbered(source, ATTRIBUTES, count) if find(source, ATTRIBUTES) else []
    return read_listed(benchmark, "JPEGImages", tuple(name for name, _ in rows))
