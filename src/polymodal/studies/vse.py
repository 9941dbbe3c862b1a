"""VSE++ (001, the baseline row of Tables 1 and 2)."""

from polymodal.results import PaperRow
from polymodal.studies import Recipe, Study
from polymodal.systems.vse import Config
from polymodal.training import Training

RECALLS = ("i2t_r1", "i2t_r5", "i2t_r10", "t2i_r1", "t2i_r5", "t2i_r10", "rsum")


def paper(name: str, *recalls: float) -> PaperRow:
    """A row of the paper: six recalls, and their sum."""
    return PaperRow(name=name, metrics=dict(zip(RECALLS, (*recalls, sum(recalls)), strict=True)))


STUDIES = {
    "coco": Study(
        about="VSE++ on frozen image features, of a COCO subset or a folder of yours",
        recipes=(
            Recipe(
                name="VSE++",
                system="vse",
                model=Config(embed_dim=512, hidden=512, warmup=113),
                training=Training(epochs=12, batch_size=128),
                encoder="efficientnet-lite0",
            ),
        ),
        quick=(
            Recipe(
                name="VSE++",
                system="vse",
                model=Config(embed_dim=64, hidden=64, word_dim=32, warmup=20),
                training=Training(max_steps=40, batch_size=32),
                encoder="efficientnet-lite0",
            ),
        ),
        quick_data="scenes,size=64,train=100,val=20,test=20",
        paper=(paper("VSE++, COCO 113k, ResNet-152, 5 × 1K", 58.3, 86.1, 93.3, 43.6, 77.6, 87.8),),
        metrics=RECALLS,
    ),
}
