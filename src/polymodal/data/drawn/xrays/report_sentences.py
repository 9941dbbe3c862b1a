"""Sentences of radiology reports: each finding in several wordings, what is normal, what is denied."""

from collections.abc import Mapping

SEEN: Mapping[str, tuple[str, ...]] = {
    "Atelectasis": (
        "there is {degree} {side} basilar atelectasis",
        "linear opacity at the {side} base, compatible with subsegmental atelectasis",
        "{degree} {side} lower lobe volume loss",
        "streaky {side} basal densities suggest discoid atelectasis",
    ),
    "Cardiomegaly": (
        "the heart is {degree}ly enlarged",
        "there is {degree} cardiomegaly",
        "the cardiac silhouette is enlarged",
        "heart size is above the upper limits of normal",
    ),
    "Effusion": (
        "there is a {degree} {side} pleural effusion",
        "blunting of the {side} costophrenic angle, consistent with {degree} pleural fluid",
        "{degree} layering fluid in the {side} pleural space",
    ),
    "Infiltration": (
        "there is a patchy {side} infiltrate",
        "ill-defined {degree} airspace opacity in the {side} lung",
        "{degree} {side} interstitial infiltrates are seen",
    ),
    "Mass": (
        "there is a large rounded mass in the {side} lung",
        "a well-circumscribed {side} mass-like opacity is present",
        "{side} lung mass, concerning for neoplasm",
    ),
    "Nodule": (
        "a small nodule is noted in the {side} lung",
        "there is a subcentimeter {side} pulmonary nodule",
        "nodular density projecting over the {side} lung",
    ),
    "Pneumonia": (
        "{side} airspace disease, concerning for pneumonia",
        "findings suggest {degree} {side} pneumonia",
        "focal {side} opacity with air bronchograms, likely infectious",
    ),
    "Pneumothorax": (
        "there is a {degree} {side} pneumothorax",
        "a {side} apical pleural line is seen with absent lung markings beyond it",
        "{degree} collapse of the {side} lung",
    ),
    "Consolidation": (
        "there is dense {side} consolidation",
        "homogeneous {side} lobar opacification",
        "{side} lobe consolidation is present",
    ),
    "Edema": (
        "there is {degree} pulmonary edema",
        "bilateral perihilar haziness with vascular congestion",
        "prominent interstitial markings, consistent with fluid overload",
    ),
    "Emphysema": (
        "the lungs are hyperinflated with flattened diaphragms",
        "emphysematous changes are present",
        "hyperexpanded lungs, compatible with chronic obstructive disease",
    ),
    "Fibrosis": (
        "coarse reticular markings at the bases, consistent with fibrosis",
        "chronic interstitial fibrosis is present",
        "there are {degree} fibrotic changes in the lower lungs",
    ),
    "Pleural thickening": (
        "there is {side} pleural thickening",
        "{degree} thickening of the {side} lateral pleura",
        "chronic {side} pleural scarring",
    ),
    "Hernia": (
        "a hiatal hernia is noted",
        "there is a retrocardiac air-fluid level, compatible with hiatal hernia",
        "moderate hiatus hernia",
    ),
}
"""What is said where it is seen."""

ABSENT: Mapping[str, tuple[str, ...]] = {
    "Atelectasis": ("no atelectasis", "no volume loss"),
    "Cardiomegaly": ("the heart is normal in size", "heart size is within normal limits"),
    "Effusion": ("no pleural effusion", "no pleural fluid", "the costophrenic angles are sharp"),
    "Infiltration": ("no focal infiltrate", "the lungs are clear of infiltrates"),
    "Mass": ("no mass", "no suspicious mass"),
    "Nodule": ("no pulmonary nodules", "no nodule"),
    "Pneumonia": ("no evidence of pneumonia", "no focal airspace disease"),
    "Pneumothorax": ("no pneumothorax", "no definite pneumothorax"),
    "Consolidation": ("no focal consolidation", "no consolidation"),
    "Edema": ("no pulmonary edema", "pulmonary vascularity is within normal limits"),
    "Emphysema": ("no hyperinflation", "lung volumes are normal"),
    "Fibrosis": ("no interstitial fibrosis", "no chronic interstitial changes"),
    "Pleural thickening": ("no pleural thickening", "the pleural surfaces are smooth"),
    "Hernia": ("no hiatal hernia",),
}
"""What is said where it is looked for and is not there."""

ASIDES = (
    "degenerative changes are present in the spine",
    "the bony structures are intact",
    "no acute bony abnormality",
    "mediastinal contours are unremarkable",
    "calcified granuloma noted",
    "surgical clips project over the upper abdomen",
    "compared to XXXX, there is no interval change",
)
"""What is said of other things, which are not drawn."""

NORMAL = (
    "no acute cardiopulmonary abnormality",
    "normal chest",
    "no evidence of active disease",
    "negative chest x-XXXX",
)
"""What the impression says of a film without findings."""

SUMMARY: Mapping[str, tuple[str, ...]] = {
    "Atelectasis": ("basilar atelectasis", "subsegmental atelectasis"),
    "Cardiomegaly": ("cardiomegaly", "enlarged heart"),
    "Effusion": ("{side} pleural effusion", "pleural fluid"),
    "Infiltration": ("patchy infiltrate", "{side} infiltrate"),
    "Mass": ("{side} lung mass, CT is recommended", "large pulmonary mass"),
    "Nodule": ("pulmonary nodule, follow-up is advised", "{side} lung nodule"),
    "Pneumonia": ("{side} pneumonia", "probable pneumonia"),
    "Pneumothorax": ("{side} pneumothorax", "{degree} pneumothorax"),
    "Consolidation": ("{side} consolidation", "lobar consolidation"),
    "Edema": ("pulmonary edema", "congestive changes"),
    "Emphysema": ("emphysema", "changes of COPD"),
    "Fibrosis": ("pulmonary fibrosis", "chronic interstitial disease"),
    "Pleural thickening": ("pleural thickening", "pleural scarring"),
    "Hernia": ("hiatal hernia", "hiatus hernia"),
}
"""What the impression says of a finding."""
