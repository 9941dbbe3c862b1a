"""Recordings of steps without a GPU."""

from polymodal.training import recording


class Eager(recording.Recording):
    """A recording that does each step anew: what a system makes of one can be seen without a GPU."""

    def __init__(self, system, step, batch):
        self.system, self.step = system, step

    def play(self, batch):
        self.batch = batch
        self.system.zero_grad()
        return self.descend()
