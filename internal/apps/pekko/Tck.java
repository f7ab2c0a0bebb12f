// SPDX-License-Identifier: Apache-2.0

import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.model.AttributeDefinition;
import com.amazonaws.services.dynamodbv2.model.CreateTableRequest;
import com.amazonaws.services.dynamodbv2.model.KeySchemaElement;
import com.amazonaws.services.dynamodbv2.model.LocalSecondaryIndex;
import com.amazonaws.services.dynamodbv2.model.Projection;
import com.amazonaws.services.dynamodbv2.model.ProvisionedThroughput;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.pekko.persistence.CapabilityFlag;
import org.apache.pekko.persistence.japi.journal.JavaJournalSpec;
import org.apache.pekko.persistence.japi.snapshot.JavaSnapshotStoreSpec;
import org.scalatest.events.Event;
import org.scalatest.events.RunAborted;
import org.scalatest.events.SuiteAborted;
import org.scalatest.events.TestCanceled;
import org.scalatest.events.TestFailed;
import org.scalatest.events.TestIgnored;
import org.scalatest.events.TestPending;
import org.scalatest.events.TestStarting;
import org.scalatest.events.TestSucceeded;
import org.scalatest.tools.Runner;

/**
 * Runs the tests that Pekko publishes for persistence plugins (JournalSpec, SnapshotStoreSpec) on one of its plugins, and
 * prints their events as `go tool test2json` does.
 *
 * <p>Usage: TCK_STORE=HOST:PORT Tck cassandra|dynamodb
 */
public final class Tck {
  private static final PrintStream events = System.out;

  public static void main(String[] args) {
    String store = System.getenv("TCK_STORE");
    // The first request of a test waits until the plugin has created its tables.
    String patience =
        String.join(
            "\n",
            "pekko.test.single-expect-default = 300 s",
            "pekko.persistence.journal-plugin-fallback.circuit-breaker.call-timeout = 300 s",
            "pekko.persistence.snapshot-store-plugin-fallback.circuit-breaker.call-timeout = 300 s",
            "");
    config = ConfigFactory.load(ConfigFactory.parseString("pekko.loglevel = WARNING\n" + patience + settings(args[0], store)));
    System.setOut(System.err); // what Pekko logs
    if (args[0].equals("dynamodb")) {
      createTables(store);
    }
    boolean passed = Runner.run(new String[] {"-s", Journal.class.getName(), "-s", Snapshots.class.getName(), "-C", Events.class.getName()});
    passed &= !Events.aborted;
    print("", passed ? "pass" : "fail", "");
    System.exit(passed ? 0 : 1);
  }

  private static Config config;

  /** Each plugin's own settings. The one for Cassandra creates its keyspaces and tables. */
  private static String settings(String plugin, String store) {
    switch (plugin) {
      case "cassandra":
        return String.join(
            "\n",
            "pekko.persistence.journal.plugin = pekko.persistence.cassandra.journal",
            "pekko.persistence.snapshot-store.plugin = pekko.persistence.cassandra.snapshot",
            "pekko.persistence.cassandra.journal { keyspace-autocreate = true, tables-autocreate = true }",
            "pekko.persistence.cassandra.snapshot { keyspace-autocreate = true, tables-autocreate = true }",
            "datastax-java-driver.basic.contact-points = [\"" + store + "\"]",
            "datastax-java-driver.basic.load-balancing-policy.local-datacenter = datacenter1",
            "datastax-java-driver.basic.request.timeout = 30 s");
      case "dynamodb":
        return String.join(
            "\n",
            "pekko.persistence.journal.plugin = dynamodb-journal",
            "pekko.persistence.snapshot-store.plugin = dynamodb-snapshot-store",
            "dynamodb-journal { endpoint = \"http://" + store + "\", aws-access-key-id = dummy, aws-secret-access-key = dummy }");
    }
    throw new IllegalArgumentException(plugin);
  }

  /** The plugin for DynamoDB expects its tables. The journal's is in the plugin, the snapshots' in its manual. */
  private static void createTables(String store) {
    AmazonDynamoDB client =
        AmazonDynamoDBClientBuilder.standard()
            .withEndpointConfiguration(new EndpointConfiguration("http://" + store, "us-east-1"))
            .withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials("dummy", "dummy")))
            .build();
    ProvisionedThroughput throughput = new ProvisionedThroughput(10L, 10L);
    client.createTable(
        org.apache.pekko.persistence.dynamodb.journal.package$.MODULE$
            .schema()
            .withTableName(config.getString("dynamodb-journal.journal-table"))
            .withProvisionedThroughput(throughput));
    KeySchemaElement partition = new KeySchemaElement("par", "HASH");
    client.createTable(
        new CreateTableRequest()
            .withTableName(config.getString("dynamodb-snapshot-store.snapshot-table"))
            .withAttributeDefinitions(new AttributeDefinition("par", "S"), new AttributeDefinition("seq", "N"), new AttributeDefinition("ts", "N"))
            .withKeySchema(partition, new KeySchemaElement("seq", "RANGE"))
            .withLocalSecondaryIndexes(
                new LocalSecondaryIndex()
                    .withIndexName("ts-idx")
                    .withKeySchema(partition, new KeySchemaElement("ts", "RANGE"))
                    .withProjection(new Projection().withProjectionType("ALL")))
            .withProvisionedThroughput(throughput));
    client.shutdown();
  }

  public static final class Journal extends JavaJournalSpec {
    public Journal() {
      super(config);
    }

    @Override
    public CapabilityFlag supportsRejectingNonSerializableObjects() {
      return CapabilityFlag.off(); // an optional test, which the plugin for Cassandra does not support
    }
  }

  public static final class Snapshots extends JavaSnapshotStoreSpec {
    public Snapshots() {
      super(config);
    }
  }

  /** Prints what happens to the tests. */
  public static final class Events implements org.scalatest.Reporter {
    static volatile boolean aborted;

    @Override
    public void apply(Event e) {
      if (e instanceof TestStarting t) {
        print(name(t.suiteName(), t.testName()), "run", "");
      } else if (e instanceof TestSucceeded t) {
        print(name(t.suiteName(), t.testName()), "pass", "");
      } else if (e instanceof TestFailed t) {
        print(name(t.suiteName(), t.testName()), "fail", t.message() + trace(t.throwable()));
      } else if (e instanceof TestIgnored t) {
        print(name(t.suiteName(), t.testName()), "skip", "");
      } else if (e instanceof TestPending t) {
        print(name(t.suiteName(), t.testName()), "skip", "");
      } else if (e instanceof TestCanceled t) {
        print(name(t.suiteName(), t.testName()), "skip", t.message());
      } else if (e instanceof SuiteAborted s) {
        aborted = true;
        print(s.suiteName(), "fail", s.message() + trace(s.throwable()));
      } else if (e instanceof RunAborted r) {
        aborted = true;
        print("", "output", r.message() + trace(r.throwable()));
      }
    }

    private static String name(String suite, String test) {
      return suite.replace("Tck$", "") + "/" + test;
    }

    private static String trace(scala.Option<Throwable> t) {
      if (t.isEmpty()) {
        return "";
      }
      StringWriter text = new StringWriter();
      t.get().printStackTrace(new PrintWriter(text));
      return "\n" + text;
    }
  }

  private static final ObjectMapper json = new ObjectMapper();

  private static synchronized void print(String test, String action, String output) {
    try {
      if (!output.isEmpty()) {
        events.println(json.writeValueAsString(event(test, "output", output + "\n")));
      }
      if (!action.equals("output")) {
        events.println(json.writeValueAsString(event(test, action, "")));
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Map<String, String> event(String test, String action, String output) {
    Map<String, String> e = new LinkedHashMap<>();
    e.put("Action", action);
    if (!test.isEmpty()) {
      e.put("Test", test);
    }
    if (!output.isEmpty()) {
      e.put("Output", output);
    }
    return e;
  }
}
