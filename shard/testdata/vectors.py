"""The shard of a row, written from the format in ../doc.go and nothing else.

Prints vectors.json; the implementation in Go is checked against it.
"""
import json, random

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
print("[\n" + ",\n".join(json.dumps(v) for v in vectors) + "\n]")
