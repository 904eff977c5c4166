"""Acquisition functions of metabo inside other optimizers; each module needs its own extra."""
