"""Pages about encoders: what one holds, and several beside each other."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from polymodal.diagnosis.comparison import Comparison
from polymodal.diagnosis.diagnosing import Diagnosis
from polymodal.views.facts import facts_section
from polymodal.views.line_plot import Line, plot
from polymodal.views.markup import escape, number, picture
from polymodal.views.page import Section, write_report
from polymodal.views.scatter_svg import scatter
from polymodal.views.score_table import Metric, metric_section

HEAT = "Heatmaps of pointwise mutual information"

SCORES = {
    "zsl_top1": Metric(
        label="Zero-shot accuracy, %",
        meaning="Classes never fitted to, told by prototypes from attributes; each class counts alike.",
        group="Recognition",
    ),
    "zsl_top1_ridge": Metric(
        label="by ridge regression, %",
        meaning="With prototypes in closed form.",
        group="Recognition",
    ),
    "chance": Metric(label="by guessing, %", group="Recognition"),
    "tre_ratio": Metric(
        label="TRE ratio",
        meaning="How far features are from sums of attributes, over how far from sums of random ones; "
        "low is compositional.",
        group="Compositionality",
        rising=False,
    ),
    "tre_ratio_spread": Metric(
        label="its spread", meaning="Standard deviation over restarts.", group="Compositionality"
    ),
    "tre_ratio_stopped": Metric(
        label="TRE ratio, stopped",
        meaning="The same where attributes are fitted for as many steps as are best for classes held out.",
        group="Compositionality",
        rising=False,
    ),
    "tre": Metric(
        label="TRE, attributes", meaning="Mean cosine distance.", group="Compositionality"
    ),
    "tre_random": Metric(label="TRE, random", group="Compositionality"),
    "parts_f1": Metric(
        label="Parts F1",
        meaning="Mean over parts of the F1 of a linear probe, over all places.",
        group="Locality",
    ),
    "parts_f1_tuned": Metric(
        label="Parts F1, tuned",
        meaning="The same at the threshold of each part that is best for the images fitted to.",
        group="Locality",
    ),
    "parts_unseen": Metric(
        label="Parts left out", meaning="Parts that no measured image shows.", group="Locality"
    ),
    "mi_nats": Metric(
        label="I(global; local), nats",
        meaning="A lower bound, on images that it was not fitted to.",
        group=HEAT,
    ),
    "parts_ratio": Metric(
        label="Parts ratio", meaning="The share of a heatmap that lies on parts.", group=HEAT
    ),
    "parts_area": Metric(
        label="of even maps", meaning="What it would be if all places scored alike.", group=HEAT
    ),
    "ratio_r_attributes": Metric(
        label="r with attributes",
        meaning="Pearson's correlation of the ratio and the likeness of two images by attributes.",
        group=HEAT,
    ),
    "ratio_p_attributes": Metric(label="its p", group=HEAT),
    "ratio_r_ssim": Metric(
        label="r with SSIM", meaning="The same with their likeness by pixels.", group=HEAT
    ),
    "ratio_p_ssim": Metric(label="its p", group=HEAT),
}
"""What is shown of the measures, in this order."""

LIKENESS = {
    "attributes": "cosine of both classes' attributes, in hundredths",
    "ssim": "SSIM of both pictures, in hundredths",
}


def write_diagnosis(path: Path, diagnosis: Diagnosis, sheet: bytes | None = None) -> None:
    """Write the page of one encoder, with its sheet of heatmaps if there is one."""
    sections = [scores_section([diagnosis])]
    if sheet:
        sections.append(sheet_section(sheet))
    if diagnosis.trends:
        sections.append(trends_section(diagnosis))
    sections.append(facts_section(diagnosis.protocol))
    lead = "Whether its features are made of attributes, and whether they say what is where."
    write_report(path, f"What {diagnosis.name} holds", lead, sections)


def write_comparison(path: Path, comparison: Comparison) -> None:
    """Write the page of several encoders."""
    names = [each.name for each in comparison.diagnoses]
    lead = f"{len(names)} encoders, measured alike: {', '.join(names)}."
    sections = [scatters_section(comparison), scores_section(comparison.diagnoses)]
    sections += [
        facts_section(each.protocol, heading=f"How {each.name} was measured")
        for each in comparison.diagnoses
    ]
    write_report(path, "Encoders compared", lead, sections)


def scores_section(diagnoses: Sequence[Diagnosis]) -> Section:
    """All scores, an encoder a column; what could not be measured, and what must be known."""
    names = {name for each in diagnoses for name in each.metrics}
    parts = {
        name: Metric(label=name.removeprefix("f1_").replace("_", " "), group="F1 of each part")
        for name in sorted(names)
        if name.startswith("f1_")
    }
    missing = {f"{measure}: {why}" for each in diagnoses for measure, why in each.skipped.items()}
    notes = [f"Not measured: {'; '.join(sorted(missing))}."] if missing else []
    notes += [f"{each.name}: {caution}." for each in diagnoses for caution in each.cautions]
    scores = {each.name: each.metrics for each in diagnoses}
    return metric_section(scores, known=SCORES | parts, note=" ".join(notes))


def sheet_section(png: bytes) -> Section:
    """The sheet of heatmaps."""
    with Image.open(io.BytesIO(png)) as image:
        pixels = np.asarray(image.convert("RGB"))
    note = "Where an image has what the global feature of another says (003, §4.4.3)."
    alt = "Pairs of images, the second under its scores"
    return Section(HEAT, picture(pixels, alt), note)


def trends_section(diagnosis: Diagnosis) -> Section:
    """The parts ratio as images are more alike."""
    drawn = "".join(
        plot(
            f"Parts ratio by {'SSIM' if name == 'ssim' else name}",
            [Line("parts ratio", tuple((100 * x, y) for x, y in points))],
            x_label=LIKENESS[name],
        )
        for name, points in diagnosis.trends.items()
    )
    note = "Means over tenths of the pairs, by how alike both images are (003, Fig. A.4)."
    return Section("What the parts ratio goes with", f'<div class="plots">{drawn}</div>', note)


def scatters_section(comparison: Comparison) -> Section:
    """Both measures against zero-shot accuracy, with Pearson's r (003, Figs 4.2 and 4.5)."""
    drawn = []
    for name, points in comparison.points.items():
        correlation = comparison.correlations.get(name)
        beside = f": r = {correlation[0]:.2f}, p = {number(correlation[1])}" if correlation else ""
        title = f"{SCORES[name].label}{beside}"
        drawn.append(scatter(title, points, "zero-shot accuracy, %"))
    note = "" if comparison.correlations else "A correlation needs three encoders or more."
    body = "".join(drawn) or f'<p class="empty">{escape("Nothing to set against it.")}</p>'
    return Section("Against zero-shot accuracy", f'<div class="plots">{body}</div>', note)
