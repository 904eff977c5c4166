import copy
import os
import pickle
import threading

from metabo.journal.turn import Turn


def test_one_thread_at_a_time():
    turn, inside, most = Turn(), [], []

    def work():
        for _ in range(200):
            with turn, turn:  # the same thread may come in again
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert max(most) == 1


def test_waiting_has_an_end():
    turn = Turn()
    with turn:
        came = []
        thread = threading.Thread(target=lambda: came.append(turn.acquire(0.01)))
        thread.start()
        thread.join()
    assert came == [False]


def test_it_is_free_in_forks_and_copies_whoever_holds_it():
    turn = Turn()
    held, over = threading.Event(), threading.Event()

    def hold():
        with turn:
            held.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if turn.acquire(5) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for other in (copy.deepcopy(turn), pickle.loads(pickle.dumps(turn))):
        assert other.acquire(0)
    over.set()
    thread.join()
