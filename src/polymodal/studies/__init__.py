"""What one command makes again: the tables and figures of the seeds, and the demo."""
