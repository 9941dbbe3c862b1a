"""Pictures from layouts: OC-GAN and what it is trained and judged with (003, ch. 6, app. B)."""
