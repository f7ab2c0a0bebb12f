"""Asks Cassandra's own classes (Oracle.java) and writes the vectors here.

    python3 vectors.py COMMAND

COMMAND runs Oracle. Each line of a .tsv is what was asked and the answer.
"""
import random, re, struct, subprocess, sys, uuid

random.seed(2026)
P = "org.apache.cassandra.db.marshal."
NATIVE = dict(ascii="AsciiType", bigint="LongType", blob="BytesType", boolean="BooleanType", decimal="DecimalType", double="DoubleType",
              float="FloatType", int="Int32Type", timestamp="TimestampType", uuid="UUIDType", text="UTF8Type", varint="IntegerType",
              timeuuid="TimeUUIDType", inet="InetAddressType", date="SimpleDateType", time="TimeType", smallint="ShortType",
              tinyint="ByteType", duration="DurationType", empty="EmptyType", counter="CounterColumnType")


def split(s):
    out, depth, cur = [], 0, ""
    for c in s:
        if c == "," and depth == 0:
            out.append(cur.strip())
            cur = ""
            continue
        depth += (c == "<") - (c == ">")
        cur += c
    return out + [cur.strip()]


def parts(t):
    m = re.match(r"^(\w+)<(.*)>$", t)
    return (m.group(1), split(m.group(2))) if m else (t, [])


def cls(t):
    name, args = parts(t)
    if not args:
        return NATIVE[name]
    if name == "vector":
        return "VectorType(%s , %s)" % (cls(args[0]), args[1])
    if name == "udt":
        return "UserType(ks,6e616d65,%s)" % ",".join("%s:%s" % (f.split(":", 1)[0].encode().hex(), cls(f.split(":", 1)[1])) for f in args)
    return {"list": "ListType", "set": "SetType", "map": "MapType", "tuple": "TupleType", "frozen": "FrozenType"}[name] + "(%s)" % ",".join(map(cls, args))


def i32(n):
    return (n & 0xFFFFFFFF).to_bytes(4, "big")


def i64(n):
    return (n & (2**64 - 1)).to_bytes(8, "big")


def varint(n):
    size = 1
    while not -(1 << 8 * size - 1) <= n < 1 << 8 * size - 1:
        size += 1
    return n.to_bytes(size, "big", signed=True)


def vint(n):
    size = 1
    while size < 9 and n >= 1 << 7 * size:
        size += 1
    b = bytearray(n.to_bytes(size, "big"))
    b[0] |= 0xFF << (9 - size) & 0xFF if size > 1 else 0
    return bytes(b)


def signed(bits):
    return random.choice([0, 1, -1, 2**(bits - 1) - 1, -2**(bits - 1), random.randrange(-300, 300), random.randrange(-2**(bits - 1), 2**(bits - 1))])


def prefixed(b):
    return i32(-1) if b is None else i32(len(b)) + b


FIXED = {"boolean": 1, "int": 4, "float": 4, "bigint": 8, "double": 8, "timestamp": 8, "uuid": 16, "timeuuid": 16}


def value(t, nested=False):
    """A random valid value."""
    name, args = parts(t)
    if not nested and random.random() < 0.02 and name in FIXED | dict(text=0, ascii=0, blob=0, varint=0, decimal=0, inet=0):
        return b""
    if name == "ascii":
        return bytes(random.choice([random.randrange(128), 65, 97]) for _ in range(random.randrange(6)))
    if name == "text":
        return "".join(random.choice("aAbzZ09~é中日😀\u0000\uffff߿ࠀ") for _ in range(random.randrange(5))).encode()
    if name == "blob":
        return bytes(random.choice([0, 127, 128, 255, random.randrange(256)]) for _ in range(random.randrange(6)))
    if name == "boolean":
        return bytes([random.choice([0, 1, 1, 2, 255])])
    if name in ("bigint", "timestamp", "counter"):
        return i64(signed(64))
    if name == "time":
        return i64(random.choice([0, random.randrange(86400 * 10**9), 86400 * 10**9 - 1]))
    if name in ("int", "date"):
        return i32(signed(32))
    if name == "smallint":
        return i32(signed(16))[2:]
    if name == "tinyint":
        return i32(signed(8))[3:]
    if name in ("double", "float"):
        f = random.choice([0.0, -0.0, 1.0, -1.0, 1.5, float("inf"), float("-inf"), float("nan"), random.uniform(-10, 10), random.uniform(-1e30, 1e30), 1e-40])
        if random.random() < 0.1:
            return bytes.fromhex(random.choice(["7ff8000000000001", "fff8000000000000", "7ff0000000000001", "ffffffffffffffff"] if name == "double" else ["7fc00001", "ffc00000", "7f800001", "ffffffff"]))
        return struct.pack(">d" if name == "double" else ">f", f)
    if name == "varint":
        n = random.choice([0, 1, -1, 127, 128, -128, -129, 255, 256, 2**63, -2**63, 2**64, random.randrange(-1000, 1000), random.randrange(-2**90, 2**90)])
        b = varint(n)
        if random.random() < 0.2:
            b = (b"\xff" if n < 0 else b"\0") * random.randrange(1, 3) + b
        return b
    if name == "decimal":
        n = random.choice([0, 1, -1, 10, 100, -1000, 15, 150, 1500, 12345678901234567890123, 12345678901234567890123000, random.randrange(-100, 100), random.randrange(-2**70, 2**70)])
        scale = random.choice([0, 1, 2, 3, -1, -2, 5, 20, -20, random.randrange(-30, 30)])
        b = varint(n)
        if random.random() < 0.1:
            b = (b"\xff" if n < 0 else b"\0") + b
        return i32(scale) + b
    if name == "inet":
        return bytes(random.choice([0, 1, 127, 255, random.randrange(256)]) for _ in range(random.choice([4, 16])))
    if name in ("uuid", "timeuuid"):
        b = bytearray(random.choice([0, 127, 128, 255, random.randrange(256)]) for _ in range(16))
        version = 1 if name == "timeuuid" else random.choice([1, 1, 1, 4, 4, 0, 7, 15])
        b[6] = b[6] & 15 | version << 4
        return bytes(b)
    if name == "duration":
        sign = random.choice([1, -1])
        return b"".join(vint((n << 1 if n >= 0 else (-n << 1) - 1)) for n in (sign * random.choice([0, 1, 12, 14, 200, 2**31 - 1]), sign * random.choice([0, 3, 7, 100]), sign * random.choice([0, 1, 1000, 3723004005006, 2**62])))
    if name == "empty":
        return b""
    if name == "frozen":
        return value(args[0], nested)
    if name in ("list", "set"):
        xs = [value(args[0], True) for _ in range(random.choice([0, 1, 1, 2, 2, 3]))]
        return i32(len(xs)) + b"".join(map(prefixed, xs))
    if name == "map":
        n = random.choice([0, 1, 1, 2])
        return i32(n) + b"".join(prefixed(value(a, True)) for _ in range(n) for a in args)
    if name in ("tuple", "udt"):
        types = [a.split(":", 1)[1] for a in args] if name == "udt" else args
        n = random.choice([len(types)] * 4 + list(range(len(types) + 1)))
        return b"".join(prefixed(None if random.random() < 0.2 else value(a, True)) for a in types[:n])
    if name == "vector":
        xs = [value(args[0], True) for _ in range(int(args[1]))]
        fixed = parts(args[0])[0] in FIXED
        return b"".join(x if fixed else vint(len(x)) + x for x in xs)
    raise Exception(t)


def broken(t):
    """A random value, likely malformed."""
    b = bytearray(value(t))
    for _ in range(random.randrange(3)):
        k = random.randrange(4)
        if k == 0 and b:
            del b[random.randrange(len(b)):]
        elif k == 1:
            b += bytes(random.choice([0, 255, 1]) for _ in range(random.randrange(1, 6)))
        elif k == 2 and b:
            b[random.randrange(len(b))] = random.choice([0, 1, 127, 128, 255, random.randrange(256)])
        elif b:
            del b[random.randrange(len(b))]
    return bytes(b)


SCALARS = [t for t in NATIVE if t not in ("empty", "counter")]
ORDERED = [t for t in SCALARS if t != "duration"] + [
    "frozen<list<int>>", "frozen<list<decimal>>", "frozen<set<text>>", "frozen<map<int,boolean>>", "frozen<map<text,double>>",
    "tuple<int,text>", "tuple<decimal,boolean,float>", "tuple<tuple<int,varint>,blob>", "frozen<udt<a:int,b:text>>",
    "frozen<udt<a:frozen<list<varint>>,b:timeuuid,c:double>>", "vector<float,2>", "vector<text,2>", "vector<varint,3>", "vector<smallint,2>",
    "vector<tuple<int,int>,2>", "frozen<list<frozen<list<boolean>>>>"]
ALL = ORDERED + ["duration", "empty"]
asked = {}


def ask(file, op, t, *args):
    asked.setdefault(file, []).append((op, cls(t)) + args)


def escape(s):
    return s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


for t in ALL:
    for _ in range(60):
        ask("validate", "validate", t, broken(t).hex())
for line in open("validate.txt"):
    t, v = line.rstrip("\n").split("|")
    ask("validate", "validate", t, v)
for first in range(0x7f, 256):
    for second in (0x00, 0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF):
        for rest in ("", "80", "8080"):
            if random.random() < 0.5:
                ask("validate", "validate", "text", "%02x%02x%s" % (first, second, rest))
for t in ORDERED:
    pool = [value(t) for _ in range(60)]
    for _ in range(120):
        a, b = random.choice(pool), random.choice(pool)
        ask("compare", "compare", t, a.hex(), b.hex())
for t in SCALARS:
    for _ in range(40):
        ask("json", "json", t, value(t, True).hex())
        ask("format", "format", t, value(t, True).hex())
for t in ALL:
    if t not in SCALARS:
        for _ in range(15):
            v = value(t)
            if "tuple" not in t:
                ask("json", "json", t, v.hex())
            if "udt" not in t and "tuple" not in t and "boolean" not in t and "vector" not in t:
                ask("format", "format", t, v.hex())
for size, name in ((64, "double"), (32, "float")):
    pack = {64: (">d", ">Q"), 32: (">f", ">I")}[size]
    for _ in range(400):
        ask("float", "json", name, struct.pack(pack[1], random.getrandbits(size)).hex())
        ask("float", "json", name, struct.pack(pack[0], random.uniform(0, 1) * 10 ** random.randrange(-8, 24)).hex())
    for e in range(-149, 128):
        ask("float", "json", name, struct.pack(pack[0], 2.0**e).hex())
        ask("float", "json", name, struct.pack(pack[1], abs(e)).hex())
for line in open("string.txt"):
    t, v = line.rstrip("\n").split("|", 1)
    ask("string", "string", t, v)
for line in open("fromjson.txt"):
    t, v = line.rstrip("\n").split("|", 1)
    ask("fromjson", "fromjson", t, v)
for line in open("class.txt"):
    ask("class", "class", line.strip())
for t in ALL + ["counter", "list<int>", "set<int>"]:
    ask("props", "props", t)

for file, questions in asked.items():
    text = "".join("\t".join(escape(f) for f in q) + "\n" for q in questions)
    out = subprocess.run(sys.argv[1:], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
    with open(file + ".tsv", "w") as f:
        for q, a in zip(questions, out):
            f.write("\t".join(escape(x) for x in q[1:]) + "\t=\t" + a + "\n")
    print(file, len(questions))
