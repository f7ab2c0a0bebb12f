"""Inserts random values as clustering keys into a real Cassandra and writes down how it keeps them.

    python3 order.py HOST PORT

order.tsv has, for each type, the values inserted and those read back, in order.
"""
import re, sys

from cassandra.cluster import Cluster, ExecutionProfile
from cassandra.protocol import ResultMessage, _ProtocolHandler, read_int
from cassandra.query import BoundStatement

source = open("vectors.py").read()
exec(source[:source.index("asked = {}")])


class Raw(ResultMessage):
    """Rows as the bytes that came."""

    def recv_results_rows(self, f, protocol_version, user_type_map, result_metadata, column_encryption_policy=None):
        self.recv_results_metadata(f, user_type_map)
        columns = self.column_metadata or result_metadata
        self.column_names, self.column_types = [c[2] for c in columns], [c[3] for c in columns]
        self.parsed_rows = [self.recv_row(f, len(columns)) for _ in range(read_int(f))]


class Handler(_ProtocolHandler):
    message_types_by_opcode = {**_ProtocolHandler.message_types_by_opcode, ResultMessage.opcode: Raw}


cluster = Cluster([sys.argv[1]], port=int(sys.argv[2]))
plain = cluster.connect()
plain.execute("CREATE KEYSPACE IF NOT EXISTS value_vectors WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
plain.set_keyspace("value_vectors")
raw = cluster.connect("value_vectors")
raw.client_protocol_handler = Handler
raw.default_fetch_size = None


def cql(t):
    name, args = parts(t)
    if name == "udt":
        udt = "u%d" % (abs(hash(t)) % 10**9)
        plain.execute("CREATE TYPE IF NOT EXISTS %s (%s)" % (udt, ", ".join(a.split(":", 1)[0] + " " + cql(a.split(":", 1)[1]) for a in args)))
        return udt
    return "%s<%s>" % (name, ", ".join(a if name == "vector" and i == 1 else cql(a) for i, a in enumerate(args))) if args else name


with open("order.tsv", "w") as out:
    for i, t in enumerate(ORDERED):
        plain.execute("DROP TABLE IF EXISTS o%d" % i)
        plain.execute("CREATE TABLE o%d (p int, c %s, PRIMARY KEY (p, c))" % (i, cql(t)))
        insert = plain.prepare("INSERT INTO o%d (p, c) VALUES (0, ?)" % i)
        inserted = [value(t) for _ in range(300)]
        for v in inserted:
            b = BoundStatement(insert)
            b.values = [v]
            plain.execute(b)
        rows = [r[0] for r in raw.execute("SELECT c FROM o%d WHERE p = 0" % i)]
        out.write("%s\t%s\t%s\n" % (cls(t), ",".join(v.hex() for v in inserted), ",".join(v.hex() for v in rows)))
        plain.execute("DROP TABLE o%d" % i)
        print(t, len(inserted), len(rows))
