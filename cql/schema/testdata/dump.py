"""Makes a keyspace on a real Cassandra and writes down its rows of system_schema, cells in hex.

    python3 dump.py HOST PORT > rows.json
"""
import json, sys

from cassandra.cluster import Cluster
from cassandra.protocol import ResultMessage, _ProtocolHandler, read_int


class Raw(ResultMessage):
    def recv_results_rows(self, f, protocol_version, user_type_map, result_metadata, column_encryption_policy=None):
        self.recv_results_metadata(f, user_type_map)
        columns = self.column_metadata or result_metadata
        self.column_names, self.column_types = [c[2] for c in columns], [c[3] for c in columns]
        self.parsed_rows = [self.recv_row(f, len(columns)) for _ in range(read_int(f))]


class Handler(_ProtocolHandler):
    message_types_by_opcode = {**_ProtocolHandler.message_types_by_opcode, ResultMessage.opcode: Raw}


cluster = Cluster([sys.argv[1]], port=int(sys.argv[2]))
s = cluster.connect()
s.execute("DROP KEYSPACE IF EXISTS schema_rows")
for statement in """
CREATE KEYSPACE schema_rows WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = false;
USE schema_rows;
CREATE TYPE "Zip" (code int, "Plus4" int);
CREATE TYPE address (street text, zip frozen<"Zip">, tags frozen<set<text>>);
CREATE TYPE aaa (home frozen<address>, others map<text, frozen<address>>);
CREATE TABLE people (name text, "Born" date, seq int, home address, work frozen<address>, tags set<text>, m map<text, frozen<list<int>>>,
  l list<frozen<tuple<int, text>>>, v vector<float, 3>, s frozen<aaa> static, st int static, gone text,
  PRIMARY KEY ((name, "Born"), seq, tags2, "D")) WITH CLUSTERING ORDER BY (seq DESC, tags2 ASC, "D" DESC) AND comment = 'it''s' AND gc_grace_seconds = 60 AND cdc = true
  AND compression = {'enabled': 'false'} AND default_time_to_live = 100;
ALTER TABLE people DROP gone;
CREATE INDEX people_tags ON people (tags);
CREATE INDEX people_m ON people (keys(m));
CREATE CUSTOM INDEX sai ON people (st) USING 'StorageAttachedIndex';
CREATE TABLE counts (k blob PRIMARY KEY, n counter, d counter);
CREATE TABLE one (k int, c timeuuid, x duration, i inet, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC);
CREATE MATERIALIZED VIEW seen AS SELECT * FROM one WHERE k IS NOT NULL AND c IS NOT NULL AND i IS NOT NULL PRIMARY KEY (i, k, c);
""".replace("seq int,", "seq int, tags2 frozen<set<text>>, \"D\" decimal,").split(";\n"):
    if statement.strip():
        s.execute(statement)
raw = cluster.connect()
raw.client_protocol_handler = Handler
out = {}
for table in ("keyspaces", "tables", "columns", "types", "indexes", "dropped_columns", "views"):
    rows = raw.execute("SELECT * FROM system_schema.%s WHERE keyspace_name = 'schema_rows'" % table)
    out[table] = [{c: v.hex() for c, v in zip(rows.column_names, r) if v is not None} for r in rows]
for group in (out["tables"], out["views"], out["dropped_columns"]):
    for i, r in enumerate(group):  # what differs from run to run
        if "id" in r:
            r["id"] = "%032x" % (i + 1)
        if "base_table_id" in r:
            r["base_table_id"] = "%032x" % 9
        if "dropped_time" in r:
            r["dropped_time"] = "%016x" % 1594252800000
json.dump(out, sys.stdout, indent=0)
s.execute("DROP KEYSPACE schema_rows")
