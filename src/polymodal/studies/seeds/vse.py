"""VSE++ (001, the baseline row of Tables 1 and 2)."""

from dataclasses import replace

from polymodal.maths.ranking import Negatives
from polymodal.studies.result_files import PaperRow
from polymodal.studies.study import Paper, Recipe, Scale, Study
from polymodal.systems.retrieval.vse import Config
from polymodal.training.training_config import Training

RECALLS = ("i2t_r1", "i2t_r5", "i2t_r10", "t2i_r1", "t2i_r5", "t2i_r10", "rsum")


def paper(name: str, *recalls: float) -> PaperRow:
    """A row of the paper: six recalls, and their sum."""
    return PaperRow(name=name, metrics=dict(zip(RECALLS, (*recalls, sum(recalls)), strict=True)))


def on_scenes(name: str, negatives: Negatives, warmup: int = 0) -> Recipe:
    """VSE++ from scratch on scenes with one way of choosing negatives."""
    model = Config(
        convnet_width=16,
        embed_dim=256,
        word_dim=64,
        word_scale=1.7,
        hidden=256,
        lr=1e-3,
        negatives=negatives,
        warmup=warmup,
    )
    training = Training(max_steps=3000, batch_size=64, val_every=300, resident=True)
    return Recipe(name=name, system="vse", model=model, training=training)


def on_features(model: Config, training: Training) -> tuple[Recipe, ...]:
    """VSE++ on features of a frozen image encoder."""
    encoder = "efficientnet-lite0"
    return (Recipe(name="VSE++", system="vse", model=model, training=training, encoder=encoder),)


NEGATIVES = (
    on_scenes("hardest", "hardest"),
    on_scenes("hardest after 1500 summed", "hardest", warmup=1500),
    on_scenes("semi-hard", "semi-hard"),
    on_scenes("sum", "sum"),
)


STUDIES = {
    "negatives": Study(
        about="hardest, summed and semi-hard negatives on captions that are true of many images",
        scales={
            "drawn": Scale(rows=NEGATIVES, data=("scenes,size=64,train=4000,val=500,test=500",)),
            "quick": Scale(
                rows=tuple(
                    replace(row, training=replace(row.training, max_steps=20)) for row in NEGATIVES
                ),
                data=("scenes,size=32,train=100,val=20,test=20",),
            ),
        },
        metrics=RECALLS,
    ),
    "coco": Study(
        about="VSE++ on frozen image features, of a COCO subset or your own folder",
        scales={
            "small": Scale(
                rows=on_features(
                    Config(embed_dim=512, hidden=512, warmup=113, lr=5e-4, decay_at=0.7),
                    Training(epochs=10, batch_size=128),
                )
            ),
            "quick": Scale(
                rows=on_features(
                    Config(embed_dim=64, hidden=64, word_dim=32, warmup=20),
                    Training(max_steps=40, batch_size=32),
                ),
                data=("scenes,size=64,train=100,val=20,test=20",),
            ),
        },
        metrics=RECALLS,
        paper=Paper(
            rows=(
                paper("VSE++, COCO 113k, ResNet-152, 5 × 1K", 58.3, 86.1, 93.3, 43.6, 77.6, 87.8),
            )
        ),
    ),
}
