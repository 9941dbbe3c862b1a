"""What one command reproduces: the tables and figures of the papers, and the demo."""
