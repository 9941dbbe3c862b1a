"""The studies, one module a seed system: `gaussian.py`'s `table1` is `gaussian/table1`."""
