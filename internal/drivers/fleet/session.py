"""A load on one hot key through several doors: session.py HOST PORT TABLE.

It knows one contact point. It reads and writes rows of one partition, idempotent statements
all, until QUIT; at STATS it prints one line: the doors that answered since the line before, how
often each, and what failed.
"""
import json
import sys
import threading

from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import ConstantReconnectionPolicy, ConstantSpeculativeExecutionPolicy

host, port, table = sys.argv[1], int(sys.argv[2]), sys.argv[3]
profile = ExecutionProfile(speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.5, 4),
                           consistency_level=ConsistencyLevel.ONE, request_timeout=20)
cluster = Cluster([host], port=port, execution_profiles={EXEC_PROFILE_DEFAULT: profile},
                  reconnection_policy=ConstantReconnectionPolicy(0.5), topology_event_refresh_window=0,
                  status_event_refresh_window=0, connect_timeout=20, control_connection_timeout=20, max_schema_agreement_wait=60)
session = cluster.connect()
read = session.prepare(f"SELECT v FROM {table} WHERE k = ? AND c = ?")
write = session.prepare(f"INSERT INTO {table} (k, c, v) VALUES (?, ?, ?)")
read.is_idempotent = write.is_idempotent = True

lock = threading.Lock()
by, errors, done = {}, [], threading.Event()


def load(worker):
    n = 0
    while not done.is_set():
        n += 1
        try:
            if n % 2:
                f = session.execute_async(write, (1, worker, n))
            else:
                f = session.execute_async(read, (1, worker))
            f.result()
            at = f.coordinator_host.endpoint
            with lock:
                by[f"{at.address}:{at.port}"] = by.get(f"{at.address}:{at.port}", 0) + 1
        except Exception as e:  # every kind is counted
            with lock:
                errors.append(f"{type(e).__name__}: {e}")
        done.wait(0.005)


threads = [threading.Thread(target=load, args=(w,)) for w in range(4)]
for t in threads:
    t.start()
for line in sys.stdin:
    what = line.strip()
    if what == "QUIT":
        break
    if what.startswith("DDL"):
        try:
            session.execute(what[4:])
            said = ""
        except Exception as e:
            said = f"{type(e).__name__}: {e}"
        print(json.dumps({"by": {}, "errors": [said] if said else []}), flush=True)
        continue
    with lock:
        print(json.dumps({"by": by, "errors": errors}), flush=True)
        by, errors = {}, []
done.set()
for t in threads:
    t.join()
cluster.shutdown()
