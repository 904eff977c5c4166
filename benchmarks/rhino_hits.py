"""Share of Rhino tasks whose peak is hit (regret < 0.05) within 1, 2, ... evaluations.

Prints one JSON line per family.

    python benchmarks/rhino_hits.py [--smoke] [--families rhino-1,rhino-2] [--artifact FILE]
        [--search grid]
"""

import argparse
import json

import metabo
from metabo.version import commit


def main() -> None:
    """Print one JSON line per family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="rhino-1,rhino-2")
    parser.add_argument("--artifact")
    parser.add_argument("--search", default="gradient")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", default="metabo,ei,random")
    parser.add_argument("--smoke", action="store_true", help="four tasks, three evaluations")
    given = parser.parse_args()
    for name in given.families.split(","):
        run = metabo.evaluate(
            name,
            methods=given.methods.split(","),
            tasks=4 if given.smoke else given.tasks,
            budget=3 if given.smoke else None,
            seed=given.seed,
            search=given.search,
            artifact=given.artifact,
        )
        shares = {
            method: [round(share, 3) for share in (of.regret < 0.05).double().mean(0).tolist()]
            for method, of in run.methods.items()
        }
        line = {"name": "rhino_hits", "family": name, "shares": shares, "commit": commit()}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
