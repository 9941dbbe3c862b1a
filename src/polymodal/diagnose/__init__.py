"""What an image encoder, ours or another, holds: whether its features are made of attributes, and where."""
