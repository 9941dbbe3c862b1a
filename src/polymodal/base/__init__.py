"""What every room may use: errors, files, settings, tables, progress. It knows nothing of learning."""
