'use strict';
// A session of ElectroDB, as applications are written with it:
// electrodb.js URL [TAG VALUE]… ElectroDB makes no tables; that is done as its
// documentation does it, with the SDK.

const { DynamoDBClient, CreateTableCommand, DeleteTableCommand, waitUntilTableExists, waitUntilTableNotExists } = require('@aws-sdk/client-dynamodb');
const { Entity, Service } = require('electrodb');

const [url, ...tagged] = process.argv.slice(2);
const tags = [];
for (let i = 0; i < tagged.length; i += 2) tags.push({ Key: tagged[i], Value: tagged[i + 1] });

const client = new DynamoDBClient({ endpoint: url, region: 'us-east-1', maxAttempts: 1, credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret' } });
const say = (...what) => console.log(what.join(' '));
const wait = { client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 };
const inOrder = (list) => list.every((v, i) => i === 0 || list[i - 1] <= v);

const model = {
  model: { entity: 'transaction', version: '1', service: 'billing' },
  attributes: {
    InvoiceNumber: { type: 'string', required: true },
    ClientTransactionid: { type: 'string', required: true },
    country: { type: 'string' },
    amount: { type: 'number' },
    paid: { type: 'boolean' },
    status: { type: 'string' },
    tags: { type: 'set', items: 'string' },
    lines: { type: 'list', items: { type: 'map', properties: { sku: { type: 'string' }, n: { type: 'number' } } } },
  },
  indexes: {
    invoice: {
      pk: { field: 'InvoiceNumber', composite: ['InvoiceNumber'], casing: 'none' },
      sk: { field: 'ClientTransactionid', composite: ['ClientTransactionid'], casing: 'none' },
    },
    byCountry: {
      index: 'by-country',
      pk: { field: 'country', composite: ['country'], casing: 'none' },
      sk: { field: 'amount', composite: ['amount'], casing: 'none' },
    },
  },
};
const transactions = new Entity(model, { client, table: 'Invoices' });
const billing = new Service({ transactions });
const key = (i) => ({ InvoiceNumber: '121212', ClientTransactionid: `Client${i % 12}#${String(i).padStart(4, '0')}` });
const item = (i) => ({
  ...key(i), country: ['USA', 'USA', 'USA', 'France', 'Chile'][i % 5], amount: i / 4, paid: i % 2 === 0, tags: ['a', 'b'], lines: [{ sku: 'x', n: i }],
});
const reason = (e) => (e.cause || e).name;

async function main() {
  await client.send(new CreateTableCommand({
    TableName: 'Invoices', BillingMode: 'PAY_PER_REQUEST', Tags: tags,
    AttributeDefinitions: [['InvoiceNumber', 'S'], ['ClientTransactionid', 'S'], ['country', 'S'], ['amount', 'N']].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: [{ AttributeName: 'InvoiceNumber', KeyType: 'HASH' }, { AttributeName: 'ClientTransactionid', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [{
      IndexName: 'by-country', Projection: { ProjectionType: 'ALL' },
      KeySchema: [{ AttributeName: 'country', KeyType: 'HASH' }, { AttributeName: 'amount', KeyType: 'RANGE' }],
    }],
  }));
  const exists = await waitUntilTableExists(wait, { TableName: 'Invoices' });
  say('created', exists.reason.Table.TableStatus);

  for (const i of [0, 5]) await transactions.put(item(i)).go();
  const { unprocessed } = await transactions.put(Array.from({ length: 60 }, (_, i) => item(i))).go();
  if (unprocessed.length > 0) throw new Error('unprocessed items');
  const { data: got } = await transactions.get(key(5)).go();
  say('got', got.country, got.amount, got.paid, [...got.tags].sort(), got.lines[0].sku, got.lines[0].n);

  const ids = [];
  let cursor = null;
  do {
    const page = await transactions.query.invoice({ InvoiceNumber: '121212' }).go({ limit: 7, cursor });
    ids.push(...page.data.map((it) => it.ClientTransactionid));
    cursor = page.cursor;
  } while (cursor !== null);
  say('invoice', ids.length, inOrder(ids) ? 'in order' : 'not in order', ids[0], ids.at(-1));
  const last = await transactions.query.invoice({ InvoiceNumber: '121212' }).go({ limit: 3, order: 'desc' });
  say('last', ...last.data.map((it) => it.ClientTransactionid));
  const one = await transactions.query.invoice({ InvoiceNumber: '121212' }).begins({ ClientTransactionid: 'Client1#' }).go({ pages: 'all' });
  say('client 1', ...one.data.map((it) => it.ClientTransactionid));

  const update = (country) => transactions.patch(key(3)).add({ amount: 1 }).set({ status: 'open' }).where((a, o) => o.eq(a.country, country)).go({ response: 'all_new' });
  const updated = await update('France');
  say('updated', updated.data.amount, updated.data.status);
  await update('Chile').catch((e) => say('refused', reason(e)));

  const chile = await transactions.query.byCountry({ country: 'Chile' }).go({ pages: 'all', limit: 5 });
  const amounts = chile.data.map((it) => it.amount);
  say('by country', amounts.length, inOrder(amounts) ? 'in order' : 'not in order', amounts[0], amounts.at(-1));

  const t = (n) => ({ InvoiceNumber: '131313', ClientTransactionid: n });
  await billing.transaction.write(({ transactions: e }) => ['t1', 't2'].map((n) => e.put(t(n)).commit())).go();
  const both = await billing.transaction.get(({ transactions: e }) => ['t1', 't2'].map((n) => e.get(t(n)).commit())).go();
  say('transaction', ...both.data.map((r) => r.item.ClientTransactionid));
  const cancelled = await billing.transaction.write(({ transactions: e }) => [e.put(t('t3')).commit(), e.create(t('t1')).commit()]).go();
  say('cancelled', cancelled.canceled && cancelled.data[1].code);

  const several = await transactions.get([0, 1, 2].map(key)).go();
  say('several', ...several.data.map((it) => it.ClientTransactionid).sort());
  const deleted = await transactions.delete(key(4)).go({ response: 'all_old' });
  say('deleted', deleted.data.country);
  say('left', (await transactions.query.invoice({ InvoiceNumber: '121212' }).go({ pages: 'all' })).data.length);
  say('scanned', (await transactions.scan.go({ pages: 'all', limit: 9 })).data.length);
  await new Entity(model, { client, table: 'Nothing' }).get(key(0)).go().catch((e) => say('no table', reason(e)));
  await client.send(new DeleteTableCommand({ TableName: 'Invoices' }));
  await waitUntilTableNotExists(wait, { TableName: 'Invoices' });
  say('gone');
  say('END');
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
