"""A session of boto3, as applications are written for DynamoDB: session.py URL TAGS.

TAGS is JSON, the Tags of CreateTable, so that the same session runs on plain and on
sharded tables; what it sees goes to standard output, to be compared.
"""

import json
import sys
import threading
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.config import Config
from botocore.exceptions import ClientError

url, tags = sys.argv[1], json.loads(sys.argv[2])


def say(*what):
    print(*what, flush=True)


session = boto3.Session(aws_access_key_id="AKID", aws_secret_access_key="secret", region_name="us-east-1")
config = Config(retries={"max_attempts": 1})
client = session.client("dynamodb", endpoint_url=url, config=config)
resource = session.resource("dynamodb", endpoint_url=url, config=config)

# Create, and wait.
created = client.create_table(
    TableName="Invoices",
    BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[
        {"AttributeName": "InvoiceNumber", "AttributeType": "S"},
        {"AttributeName": "ClientTransactionid", "AttributeType": "S"},
        {"AttributeName": "country", "AttributeType": "S"},
        {"AttributeName": "amount", "AttributeType": "N"},
    ],
    KeySchema=[{"AttributeName": "InvoiceNumber", "KeyType": "HASH"}, {"AttributeName": "ClientTransactionid", "KeyType": "RANGE"}],
    GlobalSecondaryIndexes=[{
        "IndexName": "by-country",
        "KeySchema": [{"AttributeName": "country", "KeyType": "HASH"}, {"AttributeName": "amount", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    }],
    Tags=tags,
)["TableDescription"]
say("created", created["TableStatus"], created["KeySchema"])
client.get_waiter("table_exists").wait(TableName="Invoices", WaiterConfig={"Delay": 1, "MaxAttempts": 10})
described = client.describe_table(TableName="Invoices")["Table"]
say("described", described["TableStatus"], described["ItemCount"], [d["AttributeName"] for d in described["AttributeDefinitions"]], sorted(described["KeySchema"], key=str))
say("tables", client.list_tables()["TableNames"])

table = resource.Table("Invoices")
countries = ["USA", "USA", "USA", "France", "Chile"]

# Many items of one invoice, by batches (which retry what is unprocessed).
N = 500
with table.batch_writer() as batch:
    for i in range(N):
        batch.put_item(Item={
            "InvoiceNumber": "121212", "ClientTransactionid": "Client%d#%04d" % (i % 12, i), "country": countries[i % 5],
            "amount": Decimal(i) / 4, "tags": {"a", "b"}, "lines": [{"sku": "x", "n": i}], "paid": i % 2 == 0, "raw": b"\x00\xff",
        })

# Single items.
item = table.get_item(Key={"InvoiceNumber": "121212", "ClientTransactionid": "Client3#0003"}, ConsistentRead=True)["Item"]
say("one", sorted(item.items(), key=lambda kv: kv[0])[:2], item["amount"], sorted(item["tags"]), item["lines"], bytes(item["raw"]))
say("none", "Item" in table.get_item(Key={"InvoiceNumber": "121212", "ClientTransactionid": "nothing"}))
say("updated", table.update_item(
    Key={"InvoiceNumber": "121212", "ClientTransactionid": "Client3#0003"},
    UpdateExpression="SET amount = amount + :n, #s = :s REMOVE paid", ExpressionAttributeNames={"#s": "status"},
    ExpressionAttributeValues={":n": 1, ":s": "open"}, ReturnValues="UPDATED_NEW")["Attributes"])
try:
    table.put_item(Item={"InvoiceNumber": "121212", "ClientTransactionid": "Client3#0003"}, ConditionExpression=Attr("InvoiceNumber").not_exists(),
                   ReturnValuesOnConditionCheckFailure="ALL_OLD")
except ClientError as e:
    say("refused", e.response["Error"]["Code"], e.response["Error"]["Message"], e.response["Item"]["status"])
say("deleted", table.delete_item(Key={"InvoiceNumber": "121212", "ClientTransactionid": "Client4#0004"}, ReturnValues="ALL_OLD")["Attributes"]["country"])

# Queries and their pages.
pages = client.get_paginator("query").paginate(
    TableName="Invoices", KeyConditionExpression="InvoiceNumber = :i", ExpressionAttributeValues={":i": {"S": "121212"}}, PaginationConfig={"PageSize": 37})
ids = [it["ClientTransactionid"]["S"] for page in pages for it in page["Items"]]
say("invoice", len(ids), "in order", ids == sorted(ids), ids[0], ids[-1])
down = table.query(KeyConditionExpression=Key("InvoiceNumber").eq("121212"), ScanIndexForward=False, Limit=3)
say("last", [it["ClientTransactionid"] for it in down["Items"]], down["LastEvaluatedKey"])
say("client 1", [it["ClientTransactionid"] for it in table.query(
    KeyConditionExpression=Key("InvoiceNumber").eq("121212") & Key("ClientTransactionid").begins_with("Client1#"), Limit=4)["Items"]])
say("begins with Client1", table.query(KeyConditionExpression=Key("InvoiceNumber").eq("121212") & Key("ClientTransactionid").begins_with("Client1"), Select="COUNT")["Count"])
filtered = table.query(KeyConditionExpression=Key("InvoiceNumber").eq("121212"), FilterExpression=Attr("country").eq("Chile") & Attr("amount").gt(100),
                       ProjectionExpression="ClientTransactionid, amount", Limit=450)
say("filtered", filtered["Count"], filtered["ScannedCount"], filtered["Items"][0])
chile = client.get_paginator("query").paginate(
    TableName="Invoices", IndexName="by-country", KeyConditionExpression="country = :c", ExpressionAttributeValues={":c": {"S": "Chile"}}, PaginationConfig={"PageSize": 7})
amounts = [Decimal(it["amount"]["N"]) for page in chile for it in page["Items"]]
say("by country", len(amounts), "in order", amounts == sorted(amounts))

# Scans, whole and by segments.
whole = {it["ClientTransactionid"]["S"] for page in client.get_paginator("scan").paginate(TableName="Invoices", PaginationConfig={"PageSize": 50}) for it in page["Items"]}
parts = [set() for _ in range(4)]


def scan(segment):
    own = session.client("dynamodb", endpoint_url=url, config=config)
    for page in own.get_paginator("scan").paginate(TableName="Invoices", Segment=segment, TotalSegments=4):
        parts[segment] |= {it["ClientTransactionid"]["S"] for it in page["Items"]}


threads = [threading.Thread(target=scan, args=(s,)) for s in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
say("scanned", len(whole), "by segments", sum(len(p) for p in parts), set().union(*parts) == whole)

# Batches and transactions.
got = resource.batch_get_item(RequestItems={"Invoices": {"Keys": [{"InvoiceNumber": "121212", "ClientTransactionid": "Client%d#%04d" % (i % 12, i)} for i in range(10)],
                                                         "ProjectionExpression": "ClientTransactionid"}})
say("batch", sorted(it["ClientTransactionid"] for it in got["Responses"]["Invoices"]), got["UnprocessedKeys"])
put = lambda i, more={}: {"Put": {"TableName": "Invoices", "Item": {"InvoiceNumber": {"S": "131313"}, "ClientTransactionid": {"S": "t%d" % i}, **more}}}
for attempt in range(2):
    client.transact_write_items(TransactItems=[put(1), put(2, {"n": {"N": "1"}})], ClientRequestToken="token-1")
try:
    client.transact_write_items(TransactItems=[put(3), {"ConditionCheck": {
        "TableName": "Invoices", "Key": {"InvoiceNumber": {"S": "131313"}, "ClientTransactionid": {"S": "t2"}}, "ConditionExpression": "n > :n",
        "ExpressionAttributeValues": {":n": {"N": "5"}}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}])
except client.exceptions.TransactionCanceledException as e:
    say("cancelled", e.response["CancellationReasons"])
key = lambda i: {"Get": {"TableName": "Invoices", "Key": {"InvoiceNumber": {"S": "131313"}, "ClientTransactionid": {"S": "t%d" % i}}}}
say("transaction", client.transact_get_items(TransactItems=[key(1), key(2), key(3)])["Responses"])

# Time to live, tags, an index that is added.
client.update_time_to_live(TableName="Invoices", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
say("time to live", client.describe_time_to_live(TableName="Invoices")["TimeToLiveDescription"])
arn = described["TableArn"]
client.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "billing"}])
say("tags", [t for t in client.list_tags_of_resource(ResourceArn=arn)["Tags"] if not t["Key"].startswith("write-sharding")])
client.untag_resource(ResourceArn=arn, TagKeys=["team"])
client.update_table(
    TableName="Invoices", AttributeDefinitions=[{"AttributeName": "status", "AttributeType": "S"}],
    GlobalSecondaryIndexUpdates=[{"Create": {"IndexName": "by-status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}}])
while True:
    indexes = {ix["IndexName"]: ix["IndexStatus"] for ix in client.describe_table(TableName="Invoices")["Table"]["GlobalSecondaryIndexes"]}
    if set(indexes.values()) == {"ACTIVE"}:
        break
say("indexes", sorted(indexes))
say("by status", table.query(IndexName="by-status", KeyConditionExpression=Key("status").eq("open"))["Items"])

# Errors.
for name, call in {
    "no table": lambda: client.get_item(TableName="Nothing", Key={"k": {"S": "a"}}),
    "no key": lambda: client.get_item(TableName="Invoices", Key={"k": {"S": "a"}}),
    "no condition": lambda: client.query(TableName="Invoices", KeyConditionExpression="nothing = :n", ExpressionAttributeValues={":n": {"S": "a"}}),
    "again": lambda: client.create_table(TableName="Invoices", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
                                         KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}]),
}.items():
    try:
        call()
        say(name, "no error")
    except ClientError as e:
        say(name, e.response["Error"]["Code"], e.response["Error"]["Message"])

client.delete_table(TableName="Invoices")
client.get_waiter("table_not_exists").wait(TableName="Invoices", WaiterConfig={"Delay": 1, "MaxAttempts": 10})
say("tables", client.list_tables()["TableNames"])
say("END")
