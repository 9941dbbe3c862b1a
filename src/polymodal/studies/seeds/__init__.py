"""The studies, one module for each paper: `gaussian.py`'s `table1` is `gaussian/table1`."""
