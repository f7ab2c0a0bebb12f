"""The shard of a row, written from the format in ../doc.go and nothing else.

Prints vectors.json; with the argument "spreads" it prints spreads.json, in which keys have
numbers of shards of their own. The implementation in Go is checked against both.
"""
import datetime, json, random, sys

M = 2**64 - 1


def rotl(x, n):
    return (x << n | x >> (64 - n)) & M


def finish(k):
    k ^= k >> 33
    k = k * 0xFF51AFD7ED558CCD & M
    k ^= k >> 33
    k = k * 0xC4CEB9FE1A85EC53 & M
    return k ^ k >> 33


def token(data):
    """Cassandra's Murmur3 token as an unsigned integer."""
    if not data:
        return 1 << 63
    c1, c2, h1, h2 = 0x87C37B91114253D5, 0x4CF5AD432745937F, 0, 0
    whole = len(data) // 16 * 16
    for i in range(0, whole, 16):
        k1 = int.from_bytes(data[i:i + 8], "little")
        k2 = int.from_bytes(data[i + 8:i + 16], "little")
        h1 ^= rotl(k1 * c1 & M, 31) * c2 & M
        h1 = ((rotl(h1, 27) + h2) * 5 + 0x52DCE729) & M
        h2 ^= rotl(k2 * c2 & M, 33) * c1 & M
        h2 = ((rotl(h2, 31) + h1) * 5 + 0x38495AB5) & M
    k1 = k2 = 0
    for i, b in enumerate(data[whole:]):
        signed = b - 256 if b >= 128 else b
        if i < 8:
            k1 ^= signed << 8 * i & M
        else:
            k2 ^= signed << 8 * (i - 8) & M
    h2 ^= rotl(k2 * c2 & M, 33) * c1 & M
    h1 ^= rotl(k1 * c1 & M, 31) * c2 & M
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & M
    h2 = (h2 + h1) & M
    h1, h2 = finish(h1), finish(h2)
    h1 = (h1 + h2) & M
    return (1 << 63) - 1 if h1 == 1 << 63 else h1


def jump(key, n):
    b, j = -1, 0
    while j < n:
        b = j
        key = (key * 2862933555777941757 + 1) & M
        j = int(float(b + 1) * (float(1 << 31) / float((key >> 33) + 1)))
    return b


def murmur3(values, n):
    data = values[0] if len(values) == 1 else b"".join(len(v).to_bytes(2, "big") + v + b"\0" for v in values)
    return jump(token(data), n) + 1


def code_points(values, n):
    product = 1
    for v in values:
        for c in v.decode():
            product *= ord(c)
    return product % n + 1


def composite(values):
    return values[0] if len(values) == 1 else b"".join(len(v).to_bytes(2, "big") + v + b"\0" for v in values)


def instant(kind, value):
    """Milliseconds since 1970 that a partition-key column tells."""
    if kind == "date":
        return (int.from_bytes(value, "big") - 2**31) * 86_400_000
    if kind == "timestamp":
        return int.from_bytes(value, "big", signed=True)
    low, middle, high = (int.from_bytes(value[a:b], "big") for a, b in ((0, 4), (4, 6), (6, 8)))
    return (((high & 0xFFF) << 48 | middle << 32 | low) - 0x01B21DD213814000) // 10_000


def milliseconds(text):
    t = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(t.replace(tzinfo=t.tzinfo or datetime.timezone.utc).timestamp() * 1000)


def places(text):
    n, _, base = text.partition("@")
    return int(n), int(base or 0)


def spread_of(layout, key, kinds):
    """The key's places, and the epochs of its rows: own entry, epoch of keys, default."""
    own = layout.get("keys", {}).get(composite(key).hex())
    if own:
        first, *rows = own.split(", ")
        return places(first), rows
    for epoch in reversed(layout["options"].get("epochs", "").split(", ")):
        if epoch:
            r, _, start = epoch.partition(" from ")
            for kind, value in zip(kinds, key):
                if kind != "text" and instant(kind, value) >= milliseconds(start):
                    return places(r), []
    o = layout["options"]
    return (int(o["shards"]), int(o.get("base", 0))), [r for r in o.get("row_epochs", "").split(", ") if r]


def shard_of(layout, key, kinds, first, by):
    """first is the row's first clustering column, a bigint or a timestamp here."""
    (n, base), rows = spread_of(layout, key, kinds)
    for row in rows:  # in order, so that the last one that applies counts
        r, _, start = row.partition(" from 0x")
        if int.from_bytes(first, "big", signed=True) >= int.from_bytes(bytes.fromhex(start), "big", signed=True):
            n, base = places(r)
    return base + murmur3(by, n)


def spreads():
    random.seed(12)
    day = lambda text: ((milliseconds(text) // 86_400_000) + 2**31).to_bytes(4, "big")
    stamp = lambda ms: ms.to_bytes(8, "big", signed=True)
    def uuid(ms):
        t = ms * 10_000 + 0x01B21DD213814000
        return (t & 0xFFFFFFFF).to_bytes(4, "big") + (t >> 32 & 0xFFFF).to_bytes(2, "big") + (1 << 12 | t >> 48).to_bytes(2, "big") + random.randbytes(8)
    hot = [b"hot", day("2020-07-09")]
    mark = milliseconds("2026-03-01T12:00:00Z")
    layouts = [
        {"options": {"shards": "8", "base": "16"}},
        {"options": {"shards": "1", "epochs": "64 from 2020-07-10, 128@64 from 2021-01-01T12:00:00Z"},
         "keys": {composite(hot).hex(): "16@200", composite([b"hot", day("2021-02-01")]).hex(): "2, 32@2 from 0x" + stamp(mark).hex()}},
        {"options": {"shards": "4", "row_epochs": "16 from 0x" + stamp(-5).hex() + ", 12@16 from 0x" + stamp(mark).hex()}},
    ]
    out = []
    for layout in layouts:
        times = ["2020-07-09", "2020-07-10", "2020-12-31", "2021-01-01", "2021-01-02", "2021-02-01", "1960-01-01"]
        keys = [(["text", "date"], [random.choice([b"hot", b"cold"]), day(t)]) for t in times + times]
        keys += [(["text", "date"], hot), (["text", "date"], [b"hot", day("2021-02-01")])]
        edge = milliseconds("2021-01-01T12:00:00Z")
        keys += [(["timestamp"], [stamp(milliseconds(t))]) for t in times] + [(["timestamp"], [stamp(edge + d)]) for d in (-1, 0, 1)]
        keys += [(["timeuuid"], [uuid(milliseconds(t))]) for t in times] + [(["timeuuid"], [uuid(edge + d)]) for d in (-1, 0, 1)]
        for kinds, key in keys:
            if "epochs" not in layout["options"] and kinds != ["text", "date"]:
                continue
            for ms in (-6, -5, 0, mark - 1, mark, mark + 1):
                by = [stamp(ms)] + ([random.randbytes(5)] if random.random() < 0.5 else [])
                out.append({**layout, "kinds": kinds, "key": [k.hex() for k in key], "by": [b.hex() for b in by], "shard": shard_of(layout, key, kinds, stamp(ms), by)})
    return out


def rows():
    random.seed(11)
    texts = ["", "a", "The quick brown fox", "Größe & Gewicht", "日本語のタイトル", "😀😀", "2020-07-09", "\0", "z" * 300]
    numbers = [(n & 0xFFFFFFFF).to_bytes(4, "big") for n in (0, 1, -1, 123456789)]
    vectors = []
    for n in (1, 2, 3, 16, 199, 200, 400, 10000):
        for values in [[t.encode()] for t in texts] + [[t.encode(), random.choice(numbers)] for t in texts] + [[x] for x in numbers] + [[random.randbytes(random.randrange(40)) for _ in range(3)]]:
            vectors.append({"hash": "murmur3", "shards": n, "by": [v.hex() for v in values], "shard": murmur3(values, n)})
        for values in [[t] for t in texts] + [[random.choice(texts), random.choice(texts)]]:
            values = [v.encode() for v in values]
            vectors.append({"hash": "code_points", "shards": n, "by": [v.hex() for v in values], "shard": code_points(values, n)})
    return vectors


vectors = spreads() if sys.argv[1:] == ["spreads"] else rows()
print("[\n" + ",\n".join(json.dumps(v) for v in vectors) + "\n]")
