"""What all drawn worlds are made with: compiled helpers, counter-based randomness, vectors, limits."""
