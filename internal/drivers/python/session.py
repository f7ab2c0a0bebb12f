"""A session of the Python driver: session.py HOST PORT KEYSPACE PROPERTIES.

What it sees goes to standard output, to be compared between servers. After
"RESTART" it waits for a line on standard input, during which the server may be
restarted, and then expects to go on.
"""

import datetime
import sys
import time

from cassandra import InvalidRequest
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import ConstantReconnectionPolicy, RoundRobinPolicy
from cassandra.protocol import SyntaxException
from cassandra.query import BatchStatement, SimpleStatement, tuple_factory

host, port, keyspace, properties = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]


def say(*what):
    print(*what, flush=True)


cluster = Cluster(
    [host],
    port=port,
    execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), row_factory=tuple_factory, request_timeout=30)},
    reconnection_policy=ConstantReconnectionPolicy(0.5, max_attempts=None),
    # Whose machine is busy does not give up: by default it does after two seconds.
    connect_timeout=60, control_connection_timeout=60, max_schema_agreement_wait=60,
)
session = cluster.connect()
say("protocol", cluster.protocol_version)
say("hosts", len(cluster.metadata.all_hosts()), "release", [h.release_version for h in cluster.metadata.all_hosts()])

session.execute("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % keyspace)
session.set_keyspace(keyspace)
session.execute("CREATE TYPE place (name text, lat double)")
session.execute(
    "CREATE TABLE t (day date, title text, n int, tags set<text>, at frozen<place>, PRIMARY KEY (day, title))"
    + (" WITH " + properties if properties else ""))

# Metadata, as the driver reads it from system_schema.
table = cluster.metadata.keyspaces[keyspace].tables["t"]
say("partition key", [c.name for c in table.partition_key], "clustering", [c.name for c in table.clustering_key])
for c in table.columns.values():
    say("column", c.name, c.cql_type)
say("schema agreement", cluster.control_connection.wait_for_schema_agreement())
say("types", list(cluster.metadata.keyspaces[keyspace].user_types))

# Prepared statements, many at once.
day = datetime.date(2020, 7, 9)
insert = session.prepare("INSERT INTO t (day, title, n, tags) VALUES (?, ?, ?, ?)")
done = execute_concurrent_with_args(session, insert, [(day, "title %03d" % i, i, {"a", str(i % 3)}) for i in range(105)], concurrency=32)
say("inserted", sum(ok for ok, _ in done))
select = session.prepare("SELECT title, n, tags FROM t WHERE day = ? AND title = ?")
say("one", session.execute(select, (day, "title 042")).one())
say("none", session.execute(select, (day, "nothing")).one())

# Pages.
whole = SimpleStatement("SELECT title, n FROM t WHERE day = '2020-07-09'", fetch_size=10)
rows = list(session.execute(whole))
say("rows", len(rows), rows[0], rows[-1], "in order", rows == sorted(rows))
result = session.execute(SimpleStatement("SELECT title FROM t WHERE day = '2020-07-09' ORDER BY title DESC", fetch_size=7))
say("first page", len(result.current_rows), result.current_rows[0])
again = session.execute(SimpleStatement("SELECT title FROM t WHERE day = '2020-07-09' ORDER BY title DESC", fetch_size=7), paging_state=result.paging_state)
say("second page", again.current_rows[0])

# Batches.
batch = BatchStatement()
for i in range(3):
    batch.add(insert, (datetime.date(2020, 7, 10), "batched %d" % i, i, None))
batch.add(SimpleStatement("UPDATE t SET n = 100 WHERE day = '2020-07-10' AND title = 'batched 0'"))
session.execute(batch)
say("batched", sorted(session.execute("SELECT title, n FROM t WHERE day = '2020-07-10'")))

# Conditions.
say("new", session.execute("INSERT INTO t (day, title) VALUES ('2020-07-11', 'x') IF NOT EXISTS").was_applied)
say("old", session.execute("INSERT INTO t (day, title) VALUES ('2020-07-11', 'x') IF NOT EXISTS").was_applied)

# Simple statements with values, a user-defined type, named markers.
session.execute("UPDATE t SET at = {name: 'here', lat: 1.5} WHERE day = %s AND title = %s", (day, "title 001"))
say("udt", session.execute("SELECT at FROM t WHERE day = '2020-07-09' AND title = 'title 001'").one()[0].lat)
named = session.prepare("SELECT n FROM t WHERE day = :d AND title = :t")
say("named", session.execute(named, {"d": day, "t": "title 007"}).one())

# A schema change under a prepared SELECT *.
star = session.prepare("SELECT * FROM t WHERE day = ? AND title = ?")
say("star", len(session.execute(star, (day, "title 001")).one()))
session.execute("ALTER TABLE t ADD extra int")
say("star after ALTER", len(session.execute(star, (day, "title 001")).one()))
say("columns after ALTER", sorted(cluster.metadata.keyspaces[keyspace].tables["t"].columns))

for bad in ("SELEC", "SELECT nothing FROM t", "SELECT * FROM nothing"):
    try:
        session.execute(bad)
        say("no error for", bad)
    except (SyntaxException, InvalidRequest) as e:
        say("error", type(e).__name__)

trace = session.execute("SELECT n FROM t WHERE day = '2020-07-09' AND title = 'title 001'", trace=True)
say("traced", trace.one())

say("RESTART")
sys.stdin.readline()
deadline = time.time() + 180
while True:
    try:
        row = session.execute(select, (day, "title 042"), timeout=30).one()
        break
    except Exception as e:
        if time.time() > deadline:
            raise
        time.sleep(0.3)
say("after restart", row)
say("after restart", len(list(session.execute(whole))))
say("after restart", session.execute(star, (day, "title 001")).one()[:2])

session.execute("DROP KEYSPACE " + keyspace)
say("gone", keyspace not in cluster.metadata.keyspaces)
cluster.shutdown()
say("END")
