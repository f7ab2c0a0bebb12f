// The load of session.py, with the Node driver: session.js HOST PORT TABLE.
'use strict';
const cassandra = require('cassandra-driver');
const readline = require('readline');

const [host, port, table] = process.argv.slice(2);
const client = new cassandra.Client({
  contactPoints: [host],
  protocolOptions: { port: Number(port) },
  localDataCenter: 'datacenter1',
  queryOptions: { prepare: true, isIdempotent: true, consistency: cassandra.types.consistencies.one },
  socketOptions: { connectTimeout: 20000, readTimeout: 20000 },
  policies: {
    reconnection: new cassandra.policies.reconnection.ConstantReconnectionPolicy(500),
    speculativeExecution: new cassandra.policies.speculativeExecution.ConstantSpeculativeExecutionPolicy(500, 4),
  },
});
let by = {};
let errors = [];
let done = false;

async function load(worker) {
  for (let n = 1; !done; n++) {
    try {
      const result = n % 2
        ? await client.execute(`INSERT INTO ${table} (k, c, v) VALUES (?, ?, ?)`, [1, worker, n])
        : await client.execute(`SELECT v FROM ${table} WHERE k = ? AND c = ?`, [1, worker]);
      const at = result.info.queriedHost;
      by[at] = (by[at] || 0) + 1;
    } catch (e) {
      errors.push(`${e.name}: ${e.message} ${JSON.stringify(e.innerErrors || {})}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

(async () => {
  await client.connect();
  const workers = [0, 1, 2, 3].map(load);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (line === 'QUIT') break;
    if (line.startsWith('DDL')) {
      const said = await client.execute(line.slice(4), [], { prepare: false, isIdempotent: false }).then(() => [], (e) => [`${e.name}: ${e.message}`]);
      console.log(JSON.stringify({ by: {}, errors: said }));
      continue;
    }
    console.log(JSON.stringify({ by, errors }));
    by = {};
    errors = [];
  }
  done = true;
  await Promise.all(workers);
  process.exit(0);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
