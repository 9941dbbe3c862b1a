"""Reports: one HTML file that needs nothing else, made of sections that any system can add to.

write_report(path, "VSE++ on scenes", "What was learned, and how well.", [
    metric_section(metrics["scores"]),
    curves_section(metrics["curves"], monitor="rsum"),
    Section("My own", "<p>any markup</p>"),
])
"""

from polymodal.report.curves import Panel, curves_section
from polymodal.report.facts import facts_section
from polymodal.report.markup import data_uri, escape, picture
from polymodal.report.page import Section, write_report
from polymodal.report.plot import Line, plot
from polymodal.report.queries import Hit, QueryResult, queries_section
from polymodal.report.scenes import scenes_section
from polymodal.report.scores import RETRIEVAL, Metric, metric_section
from polymodal.report.uncertainty import uncertainty_section

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
