"""Medical images with modalities that may be missing: segmentation and findings (003, ch. 8).

Models for research. None of them is a medical device.
"""
