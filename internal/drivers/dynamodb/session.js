'use strict';
// A session of the AWS SDK for JavaScript v3 and its DocumentClient, as
// applications are written for DynamoDB: session.js URL [TAG VALUE]…
// It prints what all sessions of this folder print: expected.txt.

const { DynamoDBClient, CreateTableCommand, DeleteTableCommand, waitUntilTableExists, waitUntilTableNotExists } = require('@aws-sdk/client-dynamodb');
const {
  DynamoDBDocumentClient, BatchGetCommand, BatchWriteCommand, DeleteCommand, GetCommand, PutCommand, QueryCommand, ScanCommand, TransactGetCommand,
  TransactWriteCommand, UpdateCommand, paginateQuery, paginateScan,
} = require('@aws-sdk/lib-dynamodb');

const [url, ...tagged] = process.argv.slice(2);
const tags = [];
for (let i = 0; i < tagged.length; i += 2) tags.push({ Key: tagged[i], Value: tagged[i + 1] });

const client = new DynamoDBClient({ endpoint: url, region: 'us-east-1', maxAttempts: 1, credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret' } });
const documents = DynamoDBDocumentClient.from(client);
const say = (...what) => console.log(what.join(' '));
const table = { TableName: 'Invoices' };
const wait = { client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 };
const id = (i) => `Client${i % 12}#${String(i).padStart(4, '0')}`;
const key = (i) => ({ InvoiceNumber: '121212', ClientTransactionid: id(i) });
const item = (i) => ({
  ...key(i), country: ['USA', 'USA', 'USA', 'France', 'Chile'][i % 5], amount: i / 4, paid: i % 2 === 0, tags: new Set(['a', 'b']), lines: [{ sku: 'x', n: i }],
});
const inOrder = (list) => list.every((v, i) => i === 0 || list[i - 1] <= v);

async function main() {
  await client.send(new CreateTableCommand({
    ...table, BillingMode: 'PAY_PER_REQUEST', Tags: tags,
    AttributeDefinitions: [['InvoiceNumber', 'S'], ['ClientTransactionid', 'S'], ['country', 'S'], ['amount', 'N']].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: [{ AttributeName: 'InvoiceNumber', KeyType: 'HASH' }, { AttributeName: 'ClientTransactionid', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [{
      IndexName: 'by-country', Projection: { ProjectionType: 'ALL' },
      KeySchema: [{ AttributeName: 'country', KeyType: 'HASH' }, { AttributeName: 'amount', KeyType: 'RANGE' }],
    }],
  }));
  const exists = await waitUntilTableExists(wait, table);
  say('created', exists.reason.Table.TableStatus);

  for (const i of [0, 5]) await documents.send(new PutCommand({ ...table, Item: item(i) }));
  for (let from = 0; from < 60; from += 20) {
    const requests = Array.from({ length: 20 }, (_, k) => ({ PutRequest: { Item: item(from + k) } }));
    const { UnprocessedItems } = await documents.send(new BatchWriteCommand({ RequestItems: { Invoices: requests } }));
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('unprocessed items');
  }
  const { Item } = await documents.send(new GetCommand({ ...table, Key: key(5) }));
  say('got', Item.country, Item.amount, Item.paid, [...Item.tags].sort(), Item.lines[0].sku, Item.lines[0].n);

  const invoice = { ...table, KeyConditionExpression: 'InvoiceNumber = :i', ExpressionAttributeValues: { ':i': '121212' } };
  const ids = [];
  for await (const page of paginateQuery({ client: documents, pageSize: 7 }, { ...invoice })) ids.push(...page.Items.map((it) => it.ClientTransactionid));
  say('invoice', ids.length, inOrder(ids) ? 'in order' : 'not in order', ids[0], ids.at(-1));
  const last = await documents.send(new QueryCommand({ ...invoice, ScanIndexForward: false, Limit: 3 }));
  say('last', ...last.Items.map((it) => it.ClientTransactionid));
  const one = await documents.send(new QueryCommand({
    ...table, KeyConditionExpression: 'InvoiceNumber = :i AND begins_with(ClientTransactionid, :c)', ExpressionAttributeValues: { ':i': '121212', ':c': 'Client1#' },
  }));
  say('client 1', ...one.Items.map((it) => it.ClientTransactionid));

  const update = {
    ...table, Key: key(3), UpdateExpression: 'SET amount = amount + :one, #s = :s', ConditionExpression: 'country = :c',
    ExpressionAttributeNames: { '#s': 'status' }, ReturnValues: 'UPDATED_NEW',
  };
  const updated = await documents.send(new UpdateCommand({ ...update, ExpressionAttributeValues: { ':one': 1, ':s': 'open', ':c': 'France' } }));
  say('updated', updated.Attributes.amount, updated.Attributes.status);
  await documents.send(new UpdateCommand({ ...update, ExpressionAttributeValues: { ':one': 1, ':s': 'open', ':c': 'Chile' } })).catch((e) => say('refused', e.name));

  const amounts = [];
  const chile = { ...table, IndexName: 'by-country', KeyConditionExpression: 'country = :c', ExpressionAttributeValues: { ':c': 'Chile' } };
  for await (const page of paginateQuery({ client: documents, pageSize: 5 }, chile)) amounts.push(...page.Items.map((it) => it.amount));
  say('by country', amounts.length, inOrder(amounts) ? 'in order' : 'not in order', amounts[0], amounts.at(-1));

  const t = (n) => ({ InvoiceNumber: '131313', ClientTransactionid: n });
  await documents.send(new TransactWriteCommand({ TransactItems: ['t1', 't2'].map((n) => ({ Put: { ...table, Item: t(n) } })) }));
  const both = await documents.send(new TransactGetCommand({ TransactItems: ['t1', 't2'].map((n) => ({ Get: { ...table, Key: t(n) } })) }));
  say('transaction', ...both.Responses.map((r) => r.Item.ClientTransactionid));
  await documents.send(new TransactWriteCommand({
    TransactItems: [{ Put: { ...table, Item: t('t3') } }, { Put: { ...table, Item: t('t1'), ConditionExpression: 'attribute_not_exists(InvoiceNumber)' } }],
  })).catch((e) => say('cancelled', e.CancellationReasons[1].Code));

  const several = await documents.send(new BatchGetCommand({ RequestItems: { Invoices: { Keys: [0, 1, 2].map(key) } } }));
  say('several', ...several.Responses.Invoices.map((it) => it.ClientTransactionid).sort());
  const deleted = await documents.send(new DeleteCommand({ ...table, Key: key(4), ReturnValues: 'ALL_OLD' }));
  say('deleted', deleted.Attributes.country);
  say('left', (await documents.send(new QueryCommand({ ...invoice, Select: 'COUNT' }))).Count);
  let scanned = 0;
  for await (const page of paginateScan({ client: documents, pageSize: 9 }, table)) scanned += page.Count;
  say('scanned', scanned);
  await documents.send(new ScanCommand({ TableName: 'Nothing' })).catch((e) => say('no table', e.name));
  await client.send(new DeleteTableCommand(table));
  await waitUntilTableNotExists(wait, table);
  say('gone');
  say('END');
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
