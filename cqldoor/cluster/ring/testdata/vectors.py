"""Prints vectors.json: replicas that the DataStax Python driver computes for random rings.

With several tokens a node the driver names some nodes twice, where Cassandra does not;
such tokens are left out.

Run it with cassandra-driver installed: python vectors.py > vectors.json
"""
import json
import random

from cassandra.connection import DefaultEndPoint
from cassandra.metadata import Murmur3Token, NetworkTopologyStrategy, SimpleStrategy
from cassandra.policies import SimpleConvictionPolicy
from cassandra.pool import Host

draw = random.Random(7)
rings = []
for _ in range(60):
    nodes = []
    for dc in range(draw.randint(1, 3)):
        racks = draw.randint(1, 4)
        for _ in range(draw.randint(1, 6)):
            nodes.append({
                "datacenter": "dc%d" % dc, "rack": "r%d" % draw.randint(1, racks),
                "tokens": [draw.randint(-2**63 + 1, 2**63 - 1) for _ in range(draw.choice([1, 1, 4, 8]))],
            })
    hosts, owner, tokens = [], {}, []
    for i, n in enumerate(nodes):
        h = Host(DefaultEndPoint("127.0.0.%d" % (i + 1)), SimpleConvictionPolicy)
        h.set_location_info(n["datacenter"], n["rack"])
        hosts.append(h)
        for t in n["tokens"]:
            tokens.append(Murmur3Token(t))
            owner[Murmur3Token(t)] = h
    tokens.sort()
    replications = [{"class": "SimpleStrategy", "replication_factor": str(draw.randint(1, 5))}]
    for _ in range(2):
        replications.append(dict({"dc%d" % dc: str(draw.randint(1, 5)) for dc in range(3) if draw.random() < 0.8} or {"dc0": "1"},
                                 **{"class": "NetworkTopologyStrategy"}))
    cases = []
    for options in replications:
        strategy = (SimpleStrategy if options["class"] == "SimpleStrategy" else NetworkTopologyStrategy)(
            {k: v for k, v in options.items() if k != "class"})
        replicas = strategy.make_token_replica_map(owner, tokens)
        looked = [draw.choice(tokens).value for _ in range(3)] + [draw.randint(-2**63 + 1, 2**63 - 1) for _ in range(4)]
        of = []
        for t in looked:
            end = min((k for k in tokens if k.value >= t), default=tokens[0])
            of.append(sorted(hosts.index(h) for h in replicas[end]))
        kept = [i for i, nodes in enumerate(of) if len(set(nodes)) == len(nodes)]
        cases.append({"replication": options, "tokens": [looked[i] for i in kept], "replicas": [of[i] for i in kept]})
    rings.append({"nodes": nodes, "cases": cases})
print(json.dumps(rings, separators=(",", ":")).replace('{"nodes"', '\n{"nodes"'))
