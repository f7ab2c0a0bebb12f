"""A session of PynamoDB, as applications are written with it: pynamo.py URL [TAG VALUE]…

It prints what all sessions of this folder print: expected.txt.
"""

import sys

from pynamodb.attributes import BooleanAttribute, ListAttribute, MapAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

url, tagged = sys.argv[1], sys.argv[2:]


def say(*what):
    print(*what, flush=True)


class Line(MapAttribute):
    sku = UnicodeAttribute()
    n = NumberAttribute()


class ByCountry(GlobalSecondaryIndex):
    class Meta:
        index_name = "by-country"
        projection = AllProjection()
        billing_mode = "PAY_PER_REQUEST"

    country = UnicodeAttribute(hash_key=True)
    amount = NumberAttribute(range_key=True)


class Common:
    region = "us-east-1"
    host = url
    billing_mode = "PAY_PER_REQUEST"
    max_retry_attempts = 0
    aws_access_key_id = "AKID"
    aws_secret_access_key = "secret"


class Transaction(Model):
    class Meta(Common):
        table_name = "Invoices"
        tags = dict(zip(tagged[::2], tagged[1::2]))

    invoice = UnicodeAttribute(hash_key=True, attr_name="InvoiceNumber")
    id = UnicodeAttribute(range_key=True, attr_name="ClientTransactionid")
    country = UnicodeAttribute(null=True)
    amount = NumberAttribute(null=True)
    paid = BooleanAttribute(null=True)
    status = UnicodeAttribute(null=True)
    labels = UnicodeSetAttribute(null=True, attr_name="tags")
    lines = ListAttribute(null=True, of=Line)
    by_country = ByCountry()


class Nothing(Model):
    class Meta(Common):
        table_name = "Nothing"

    k = UnicodeAttribute(hash_key=True)


def name(i):
    return "Client%d#%04d" % (i % 12, i)


def item(i):
    countries = ["USA", "USA", "USA", "France", "Chile"]
    return Transaction("121212", name(i), country=countries[i % 5], amount=i / 4, paid=i % 2 == 0, labels={"a", "b"}, lines=[Line(sku="x", n=i)])


def ordered(values):
    return "in order" if values == sorted(values) else "not in order"


Transaction.create_table(wait=True)
say("created", Transaction.describe_table()["TableStatus"])
for i in (0, 5):
    item(i).save()
with Transaction.batch_write() as batch:
    for i in range(60):
        batch.save(item(i))
got = Transaction.get("121212", name(5))
say("got", got.country, got.amount, str(got.paid).lower(), ",".join(sorted(got.labels)), got.lines[0].sku, got.lines[0].n)

ids = [t.id for t in Transaction.query("121212", page_size=7)]
say("invoice", len(ids), ordered(ids), ids[0], ids[-1])
say("last", *[t.id for t in Transaction.query("121212", scan_index_forward=False, limit=3)])
say("client 1", *[t.id for t in Transaction.query("121212", Transaction.id.startswith("Client1#"))])

third = Transaction.get("121212", name(3))
third.update(actions=[Transaction.amount.set(Transaction.amount + 1), Transaction.status.set("open")], condition=Transaction.country == "France")
say("updated", third.amount, third.status)
try:
    third.update(actions=[Transaction.amount.set(Transaction.amount + 1)], condition=Transaction.country == "Chile")
except UpdateError as e:
    say("refused", e.cause_response_code)

amounts = [t.amount for t in Transaction.by_country.query("Chile", page_size=5)]
say("by country", len(amounts), ordered(amounts), amounts[0], amounts[-1])

connection = Connection(region="us-east-1", host=url)
connection.session.set_credentials("AKID", "secret")
with TransactWrite(connection=connection) as write:
    for n in ("t1", "t2"):
        write.save(Transaction("131313", n))
with TransactGet(connection=connection) as read:
    both = [read.get(Transaction, "131313", n) for n in ("t1", "t2")]
say("transaction", *[f.get().id for f in both])
try:
    with TransactWrite(connection=connection) as write:
        write.save(Transaction("131313", "t3"))
        write.save(Transaction("131313", "t1"), condition=Transaction.invoice.does_not_exist())
except TransactWriteError as e:
    say("cancelled", e.cancellation_reasons[1].code)

say("several", *sorted(t.id for t in Transaction.batch_get([("121212", name(i)) for i in range(3)])))
fourth = Transaction.get("121212", name(4))
fourth.delete()
try:
    Transaction.get("121212", name(4))
except DoesNotExist:
    say("deleted", fourth.country)
say("left", Transaction.count("121212"))
say("scanned", len(list(Transaction.scan(page_size=9))))
try:
    Nothing("a").save()
except PutError as e:
    say("no table", e.cause_response_code)
Transaction.delete_table()
if not Transaction.exists():
    say("gone")
say("END")
