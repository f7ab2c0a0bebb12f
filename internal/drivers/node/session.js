// A session of the Node driver: session.js HOST PORT KEYSPACE PROPERTIES.
// See ../python/session.py: the same steps, the same RESTART.
'use strict';
const cassandra = require('cassandra-driver');
const readline = require('readline');

const [host, port, keyspace, properties] = process.argv.slice(2);
const say = (...what) => console.log(...what.map((w) => (typeof w === 'string' ? w : JSON.stringify(w))));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const line = () => new Promise((resolve) => readline.createInterface({ input: process.stdin }).once('line', resolve).once('close', resolve));

async function main() {
  const options = {
    contactPoints: [`${host}:${port}`],
    localDataCenter: 'datacenter1',
    policies: { reconnection: new cassandra.policies.reconnection.ConstantReconnectionPolicy(500) },
    pooling: { warmup: true },
    // Whose machine is busy does not give up.
    socketOptions: { connectTimeout: 60000, readTimeout: 60000 },
    protocolOptions: { maxSchemaAgreementWaitSeconds: 60 },
  };
  const client = new cassandra.Client(options);
  await client.connect();
  say('hosts', client.hosts.length);
  const run = (query, params, o) => client.execute(query, params, { prepare: params !== undefined, ...o });

  await run(`CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`);
  await run(`USE ${keyspace}`);
  await run(`CREATE TABLE ${keyspace}.t (day date, title text, n int, tags set<text>, PRIMARY KEY (day, title))` +
    (properties ? ' WITH ' + properties : ''));

  const meta = await client.metadata.getTable(keyspace, 't');
  say('partition key', meta.partitionKeys.map((c) => c.name), 'clustering', meta.clusteringKeys.map((c) => c.name));
  say('columns', meta.columns.map((c) => c.name).sort());

  const t = `${keyspace}.t`;
  const insert = `INSERT INTO ${t} (day, title, n, tags) VALUES (?, ?, ?, ?)`;
  const titles = Array.from({ length: 105 }, (_, i) => 'title ' + String(i).padStart(3, '0'));
  await cassandra.concurrent.executeConcurrent(client, insert, titles.map((title, i) => ['2020-07-09', title, i, ['a', String(i % 3)]]), { prepare: true });
  const select = `SELECT title, n, tags FROM ${t} WHERE day = ? AND title = ?`;
  say('one', (await run(select, ['2020-07-09', 'title 042'])).first());
  say('none', (await run(select, ['2020-07-09', 'nothing'])).first() === null);

  const whole = `SELECT title, n FROM ${t} WHERE day = ?`;
  let rows = [];
  for await (const row of await run(whole, ['2020-07-09'], { fetchSize: 10 })) rows.push(row.title);
  say('rows', rows.length, 'in order', JSON.stringify(rows) === JSON.stringify(titles));
  const down = `SELECT title FROM ${t} WHERE day = ? ORDER BY title DESC`;
  const first = await run(down, ['2020-07-09'], { fetchSize: 7 });
  const second = await run(down, ['2020-07-09'], { fetchSize: 7, pageState: first.pageState });
  say('pages', first.rows.length, first.rows[0].title, second.rows[0].title);

  await client.batch([
    { query: insert, params: ['2020-07-10', 'batched 0', 0, null] },
    { query: insert, params: ['2020-07-10', 'batched 1', 1, null] },
    { query: `DELETE FROM ${t} WHERE day = ? AND title = ?`, params: ['2020-07-10', 'nothing'] },
  ], { prepare: true, logged: true });
  say('batched', (await run(whole, ['2020-07-10'])).rows);

  const once = `INSERT INTO ${t} (day, title) VALUES (?, ?) IF NOT EXISTS`;
  say('new', (await run(once, ['2020-07-11', 'x'])).wasApplied(), 'old', (await run(once, ['2020-07-11', 'x'])).wasApplied());

  for (const bad of ['SELEC', `SELECT nothing FROM ${t}`, `SELECT * FROM ${keyspace}.nothing`]) {
    try {
      await run(bad);
      say('no error for', bad);
    } catch (e) {
      say('error', e.code);
    }
  }

  say('RESTART');
  await line();
  const deadline = Date.now() + 180000;
  for (;;) {
    try {
      say('after restart', (await run(select, ['2020-07-09', 'title 042'])).first());
      break;
    } catch (e) {
      if (Date.now() > deadline) throw e;
      await sleep(300);
    }
  }
  rows = [];
  for await (const row of await run(whole, ['2020-07-09'], { fetchSize: 10 })) rows.push(row.title);
  say('after restart', rows.length);
  await run(`DROP KEYSPACE ${keyspace}`);
  await client.shutdown();
  say('END');
}

main().then(() => process.exit(0), (e) => {
  console.error(e);
  process.exit(1);
});
