"""Reports: one HTML file that needs nothing else, made of sections that any system can add to.

write_report(path, "VSE++ on scenes", "What was learned, and how well.", [
    metric_section(metrics["scores"]),
    curves_section(metrics["curves"], monitor="rsum"),
    Section("My own", "<p>any markup</p>"),
])
"""

from polymodal.views.curves import Panel, curves_section
from polymodal.views.facts import facts_section
from polymodal.views.line_plot import Line, plot
from polymodal.views.markup import data_uri, escape, picture
from polymodal.views.page import Section, write_report
from polymodal.views.query_results import Hit, QueryResult, queries_section
from polymodal.views.scene_boxes import scenes_section
from polymodal.views.score_table import RETRIEVAL, Metric, metric_section
from polymodal.views.uncertainty_section import uncertainty_section

__all__ = [
    "RETRIEVAL",
    "Hit",
    "Line",
    "Metric",
    "Panel",
    "QueryResult",
    "Section",
    "curves_section",
    "data_uri",
    "escape",
    "facts_section",
    "metric_section",
    "picture",
    "plot",
    "queries_section",
    "scenes_section",
    "uncertainty_section",
    "write_report",
]
