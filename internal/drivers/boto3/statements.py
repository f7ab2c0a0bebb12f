"""A session of boto3 with PartiQL and DynamoDB Streams: statements.py URL TAGS.

TAGS is JSON, the Tags of CreateTable; what it sees goes to standard output.
"""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

url, tags = sys.argv[1], json.loads(sys.argv[2])


def say(*what):
    print(*what, flush=True)


session = boto3.Session(aws_access_key_id="AKID", aws_secret_access_key="secret", region_name="us-east-1")
config = Config(retries={"max_attempts": 1})
client = session.client("dynamodb", endpoint_url=url, config=config)
streams = session.client("dynamodbstreams", endpoint_url=url, config=config)

created = client.create_table(
    TableName="Music",
    BillingMode="PAY_PER_REQUEST",
    AttributeDefinitions=[{"AttributeName": "Artist", "AttributeType": "S"}, {"AttributeName": "SongTitle", "AttributeType": "S"}],
    KeySchema=[{"AttributeName": "Artist", "KeyType": "HASH"}, {"AttributeName": "SongTitle", "KeyType": "RANGE"}],
    StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    Tags=tags,
)["TableDescription"]
say("stream", created["StreamSpecification"], created["LatestStreamArn"].split("/stream/")[0], len(created["LatestStreamLabel"]))
client.get_waiter("table_exists").wait(TableName="Music")


def run(statement, *parameters, **more):
    if parameters:
        more["Parameters"] = list(parameters)
    try:
        out = client.execute_statement(Statement=statement, **more)
        say("  ", out["Items"], "more" if "NextToken" in out else "")
        return out
    except ClientError as e:
        say("  ", e.response["Error"]["Code"], e.response["Error"]["Message"])


say("insert")
for n in range(7):
    run("INSERT INTO \"Music\" VALUE {'Artist': ?, 'SongTitle': ?, 'Year': ?}", {"S": "Acme"}, {"S": f"Song {n}"}, {"N": str(2000 + n)})
run("INSERT INTO Music VALUE {'Artist':'Acme', 'SongTitle':'Song 1'}")

say("pages")
out = run("SELECT SongTitle FROM Music WHERE Artist = 'Acme' AND \"Year\" > 2001", Limit=3)
while "NextToken" in out:
    out = run("SELECT SongTitle FROM Music WHERE Artist = 'Acme' AND \"Year\" > 2001", Limit=3, NextToken=out["NextToken"])

say("update and delete")
run("UPDATE Music SET Awards = {'Grammys': [2020]} SET \"Year\" = \"Year\" + 1 WHERE Artist='Acme' AND SongTitle='Song 2' RETURNING MODIFIED NEW *")
run("UPDATE Music SET x = 1 WHERE Artist='Nobody' AND SongTitle='Song 2'")
run("DELETE FROM Music WHERE Artist='Acme' AND SongTitle='Song 3' RETURNING ALL OLD *")
run("SELECT Awards.Grammys[0] FROM Music.nothing WHERE Artist='Acme'")
run("SELECT Awards.Grammys[0], SongTitle FROM Music WHERE Artist='Acme' ORDER BY SongTitle DESC")

say("batch")
for r in client.batch_execute_statement(Statements=[
    {"Statement": "UPDATE Music SET y = 1 WHERE Artist='Acme' AND SongTitle='Song 4'"},
    {"Statement": "INSERT INTO Music VALUE {'Artist':'Acme', 'SongTitle':'Song 1'}"},
    {"Statement": "INSERT INTO Music VALUE {'Artist':'Bad'}"},
])["Responses"]:
    say("  ", r)

say("transaction")
out = client.execute_transaction(TransactStatements=[
    {"Statement": "EXISTS(SELECT * FROM Music WHERE Artist='Acme' AND SongTitle='Song 4' AND y = 1)"},
    {"Statement": "INSERT INTO Music VALUE {'Artist':'No One You Know', 'SongTitle':?}", "Parameters": [{"S": "Call Me Today"}]},
    {"Statement": "DELETE FROM Music WHERE Artist='Acme' AND SongTitle='Song 5'"},
], ClientRequestToken="token-of-this-session")
say("  ", len(out["Responses"]))
try:
    client.execute_transaction(TransactStatements=[
        {"Statement": "INSERT INTO Music VALUE {'Artist':'Acme', 'SongTitle':'Song 1'}"},
        {"Statement": "INSERT INTO Music VALUE {'Artist':'Acme', 'SongTitle':'Song 9'}"},
    ])
except client.exceptions.TransactionCanceledException as e:
    say("  ", [r["Code"] for r in e.response["CancellationReasons"]])
say("  ", client.execute_transaction(TransactStatements=[{"Statement": "SELECT * FROM Music WHERE Artist='Acme' AND SongTitle='Song 9'"}])["Responses"])

say("stream")
listed = streams.list_streams(TableName="Music")["Streams"][-1]
described = streams.describe_stream(StreamArn=listed["StreamArn"])["StreamDescription"]
say("  ", described["StreamStatus"], described["StreamViewType"], described["KeySchema"], len(described["Shards"]))
at = streams.get_shard_iterator(StreamArn=listed["StreamArn"], ShardId=described["Shards"][0]["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
while True:
    page = streams.get_records(ShardIterator=at, Limit=5)
    for r in page["Records"]:
        say("  ", r["eventName"], r["dynamodb"]["Keys"], sorted(r["dynamodb"].get("NewImage", {})), sorted(r["dynamodb"].get("OldImage", {})), r["dynamodb"]["SizeBytes"])
    at = page["NextShardIterator"]
    if not page["Records"]:
        break
latest = streams.get_shard_iterator(StreamArn=listed["StreamArn"], ShardId=described["Shards"][0]["ShardId"], ShardIteratorType="LATEST")["ShardIterator"]
client.put_item(TableName="Music", Item={"Artist": {"S": "Latest"}, "SongTitle": {"S": "x"}})
say("  ", [r["dynamodb"]["Keys"]["Artist"] for r in streams.get_records(ShardIterator=latest)["Records"]])
try:
    streams.get_records(ShardIterator="none")
except ClientError as e:
    say("  ", e.response["Error"]["Code"])
client.update_table(TableName="Music", StreamSpecification={"StreamEnabled": False})
say("  ", streams.describe_stream(StreamArn=listed["StreamArn"])["StreamDescription"]["StreamStatus"])
client.delete_table(TableName="Music")
say("done")
