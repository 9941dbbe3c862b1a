"""What an image encoder, ours or another, holds: whether its features are made of attributes, and where.

model = torch.nn.Sequential(…)                        # anything that gives maps [b, c, h, w]
found = polymodal.diagnose(model, "birds,size=64")    # or a run, or the folder of a backbone
found.metrics["tre_ratio"], found.metrics["parts_f1"]
"""
