"""Share of Rhino tasks whose peak is hit (regret < 0.05) within 1, 2, ... evaluations.

python benchmarks/rhino_hits.py [--families rhino-1,rhino-2] [--artifact FILE] [--search grid]
"""

import argparse
import json

import metabo


def main() -> None:
    """Print one JSON line per family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default="rhino-1,rhino-2")
    parser.add_argument("--artifact")
    parser.add_argument("--search", default="gradient")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", default="metabo,ei,random")
    given = parser.parse_args()
    for name in given.families.split(","):
        run = metabo.evaluate(
            name,
            methods=given.methods.split(","),
            tasks=given.tasks,
            seed=given.seed,
            search=given.search,
            artifact=given.artifact,
        )
        shares = {
            method: [round(share, 3) for share in (of.regret < 0.05).double().mean(0).tolist()]
            for method, of in run.methods.items()
        }
        print(json.dumps({"name": "rhino_hits", "family": name, "shares": shares}), flush=True)


if __name__ == "__main__":
    main()
