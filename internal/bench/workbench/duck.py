"""What people do with DuckDB to judge keys: SUMMARIZE, and for each key one GROUP BY
with the twenty largest. Arguments: threads, "file" or "table", the data; the keys are
on standard input, one a line, as SQL. "parquet IN OUT" converts."""

import sys

import duckdb

connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
if sys.argv[1] == "parquet":
    connection.execute(f"COPY (FROM read_csv('{sys.argv[2]}')) TO '{sys.argv[3]}' (FORMAT parquet)")
    sys.exit()
connection.execute(f"SET threads = {int(sys.argv[1])}")
source = f"'{sys.argv[3]}'"
if sys.argv[2] == "table":
    connection.execute(f"CREATE TABLE loaded AS FROM {source}")
    source = "loaded"
connection.execute(f"SUMMARIZE FROM {source}").fetchall()
for key in sys.stdin.read().splitlines():
    rows = connection.execute(f"SELECT {key}, count(*) AS n FROM {source} GROUP BY ALL ORDER BY n DESC LIMIT 20").fetchall()
    assert rows and rows[0][-1] > 0
