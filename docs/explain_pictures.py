"""Draw the pictures of explain.md, as `metabo explain` draws them, in fewer colours.

python docs/explain_pictures.py
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from metabo.explain import explain
from metabo.explain.curves import pictures

FOLDER = Path(__file__).parent / "images"


def draw(artifact: str, steps: Sequence[int], names: dict[str, str]) -> None:
    """Draw some pictures of an artifact under names of their own."""
    drawn = pictures(explain(artifact, steps=steps))
    with TemporaryDirectory() as folder:
        for file, name in names.items():
            drawn[file](Path(folder) / file)
            image = Image.open(Path(folder) / file).convert("RGB").quantize(256)
            image.save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    draw("rhino-1", [1, 2, 3], {"strategy.png": "explain-rhino-1"})
    draw("rhino-2", [1, 2, 3, 4], {"strategy.png": "explain-rhino-2"})
    branin = {"plane.png": "explain-branin-plane", "episode-2.png": "explain-branin"}
    draw("branin", [1, 2, 3, 5, 10], branin)
    draw("hartmann-3", [1, 2, 3, 10], {"episode-1.png": "explain-hartmann-3"})
