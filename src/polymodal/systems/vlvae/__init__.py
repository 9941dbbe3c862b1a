"""VLVAE, a VAE of pictures and texts, and the judge that reads words in its pictures (004)."""
