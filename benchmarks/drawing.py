"""How fast scenes are drawn: the compiled tracer on one core against the same maths in PyTorch.

    python benchmarks/drawing.py [--images 200] [--out results.json]

Both draw the same layouts at 112 × 112 with one thread. The PyTorch version is vectorised over an
image's 224 × 224 points, in float32, and culls as the compiled one does: primary rays by screen
bounds, shadow and mirror rays by bounding spheres. Before anything is timed, the two must agree.
"""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numba
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from polymodal.base import files
from polymodal.data.drawn import scenes as worlds
from polymodal.data.drawn.scenes import attributes, geometry, stage
from polymodal.data.drawn.scenes import scene_drawing as drawing
from polymodal.data.drawn.scenes import scene_lighting as lighting

PAINT = torch.tensor(attributes.RGB) / 255.0
UP = torch.tensor([0.0, 0.0, 1.0])


def slab(place: Tensor, step: Tensor, half: float, near: Tensor, far: Tensor) -> tuple:
    a, b = (-half - place) / step, (half - place) / step
    return torch.maximum(near, torch.minimum(a, b)), torch.minimum(far, torch.maximum(a, b))


def whole_line(like: Tensor) -> tuple[Tensor, Tensor]:
    return torch.full_like(like, -geometry.MISS), torch.full_like(like, geometry.MISS)


def cone(x: Tensor, y: Tensor, h: Tensor, u: Tensor, v: Tensor, w: Tensor, near, far) -> tuple:
    a, b, c = u * u + v * v - w * w, x * u + y * v - h * w, x * x + y * y - h * h
    square = b * b - a * c
    root = square.clamp(min=0).sqrt()
    first, second = (-b - root) / a, (-b + root) / a
    flat, down = a > 0, w > 0
    enter = torch.where(flat | down, first, -geometry.MISS)
    leave = torch.where(flat | ~down, second, geometry.MISS)
    leave = torch.where(flat & (square < 0), -geometry.MISS, leave)
    return torch.maximum(near, enter), torch.minimum(far, leave)


def hit(body: np.ndarray, origin: Tensor, direction: Tensor) -> Tensor:
    x, y, z = (origin - torch.tensor(body[geometry.X : geometry.Z + 1]).float()).unbind(-1)
    u, v, w = direction.unbind(-1)
    r = float(body[geometry.EXTENT])
    if body[geometry.SHAPE] == geometry.SPHERE:
        a, b = u * u + v * v + w * w, x * u + y * v + z * w
        square = b * b - a * (x * x + y * y + z * z - r * r)
        return torch.where(square < 0, geometry.MISS, (-b - square.clamp(min=0).sqrt()) / a)
    if body[geometry.SHAPE] == geometry.CYLINDER:
        near, far = slab(z, w, r, *whole_line(u))
        a, b, c = u * u + v * v, x * u + y * v, x * x + y * y - r * r
        square = b * b - a * c
        root = square.clamp(min=0).sqrt()
        near = torch.maximum(near, (-b - root) / a)
        far = torch.where(
            square < 0, torch.full_like(far, -geometry.MISS), torch.minimum(far, (-b + root) / a)
        )
        top = geometry.EDGE * r
        near, far = cone(x, y, top - z, u, v, -w, near, far)
        near, far = cone(x, y, top + z, u, v, w, near, far)
        return torch.where(near <= far, near, geometry.MISS)
    cos, sin = float(body[geometry.COS]), float(body[geometry.SIN])
    x, y = cos * x + sin * y, cos * y - sin * x
    u, v = cos * u + sin * v, cos * v - sin * u
    near, far = whole_line(u)
    for p, d in ((x, u), (y, v), (z, w)):
        near, far = slab(p, d, r, near, far)
    for p, d in ((x + y, u + v), (x - y, u - v), (x + z, u + w), (x - z, u - w)):
        near, far = slab(p, d, geometry.EDGE * r, near, far)
    for p, d in ((y + z, v + w), (y - z, v - w)):
        near, far = slab(p, d, geometry.EDGE * r, near, far)
    for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        near, far = slab(x + s * y + t * z, u + s * v + t * w, geometry.CORNER * r, near, far)
    return torch.where(near <= far, near, geometry.MISS)


def normal(body: np.ndarray, point: Tensor) -> Tensor:
    p = point - torch.tensor(body[geometry.X : geometry.Z + 1]).float()
    extent = float(body[geometry.EXTENT])
    if body[geometry.SHAPE] == geometry.SPHERE:
        return p / extent
    core = extent * (1 - attributes.BEVEL)
    if body[geometry.SHAPE] == geometry.CYLINDER:
        out = (p[..., 0] ** 2 + p[..., 1] ** 2).sqrt()
        side, up = (out - core).clamp(min=0), (p[..., 2].abs() - core).clamp(min=0)
        length = (side**2 + up**2).sqrt().clamp(min=1e-12)
        side, up = side / length / out.clamp(min=1e-12), up / length
        return torch.stack([p[..., 0] * side, p[..., 1] * side, up * p[..., 2].sign()], -1)
    cos, sin = float(body[geometry.COS]), float(body[geometry.SIN])
    turned = torch.stack([cos * p[..., 0] + sin * p[..., 1], cos * p[..., 1] - sin * p[..., 0]], -1)
    turned = torch.cat([turned, p[..., 2:]], -1)
    n = (turned.abs() - core).clamp(min=0) * turned.sign()
    n = n / n.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    a, b, c = n.unbind(-1)
    return torch.stack([cos * a - sin * b, sin * a + cos * b, c], -1)


def near_ray(body: np.ndarray, origin: Tensor, direction: Tensor, slack: Tensor | float) -> Tensor:
    to = torch.tensor(body[geometry.X : geometry.Z + 1]).float() - origin
    along = (to * direction).sum(-1)
    reach = float(body[geometry.BOUND])
    wide = reach + slack * along.clamp(min=0)
    return (along >= -reach) & ((to * to).sum(-1) - along**2 < wide**2)


class Set:
    """One layout as tensors."""

    def __init__(self, layout: drawing.Layout, size: int) -> None:
        self.bodies, self.size = layout.bodies, size
        rows = torch.tensor(layout.stage).float()
        names = ("EYE", "RIGHT", "UP", "FORWARD", "KEY", "KEY_ACROSS", "KEY_ALONG", "FILL")
        for name in names:
            start = getattr(stage, name)
            setattr(self, name.lower(), rows[start : start + 3])
        self.strength = float(rows[stage.STRENGTH])

    def toward_key(self, point: Tensor) -> tuple[Tensor, Tensor]:
        to = self.key - point
        near = 1 / to.norm(dim=-1)
        return to * near[:, None], near

    def blocked(self, near: Tensor, point: Tensor, to: Tensor) -> Tensor:
        """`near` says which bodies come near each point's cone of light."""
        shut = torch.zeros(len(point), dtype=torch.bool)
        for j, body in enumerate(self.bodies):
            rows = (near[j] & ~shut).nonzero()[:, 0]
            if len(rows):
                t = hit(body, point[rows], to[rows])
                shut[rows] |= (t > 0) & (t < geometry.MISS)
        return shut

    def lit(self, skip: Tensor, point: Tensor, key: Tensor, nearness: Tensor, grid) -> Tensor:
        slack = 1.4143 * stage.PANEL * nearness
        near = torch.stack(
            [near_ray(body, point, key, slack) & (skip != j) for j, body in enumerate(self.bodies)]
        )
        share = torch.ones(len(point))
        rows = near.any(0).nonzero()[:, 0]
        share[rows] = self.seen(near[:, rows], point[rows], 2, lighting.EDGE, 0.0, 0.0) / 4
        rows = ((share > 0) & (share < 1)).nonzero()[:, 0]
        right, down = 0.25 * (grid[0][rows] % 2) - 0.125, 0.25 * (grid[1][rows] % 2) - 0.125
        share[rows] = self.seen(near[:, rows], point[rows], 4, 0.5, right, down) / 16
        return share

    def seen(self, near: Tensor, point: Tensor, side: int, step: float, right, down) -> Tensor:
        count = torch.zeros(len(point))
        right, down = torch.as_tensor(right), torch.as_tensor(down)
        for i in range(side):
            for j in range(side):
                a = ((i - 0.5 * (side - 1)) * step + right)[..., None]
                b = ((j - 0.5 * (side - 1)) * step + down)[..., None]
                to = self.key - point + a * self.key_across + b * self.key_along
                count += ~self.blocked(near, point, to)
        return count

    def open_sky(self, skip: Tensor, point: Tensor, out: Tensor) -> Tensor:
        share = torch.ones(len(point))
        for j, body in enumerate(self.bodies):
            to = torch.tensor(body[geometry.X : geometry.Z + 1]).float() - point
            square, area = (to * to).sum(-1), float(body[geometry.EXTENT]) ** 2
            facing = (out * to).sum(-1)
            hidden = (0.9 * facing * area / (square * square.sqrt())).clamp(max=0.8)
            near = (skip != j) & (square <= lighting.REACH * area) & (facing > 0)
            share = torch.where(near, share * (1 - hidden), share)
        return share

    def light(self, point: Tensor, out: Tensor, key: Tensor, shadow, sky) -> Tensor:
        to_fill = self.fill - point
        to_fill = to_fill / to_fill.norm(dim=-1, keepdim=True)
        lamp = lighting.KEY_LIGHT * self.strength * shadow * (out * key).sum(-1).clamp(min=0)
        fill = lighting.FILL_LIGHT * (out * to_fill).sum(-1).clamp(min=0)
        rest = lighting.SKY_LIGHT * sky * (0.72 + 0.28 * out[:, 2])
        parts = torch.stack([lamp, fill, rest], -1)
        return parts @ torch.tensor([[1.03, 1, 0.95], [0.95, 1, 1.06], [0.98, 1, 1.03]])

    def softbox(self, point: Tensor, way: Tensor, centre: Tensor, wide: float, high: float):
        out = centre / centre.norm()
        facing = way @ out
        to = centre - point
        x, y, z = (((to @ out) / facing)[:, None] * way - to).unbind(-1)
        flat = (out[0] ** 2 + out[1] ** 2).sqrt()
        across = (out[0] * y - out[1] * x) / flat
        upward = z * flat - out[2] * (out[0] * x + out[1] * y) / flat
        box = edge(across.abs() / wide) * edge(upward.abs() / high)
        return torch.where(facing > 1e-6, box, torch.zeros_like(box))

    def studio(self, point: Tensor, way: Tensor) -> Tensor:
        up = way[:, 2].clamp(min=0)
        glow = (1 - up) ** 8
        t = (9.0 - point[:, 1]) / way[:, 1]
        x, z = point[:, 0] + t * way[:, 0], point[:, 2] + t * way[:, 2]
        turn = (z + 0.3 * x) / 2.2
        turn = turn - turn.floor()
        bars = (2.2 - 5 * (turn - 0.5).abs()).clamp(0, 1) * edge(x.abs() / 10)
        bars = torch.where((way[:, 1] >= 0.05) & (z >= 2.4) & (z <= 11.4), bars, 0.0)
        white = 5 * self.softbox(point, way, self.key, 2.0, 2.0) + 1.5 * bars
        white = white + 1.5 * self.softbox(point, way, self.fill, 1.6, 3.2)
        room = torch.stack([torch.ones_like(up), up, glow, white], -1)
        tints = [[0.10, 0.11, 0.13], [0.20, 0.24, 0.32], [0.55, 0.56, 0.58], [1.0, 1.0, 1.0]]
        return room @ torch.tensor(tints)

    def mirrored(self, k: Tensor, point: Tensor, way: Tensor) -> Tensor:
        nearest, which = torch.full_like(point[:, 0], geometry.MISS), torch.full_like(k, -1)
        for j, body in enumerate(self.bodies):
            rows = (near_ray(body, point, way, 0.0) & (k != j)).nonzero()[:, 0]
            if len(rows):
                t = hit(body, point[rows], way[rows])
                closer = (t > 0) & (t < nearest[rows])
                nearest[rows[closer]], which[rows[closer]] = t[closer], j
        colour = self.studio(point, way)
        rows = ((which < 0) & (way[:, 2] < -1e-6)).nonzero()[:, 0]
        t = -point[rows, 2] / way[rows, 2]
        there = point[rows] + t[:, None] * way[rows]
        there[:, 2] = 0
        out = UP.expand_as(there)
        sky = self.open_sky(torch.full_like(k[rows], -1), there, out)
        ground = self.light(there, out, self.toward_key(there)[0], sky, sky)
        far = (t * t / (t * t + 150))[:, None]
        colour[rows] = (1 - far) * ground_paint(there)[:, None] * ground + far * colour[rows]
        for j, body in enumerate(self.bodies):
            rows = (which == j).nonzero()[:, 0]
            there = point[rows] + nearest[rows, None] * way[rows]
            one = torch.ones(len(rows))
            bright = self.light(there, normal(body, there), self.toward_key(there)[0], one, one)
            colour[rows] = PAINT[int(body[geometry.COLOUR])] * bright
        return colour

    def look(self) -> tuple[Tensor, Tensor, Tensor]:
        side = 2 * self.size
        middle = (torch.arange(side) + 0.5) / self.size - 1
        across, upward = middle[None, :, None] * stage.LENS, -middle[:, None, None] * stage.LENS
        rays = self.forward + across * self.right + upward * self.up
        depth = torch.full((side, side), geometry.MISS)
        owner = torch.full((side, side), -1)
        for k, body in enumerate(self.bodies):
            columns, rows = self.window(body, side)
            t = hit(body, self.eye, rays[rows, columns])
            closer = t < depth[rows, columns]
            depth[rows, columns][closer], owner[rows, columns][closer] = t[closer], k
        return rays.reshape(-1, 3), depth.reshape(-1), owner.reshape(-1)

    def window(self, body: np.ndarray, side: int) -> tuple[slice, slice]:
        to = torch.tensor(body[geometry.X : geometry.Z + 1]).float() - self.eye
        deep, r = float(to @ self.forward), float(body[geometry.BOUND])
        slices = []
        for axis, sign in ((self.right, 1), (self.up, -1)):
            x, leg = sign * float(to @ axis), deep**2 - r**2
            swing = r * max(x * x + leg, 0) ** 0.5
            first, last = ((x * deep + s * swing) / (leg * stage.LENS) for s in (-1, 1))
            first, last = (first + 1) * side / 2, (last + 1) * side / 2
            slices.append(slice(max(int(first) - 1, 0), min(int(last) + 2, side)))
        return slices[0], slices[1]

    def draw(self) -> np.ndarray:
        rays, depth, k = self.look()
        t = torch.where(k < 0, -self.eye[2] / rays[:, 2], depth)
        point = self.eye + t[:, None] * rays
        point[k < 0, 2] = 0
        out = UP.repeat(len(point), 1)
        for j, body in enumerate(self.bodies):
            out[k == j] = normal(body, point[k == j])
        side = 2 * self.size
        grid = torch.arange(side).repeat(side), torch.arange(side).repeat_interleave(side)
        key, nearness = self.toward_key(point)
        shadow = self.lit(k, point, key, nearness, grid)
        colour = self.light(point, out, key, shadow, self.open_sky(k, point, out))
        tints = torch.tensor(self.bodies[:, geometry.COLOUR]).long()
        paint = torch.where((k < 0)[:, None], ground_paint(point)[:, None], PAINT[tints[k]])
        colour = colour * paint
        self.finish(colour, paint, point, out, key, shadow, k)
        value = colour.sqrt()
        value = torch.where(value < 0.8, value, 1 - 0.04 / (value - 0.6))
        value = value.reshape(self.size, 2, self.size, 2, 3).mean((1, 3))
        return (value.clamp(0, 1) * 255 + 0.5).byte().numpy()

    def finish(self, colour, paint, point, out, key, shadow, k: Tensor) -> None:
        """Add rubber's sheen and metal's mirror image."""
        metal = torch.tensor(self.bodies[:, geometry.MATERIAL])[k] > 0
        for rows in ((k >= 0) & ~metal, (k >= 0) & metal):
            view = point[rows] - self.eye
            view = view / view.norm(dim=-1, keepdim=True)
            facing = (view * out[rows]).sum(-1, keepdim=True).clamp(max=0)
            way = view - 2 * facing * out[rows]
            if not metal[rows].any():
                sheen = (way * key[rows]).sum(-1).clamp(min=0) ** 4
                colour[rows] += (0.07 * shadow[rows] * sheen)[:, None]
            else:
                white = 0.04 + 0.5 * (1 + facing) ** 5
                image = self.mirrored(k[rows], point[rows], way)
                colour[rows] = (white + (1 - white) * paint[rows]) * image + 0.18 * colour[rows]


def edge(distance: Tensor) -> Tensor:
    return ((1 - distance) * 6).clamp(0, 1)


def ground_paint(point: Tensor) -> Tensor:
    return 0.30 + 0.20 / (1 + 0.025 * (point[:, 0] ** 2 + point[:, 1] ** 2))


def agree(layouts: list[drawing.Layout], size: int) -> dict[str, float]:
    """How far the two versions' pixels are apart; stop where that is more than rounding."""
    ours = drawing.paint(layouts, size, 1).astype(int)
    theirs = np.stack([Set(layout, size).draw() for layout in layouts]).astype(int)
    apart = np.abs(ours - theirs)
    found = {"mean": float(apart.mean()), "over_2": float((apart > 2).mean())}
    if found["mean"] > 0.05 or found["over_2"] > 0.002:
        sys.exit(f"The two versions do not draw the same pictures: {found}.")
    return found


def per_second(work, count: int) -> float:
    """Repetitions a second, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return count / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--size", type=int, default=112)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in worlds.WORLDS:
        world = worlds.named(name, size=options.size)
        layouts = [drawing.lay_out(world, item) for item in range(options.images)]
        few = layouts[: max(options.images // 10, 1)]
        apart = agree(few, options.size)

        def draw_all(world: worlds.World = world) -> None:
            again = [drawing.lay_out(world, item) for item in range(options.images)]
            drawing.paint(again, options.size, 1)

        def draw_torch(few: list[drawing.Layout] = few) -> None:
            for layout in few:
                Set(layout, options.size).draw()

        ours, theirs = per_second(draw_all, options.images), per_second(draw_torch, len(few))
        metrics = {"images_per_second": ours, "pytorch": theirs, "times": ours / theirs}
        rows.append(
            {"name": name, "metrics": metrics | {f"apart_{k}": v for k, v in apart.items()}}
        )
    show(rows, options)


def show(rows: list[dict], options: argparse.Namespace) -> None:
    """Print the table and write it where it was asked for."""
    table = Table(title=f"Images a second on one core, {options.size} × {options.size}")
    for heading in ("world", "tracer", "PyTorch", "times"):
        table.add_column(heading, justify="left" if heading == "world" else "right")
    for row in rows:
        m = row["metrics"]
        table.add_row(
            row["name"],
            f"{m['images_per_second']:.0f}",
            f"{m['pytorch']:.1f}",
            f"{m['times']:.1f}",
        )
    Console().print(table)
    if options.out:
        result = {
            "study": "drawing",
            "command": f"python benchmarks/drawing.py --images {options.images}"
            f" --size {options.size} --out {options.out}",
            "hardware": f"{platform.machine()}, one of {os.cpu_count()} cores",
            "versions": {
                "python": platform.python_version(),
                "numba": numba.__version__,
                "numpy": np.__version__,
                "torch": torch.__version__,
            },
            "rows": rows,
        }
        files.write_json(options.out, result)


if __name__ == "__main__":
    main()
