"""VLVAE, a VAE of images and text, and the judge that checks its images (004)."""
