"""Tables and the report as Markdown and HTML; `metabo.cli.tables` prints tables in a terminal."""
