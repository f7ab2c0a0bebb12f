// A session of the AWS SDK for Java v2, as applications are written for DynamoDB:
// Session URL [TAG VALUE]… It prints what all sessions of this folder print:
// expected.txt.

import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.*;

public class Session {
  static final String TABLE = "Invoices";

  static AttributeValue s(String v) {
    return AttributeValue.fromS(v);
  }

  static AttributeValue n(String v) {
    return AttributeValue.fromN(v);
  }

  static String id(int i) {
    return String.format("Client%d#%04d", i % 12, i);
  }

  static Map<String, AttributeValue> key(String invoice, String id) {
    return Map.of("InvoiceNumber", s(invoice), "ClientTransactionid", s(id));
  }

  static Map<String, AttributeValue> key(int i) {
    return key("121212", id(i));
  }

  static Map<String, AttributeValue> item(int i) {
    Map<String, AttributeValue> item = new HashMap<>(key(i));
    item.put("country", s(List.of("USA", "USA", "USA", "France", "Chile").get(i % 5)));
    item.put("amount", n(new BigDecimal(i).divide(new BigDecimal(4)).toPlainString()));
    item.put("paid", AttributeValue.fromBool(i % 2 == 0));
    item.put("tags", AttributeValue.fromSs(List.of("a", "b")));
    item.put("lines", AttributeValue.fromL(List.of(AttributeValue.fromM(Map.of("sku", s("x"), "n", n("" + i))))));
    return item;
  }

  static String ids(Stream<Map<String, AttributeValue>> items) {
    return items.map(it -> it.get("ClientTransactionid").s()).collect(Collectors.joining(" "));
  }

  static <T extends Comparable<T>> String ordered(List<T> values) {
    return values.stream().sorted().toList().equals(values) ? "in order" : "not in order";
  }

  static void say(Object... what) {
    System.out.println(Stream.of(what).map(Object::toString).collect(Collectors.joining(" ")));
  }

  static String code(DynamoDbException e) {
    return e.awsErrorDetails().errorCode();
  }

  static AttributeDefinition attribute(String name, ScalarAttributeType type) {
    return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
  }

  static List<KeySchemaElement> schema(String hash, String range) {
    return List.of(
        KeySchemaElement.builder().attributeName(hash).keyType(KeyType.HASH).build(),
        KeySchemaElement.builder().attributeName(range).keyType(KeyType.RANGE).build());
  }

  public static void main(String[] args) {
    List<Tag> tags = new ArrayList<>();
    for (int i = 1; i < args.length; i += 2) {
      tags.add(Tag.builder().key(args[i]).value(args[i + 1]).build());
    }
    DynamoDbClient client = DynamoDbClient.builder()
        .endpointOverride(URI.create(args[0]))
        .region(Region.US_EAST_1)
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("AKID", "secret")))
        .httpClient(UrlConnectionHttpClient.create())
        .build();

    client.createTable(r -> r.tableName(TABLE).billingMode(BillingMode.PAY_PER_REQUEST).tags(tags)
        .attributeDefinitions(
            attribute("InvoiceNumber", ScalarAttributeType.S), attribute("ClientTransactionid", ScalarAttributeType.S),
            attribute("country", ScalarAttributeType.S), attribute("amount", ScalarAttributeType.N))
        .keySchema(schema("InvoiceNumber", "ClientTransactionid"))
        .globalSecondaryIndexes(GlobalSecondaryIndex.builder().indexName("by-country").keySchema(schema("country", "amount"))
            .projection(p -> p.projectionType(ProjectionType.ALL)).build()));
    var exists = client.waiter().waitUntilTableExists(r -> r.tableName(TABLE), w -> w.waitTimeout(Duration.ofMinutes(3)));
    say("created", exists.matched().response().get().table().tableStatusAsString());

    for (int i : new int[] {0, 5}) {
      client.putItem(r -> r.tableName(TABLE).item(item(i)));
    }
    for (int from = 0; from < 60; from += 20) {
      List<WriteRequest> writes = IntStream.range(from, from + 20)
          .mapToObj(i -> WriteRequest.builder().putRequest(p -> p.item(item(i))).build()).toList();
      if (!client.batchWriteItem(r -> r.requestItems(Map.of(TABLE, writes))).unprocessedItems().isEmpty()) {
        throw new IllegalStateException("unprocessed items");
      }
    }
    var got = client.getItem(r -> r.tableName(TABLE).key(key(5))).item();
    var line = got.get("lines").l().get(0).m();
    say("got", got.get("country").s(), got.get("amount").n(), got.get("paid").bool(),
        got.get("tags").ss().stream().sorted().collect(Collectors.joining(",")), line.get("sku").s(), line.get("n").n());

    Map<String, AttributeValue> invoice = Map.of(":i", s("121212"));
    List<String> all = client.queryPaginator(r -> r.tableName(TABLE).keyConditionExpression("InvoiceNumber = :i").expressionAttributeValues(invoice).limit(7))
        .items().stream().map(it -> it.get("ClientTransactionid").s()).toList();
    say("invoice", all.size(), ordered(all), all.get(0), all.get(all.size() - 1));
    say("last", ids(client.query(r -> r.tableName(TABLE).keyConditionExpression("InvoiceNumber = :i").expressionAttributeValues(invoice)
        .scanIndexForward(false).limit(3)).items().stream()));
    say("client 1", ids(client.query(r -> r.tableName(TABLE).keyConditionExpression("InvoiceNumber = :i AND begins_with(ClientTransactionid, :c)")
        .expressionAttributeValues(Map.of(":i", s("121212"), ":c", s("Client1#")))).items().stream()));

    var update = UpdateItemRequest.builder().tableName(TABLE).key(key(3)).updateExpression("SET amount = amount + :one, #s = :s")
        .conditionExpression("country = :c").expressionAttributeNames(Map.of("#s", "status")).returnValues(ReturnValue.UPDATED_NEW);
    var updated = client.updateItem(update.expressionAttributeValues(Map.of(":one", n("1"), ":s", s("open"), ":c", s("France"))).build()).attributes();
    say("updated", updated.get("amount").n(), updated.get("status").s());
    try {
      client.updateItem(update.expressionAttributeValues(Map.of(":one", n("1"), ":s", s("open"), ":c", s("Chile"))).build());
    } catch (ConditionalCheckFailedException e) {
      say("refused", code(e));
    }

    List<BigDecimal> amounts = client.queryPaginator(r -> r.tableName(TABLE).indexName("by-country").keyConditionExpression("country = :c")
        .expressionAttributeValues(Map.of(":c", s("Chile"))).limit(5)).items().stream().map(it -> new BigDecimal(it.get("amount").n())).toList();
    say("by country", amounts.size(), ordered(amounts), amounts.get(0), amounts.get(amounts.size() - 1));

    client.transactWriteItems(r -> r.transactItems(Stream.of("t1", "t2")
        .map(t -> TransactWriteItem.builder().put(p -> p.tableName(TABLE).item(key("131313", t))).build()).toList()));
    say("transaction", ids(client.transactGetItems(r -> r.transactItems(Stream.of("t1", "t2")
        .map(t -> TransactGetItem.builder().get(g -> g.tableName(TABLE).key(key("131313", t))).build()).toList())).responses().stream().map(ItemResponse::item)));
    try {
      client.transactWriteItems(r -> r.transactItems(
          TransactWriteItem.builder().put(p -> p.tableName(TABLE).item(key("131313", "t3"))).build(),
          TransactWriteItem.builder().put(p -> p.tableName(TABLE).item(key("131313", "t1")).conditionExpression("attribute_not_exists(InvoiceNumber)")).build()));
    } catch (TransactionCanceledException e) {
      say("cancelled", e.cancellationReasons().get(1).code());
    }

    var several = client.batchGetItem(r -> r.requestItems(Map.of(TABLE, KeysAndAttributes.builder().keys(List.of(key(0), key(1), key(2))).build())));
    say("several", several.responses().get(TABLE).stream().map(it -> it.get("ClientTransactionid").s()).sorted().collect(Collectors.joining(" ")));
    say("deleted", client.deleteItem(r -> r.tableName(TABLE).key(key(4)).returnValues(ReturnValue.ALL_OLD)).attributes().get("country").s());
    say("left", client.query(r -> r.tableName(TABLE).keyConditionExpression("InvoiceNumber = :i").expressionAttributeValues(invoice).select(Select.COUNT)).count());
    say("scanned", client.scanPaginator(r -> r.tableName(TABLE).limit(9)).items().stream().count());
    try {
      client.scan(r -> r.tableName("Nothing"));
    } catch (ResourceNotFoundException e) {
      say("no table", code(e));
    }
    client.deleteTable(r -> r.tableName(TABLE));
    client.waiter().waitUntilTableNotExists(r -> r.tableName(TABLE), w -> w.waitTimeout(Duration.ofMinutes(3)));
    say("gone");
    say("END");
    client.close();
  }
}
