"""Make `examples/past`: earlier searches for the settings of a k-nearest-neighbour classifier.

    python examples/make_past.py

Twelve classification problems, each with its own share of a grid of configurations tried, as a
record of past work looks: `metabo train table:examples/past` learns from it. Needs scikit-learn.
"""

import csv
import random
from pathlib import Path

from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

NEIGHBORS, POWERS, WEIGHTS = (1, 2, 4, 8, 16, 32), (1.0, 1.5, 2.0, 3.0), ("uniform", "distance")


def main() -> None:
    """Measure and write."""
    path = Path(__file__).parent / "past" / "knn.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "n_neighbors", "power", "weights", "value"])
        for number in range(12):
            draw = random.Random(number)
            x, y = make_classification(
                n_samples=draw.choice([120, 200, 300]),
                n_features=draw.choice([4, 8, 16]),
                n_informative=3,
                n_redundant=1,
                n_clusters_per_class=draw.choice([1, 2, 4]),
                flip_y=draw.choice([0.0, 0.1, 0.2]),
                class_sep=draw.choice([0.6, 1.0, 1.4]),
                random_state=number,
            )
            grid = [(n, p, w) for n in NEIGHBORS for p in POWERS for w in WEIGHTS]
            for n, p, w in sorted(draw.sample(grid, 36)):
                model = KNeighborsClassifier(n, p=p, weights=w)
                accuracy = cross_val_score(model, x, y, cv=5).mean()
                writer.writerow([f"problem-{number:02d}", n, p, w, f"{accuracy:.5f}"])


if __name__ == "__main__":
    main()
