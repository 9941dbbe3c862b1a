"""Where data, system and trainer meet: the run directory, whole jobs, shipped models."""
