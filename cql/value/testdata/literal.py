"""Inserts constants of every kind into columns of every type of a real Cassandra.

    python3 literal.py HOST PORT

literal.tsv has type, kind of the constant, its text, and what is stored or the error.
"""
import sys

source = open("order.py").read()
exec(source[:source.index('with open("order.tsv"')])

CONSTANTS = [("STRING", x) for x in ("a", "", "é", "2020-07-09", "2020-07-09 12:00+0200", "12:00:01", "127.0.0.1", "1", "true", "1h", "123e4567-e89b-12d3-a456-426614174000", "1:2")]
CONSTANTS += [("INTEGER", x) for x in ("0", "1", "-1", "127", "128", "32768", "2147483648", "9223372036854775808", "4294967296")]
CONSTANTS += [("FLOAT", x) for x in ("1.5", "1e3", "NaN", "Infinity", "-1.0")]
CONSTANTS += [("BOOLEAN", x) for x in ("true", "FALSE")] + [("HEX", x) for x in ("", "ca", "00000001")]
CONSTANTS += [("UUID", x) for x in ("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174000")]
CONSTANTS += [("DURATION", x) for x in ("1h", "P1D", "-1h30m")]
TYPES = SCALARS + ["counter", "list<int>", "set<int>", "map<int,int>", "tuple<int,int>", "frozen<udt<a:int,b:text>>", "udt<a:int,b:text>", "vector<float,2>", "frozen<list<int>>"]

with open("literal.tsv", "w") as out:
    for i, t in enumerate(TYPES):
        plain.execute("DROP TABLE IF EXISTS l%d" % i)
        plain.execute("CREATE TABLE l%d (p int PRIMARY KEY, c %s)" % (i, cql(t)))
        for kind, text in CONSTANTS:
            literal = {"STRING": "'%s'" % text, "HEX": "0x" + text}.get(kind, text)
            try:
                if t == "counter":
                    plain.execute("UPDATE l%d SET c = c + %s WHERE p = 0" % (i, literal))
                    plain.execute("TRUNCATE l%d" % i)
                    answer = "ok"
                else:
                    plain.execute("INSERT INTO l%d (p, c) VALUES (0, %s)" % (i, literal))
                    v = raw.execute("SELECT c FROM l%d" % i).one()[0]
                    answer = "null" if v is None else v.hex()
            except Exception as e:
                m = re.search(r'message="(.*)"', str(e), re.S)
                answer = "!" + re.sub(r"\bu\d+\b", "name", m.group(1) if m else str(e))
            out.write("\t".join((cls(t), kind, text)) + "\t=\t" + answer.replace("\n", "\\n") + "\n")
        plain.execute("DROP TABLE l%d" % i)
