import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.EndPoint;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The load of session.py, with the Java driver: Session HOST PORT TABLE. */
public final class Session {
  private static Map<String, Integer> by = new TreeMap<>();
  private static List<String> errors = new ArrayList<>();
  private static volatile boolean done;

  public static void main(String[] args) throws Exception {
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_AGREEMENT_TIMEOUT, Duration.ofSeconds(60))
            .withBoolean(DefaultDriverOption.REQUEST_DEFAULT_IDEMPOTENCE, true)
            .withClass(
                DefaultDriverOption.SPECULATIVE_EXECUTION_POLICY_CLASS,
                com.datastax.oss.driver.internal.core.specex.ConstantSpeculativeExecutionPolicy.class)
            .withDuration(DefaultDriverOption.SPECULATIVE_EXECUTION_DELAY, Duration.ofMillis(500))
            .withInt(DefaultDriverOption.SPECULATIVE_EXECUTION_MAX, 5)
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
      PreparedStatement read = session.prepare("SELECT v FROM " + args[2] + " WHERE k = ? AND c = ?");
      PreparedStatement write = session.prepare("INSERT INTO " + args[2] + " (k, c, v) VALUES (?, ?, ?)");
      List<Thread> workers = new ArrayList<>();
      for (int w = 0; w < 4; w++) {
        int worker = w;
        workers.add(new Thread(() -> load(session, read, write, worker)));
      }
      workers.forEach(Thread::start);
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
      for (String line = in.readLine(); line != null && !line.equals("QUIT"); line = in.readLine()) {
        if (line.startsWith("DDL")) {
          String said = "";
          try {
            session.execute(SimpleStatement.newInstance(line.substring(4)).setIdempotent(false));
          } catch (RuntimeException e) {
            said = quoted(e.toString());
          }
          System.out.println("{\"by\": {}, \"errors\": [" + said + "]}");
          continue;
        }
        synchronized (Session.class) {
          String counts =
              by.entrySet().stream().map(e -> quoted(e.getKey()) + ": " + e.getValue()).collect(Collectors.joining(", "));
          System.out.println(
              "{\"by\": {" + counts + "}, \"errors\": ["
                  + errors.stream().map(Session::quoted).collect(Collectors.joining(", ")) + "]}");
          by = new TreeMap<>();
          errors = new ArrayList<>();
        }
      }
      done = true;
      for (Thread w : workers) w.join();
    }
  }

  private static void load(CqlSession session, PreparedStatement read, PreparedStatement write, int worker) {
    for (int n = 1; !done; n++) {
      try {
        ResultSet rs = session.execute(n % 2 == 1 ? write.bind(1, worker, n) : read.bind(1, worker));
        EndPoint at = rs.getExecutionInfo().getCoordinator().getEndPoint();
        InetSocketAddress address = (InetSocketAddress) at.resolve();
        synchronized (Session.class) {
          by.merge(address.getAddress().getHostAddress() + ":" + address.getPort(), 1, Integer::sum);
        }
        Thread.sleep(5);
      } catch (Exception e) {
        synchronized (Session.class) {
          errors.add(e.toString());
        }
      }
    }
  }

  private static String quoted(String s) {
    return '"' + s.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + '"';
  }
}
