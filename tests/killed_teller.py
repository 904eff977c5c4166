"""A process that tells in a loop, killed again and again: `killed_teller.py FOLDER KILLS`.

One warm process forks the tellers, so that a kill costs milliseconds. A teller acknowledges each
value through a pipe as soon as `tell` has returned. Every other teller writes its lines in small
pieces, so that kills do come in the middle of them. Prints what was acknowledged.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

import metabo

SPACE = {"x": metabo.Float(0.0, 1.0), "n": metabo.Int(1, 1000)}


def teller(path, acknowledge, in_pieces):
    write = os.write

    def piece(file, data):
        time.sleep(1e-4)
        return write(file, data[:8])

    if in_pieces:
        os.write = piece
    optimizer = metabo.Optimizer(SPACE, af="random", budget=10_000, journal=path)
    while True:
        number = optimizer.n_told
        optimizer.tell({"x": number / 10_000, "n": number % 1000 + 1}, float(number))
        write(acknowledge, number.to_bytes(4, "little"))


def killed(path, chance, in_pieces):
    """What one teller acknowledged before it was killed."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        teller(path, outgoing, in_pieces)
    os.close(outgoing)
    known = b""
    if chance.random() < 0.9:  # else perhaps killed before the journal is open
        known = os.read(incoming, 4)
        assert known, "the teller ended by itself"
    time.sleep(chance.uniform(0, 0.01))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while part := os.read(incoming, 2**16):
        known += part
    os.close(incoming)
    return [int.from_bytes(known[i : i + 4], "little") for i in range(0, len(known), 4)]


def main(folder, kills):
    torch.set_num_threads(1)
    chance, path = random.Random(0), Path(folder) / "run.jsonl"
    values, torn = [], 0
    for number in range(kills):
        values += killed(path, chance, number % 2 == 1)
        torn += path.exists() and not path.read_bytes().endswith(b"\n")
    print(json.dumps({"kills": kills, "values": values, "torn": torn}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
