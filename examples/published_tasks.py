"""Write the task files of the published experiments' 100 test functions.

Ten workers with NumPy's legacy generator seeded 100 to 109 drew ten functions each: a translation,
then a scale.

    python examples/published_tasks.py
    metabo evaluate branin --search grid --task-file examples/published-tasks/branin.json
"""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "published-tasks"


def draw(dim: int) -> list[dict[str, object]]:
    """The parameters of the 100 functions, in order."""
    tasks: list[dict[str, object]] = []
    for worker in range(10):
        state = np.random.RandomState(100 + worker)
        for _ in range(10):
            translation = state.uniform(-0.1, 0.1, (1, dim))[0].tolist()
            tasks.append({"translation": translation, "scale": state.uniform(0.9, 1.1)})
    return tasks


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, dim in (("branin", 2), ("goldstein-price", 2), ("hartmann-3", 3)):
        lines = ",\n".join(json.dumps(task) for task in draw(dim))
        (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n")
