import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;

/** A session of the Java driver: Session HOST PORT KEYSPACE PROPERTIES; see ../python/session.py. */
public final class Session {
  private static void say(Object... what) {
    List<String> words = new ArrayList<>();
    for (Object w : what) words.add(String.valueOf(w));
    System.out.println(String.join(" ", words));
    System.out.flush();
  }

  public static void main(String[] args) throws Exception {
    String keyspace = args[2], properties = args[3];
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(120))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(120))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(120))
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, Duration.ofSeconds(120))
            .withClass(
                DefaultDriverOption.RECONNECTION_POLICY_CLASS,
                com.datastax.oss.driver.internal.core.connection.ConstantReconnectionPolicy.class)
            .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(500))
            .build();
    try (CqlSession session =
        CqlSession.builder()
            .addContactPoint(new InetSocketAddress(args[0], Integer.parseInt(args[1])))
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(config)
            .build()) {
      run(session, keyspace, properties);
    }
    say("END");
  }

  private static void run(CqlSession session, String keyspace, String properties) throws Exception {
    say("protocol", session.getContext().getProtocolVersion());
    say("hosts", session.getMetadata().getNodes().size());
    session.execute(
        "CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    String t = keyspace + ".t";
    session.execute(
        "CREATE TABLE " + t + " (day date, title text, n int, tags set<text>, PRIMARY KEY (day, title))"
            + (properties.isEmpty() ? "" : " WITH " + properties));

    TableMetadata table = session.getMetadata().getKeyspace(keyspace).get().getTable("t").get();
    say("partition key", table.getPartitionKey().size(), "clustering", table.getClusteringColumns().size());
    Set<String> columns = new TreeSet<>();
    table.getColumns().values().forEach(c -> columns.add(c.getName() + " " + c.getType()));
    say("columns", columns);
    say("schema agreement", session.checkSchemaAgreement());

    LocalDate day = LocalDate.of(2020, 7, 9);
    PreparedStatement insert = session.prepare("INSERT INTO " + t + " (day, title, n, tags) VALUES (?, ?, ?, ?)");
    List<CompletionStage<AsyncResultSet>> inFlight = new ArrayList<>();
    for (int i = 0; i < 105; i++) {
      inFlight.add(session.executeAsync(insert.bind(day, String.format("title %03d", i), i, Set.of("a", "b" + i % 3))));
    }
    for (CompletionStage<AsyncResultSet> f : inFlight) f.toCompletableFuture().get();
    PreparedStatement select = session.prepare("SELECT title, n, tags FROM " + t + " WHERE day = ? AND title = ?");
    Row one = session.execute(select.bind(day, "title 042")).one();
    say("one", one.getString(0), one.getInt(1), new TreeSet<>(one.getSet(2, String.class)));
    say("none", session.execute(select.bind(day, "nothing")).one());

    SimpleStatement whole =
        SimpleStatement.newInstance("SELECT title, n FROM " + t + " WHERE day = '2020-07-09'").setPageSize(10);
    say("rows", read(session, whole));
    SimpleStatement down =
        SimpleStatement.newInstance("SELECT title FROM " + t + " WHERE day = '2020-07-09' ORDER BY title DESC")
            .setPageSize(7);
    ResultSet first = session.execute(down);
    ResultSet second = session.execute(down.setPagingState(first.getExecutionInfo().getPagingState()));
    say("pages", first.getAvailableWithoutFetching(), first.one().getString(0), second.one().getString(0));

    LocalDate next = day.plusDays(1);
    session.execute(
        BatchStatement.newInstance(
            DefaultBatchType.LOGGED,
            insert.bind(next, "batched 0", 0, null),
            insert.bind(next, "batched 1", 1, null),
            SimpleStatement.newInstance("DELETE FROM " + t + " WHERE day = '2020-07-10' AND title = 'nothing'")));
    say("batched", session.execute("SELECT count(*) FROM " + t + " WHERE day = '2020-07-10'").one().getLong(0));

    String once = "INSERT INTO " + t + " (day, title) VALUES ('2020-07-11', 'x') IF NOT EXISTS";
    say("new", session.execute(once).wasApplied(), "old", session.execute(once).wasApplied());

    PreparedStatement star = session.prepare("SELECT * FROM " + t + " WHERE day = ? AND title = ?");
    say("star", session.execute(star.bind(day, "title 001")).one().getColumnDefinitions().size());
    session.execute("ALTER TABLE " + t + " ADD extra int");
    say("star after ALTER", session.execute(star.bind(day, "title 001")).one().getColumnDefinitions().size());

    for (String bad : List.of("SELEC", "SELECT nothing FROM " + t, "SELECT * FROM " + keyspace + ".nothing")) {
      try {
        session.execute(bad);
        say("no error for", bad);
      } catch (DriverException e) {
        say("error", e.getClass().getSimpleName());
      }
    }

    // A refresh of the schema that this driver begins while it has no control
    // connection fails, and later ones then wait for it for ever: so none is to
    // begin, whoever changes a schema meanwhile.
    session.setSchemaMetadataEnabled(false);
    session.refreshSchema();
    say("RESTART");
    System.in.read();
    long deadline = System.currentTimeMillis() + 180_000;
    while (true) {
      try {
        say("after restart", session.execute(select.bind(day, "title 042")).one().getInt(1));
        break;
      } catch (DriverException e) {
        if (System.currentTimeMillis() > deadline) throw e;
        Thread.sleep(300);
      }
    }
    say("after restart", read(session, whole));
    while (!session.checkSchemaAgreement() && System.currentTimeMillis() < deadline) {
      Thread.sleep(300); // it has no control connection yet
    }
    session.setSchemaMetadataEnabled(true);
    session.execute("DROP KEYSPACE " + keyspace);
  }

  private static String read(CqlSession session, SimpleStatement whole) {
    List<String> titles = new ArrayList<>();
    for (Row r : session.execute(whole)) titles.add(r.getString(0));
    return titles.size() + " in order " + titles.equals(new ArrayList<>(new TreeSet<>(titles)));
  }
}
