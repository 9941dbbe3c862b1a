"""Training that survives a kill at any step; it knows no system by name."""
