"""Search: an index of embedded images or captions, under any similarity, exactly or by FAISS.

index = build(embeddings, Items.of(items), side="image", measure="wasserstein")
scores, places = index.search(queries, k=10, where={"split": "test"})
save(index, Path("index"))
index = open_index("index")
"""

from polymodal.search.answers import Answer, Hit, answers
from polymodal.search.calibrating import calibrate
from polymodal.search.facing import Side
from polymodal.search.index import Index, build
from polymodal.search.index_folder import open_index, save
from polymodal.search.index_settings import Settings
from polymodal.search.items import Item, Items
from polymodal.search.origin import Origin, fingerprint
from polymodal.search.sureness import Calibration, Sureness

__all__ = [
    "Answer",
    "Calibration",
    "Hit",
    "Index",
    "Item",
    "Items",
    "Origin",
    "Settings",
    "Side",
    "Sureness",
    "answers",
    "build",
    "calibrate",
    "fingerprint",
    "open_index",
    "save",
]
