"""Scores of subsets as a table."""

from polymodal.views.subset_table import subset_table


def test_a_row_a_subset_and_a_column_a_class() -> None:
    scores = {
        "dice_t1": 10.0, "dice_t1_spread": 1.0, "dice_t1_rim": 5.0, "dice_t1_core": 15.0,
        "sensitivity_t1": 20.0, "hd95_t1": 7.0,
        "dice_flair+t1": 60.0, "dice_flair+t1_spread": 2.0, "dice_flair+t1_rim": 60.0,
    }  # fmt: skip
    table = subset_table(scores, ["t1", "flair"], ["core", "rim"])
    assert table.header == ["t1", "flair", "Dice", "Dice core", "Dice rim", "sensitivity", "HD95"]
    assert table.rows == [
        ["●", "○", "10.0 ± 1.0", "15.0", "5.0", "20.0", "7.0"],
        ["●", "●", "60.0 ± 2.0", "–", "60.0", "–", "–"],
    ]  # no item has flair alone
