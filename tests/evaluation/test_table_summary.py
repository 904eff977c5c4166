import torch

from metabo.evaluation.table_summary import marks, mean_table, table_record

REGRET = torch.tensor(
    [[[0.4, 0.0], [0.2, 0.2]], [[0.2, 0.0], [0.4, 0.0]]], dtype=torch.float64
)  # two runs on each of two data sets


def test_a_record_has_means_over_runs_and_shares_of_runs():
    record = table_record(REGRET)
    assert record["mean"] == [0.3, 0.05]
    assert record["regret"] == [[0.3, 0.0], [0.3, 0.1]]
    assert record["unsolved"] == [1.0, 0.25]
    assert record["low"][0] == record["high"][0] == 0.3  # both data sets have this mean
    assert record["low"][1] < 0.05 < record["high"][1]


def test_rows_have_a_cell_for_each_step_and_dashes_for_what_is_missing():
    rows = mean_table("", {"ei": table_record(REGRET)}, marks(2), methods=["ei", "random"]).texts
    assert rows[0][:2] == ("ei", "0.3000 (0.3000-0.3000)")
    assert rows[0][-1] == "25%"
    assert rows[1] == ("random", "-", "-", "-")
    assert marks(15) == [1, 2, 3, 5, 10, 15]
