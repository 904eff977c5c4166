"""The run-time type checker of the test suite: beartype, an int being a float."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
