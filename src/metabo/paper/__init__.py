"""The paper's experiments: what is run, what is stored, and how it is shown."""
