import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.dht.RandomPartitioner;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.utils.*;

/**
 * Asks Cassandra's own classes what they do with a value, to make the vectors of
 * this directory. A line in, a line out, tab-separated:
 *
 *   validate  class  hex           ok | text of the error
 *   compare   class  hex  hex      -1 | 0 | 1 | error
 *   string    class  text          hex | error      (FromString)
 *   fromjson  class  json          hex | null | error
 *   json      class  hex           text | error
 *   format    class  hex           text | error     (toCQLString)
 *   class     class                class as Cassandra writes it, CQL name
 *   props     class                CQL name, fixed length, allows empty, empty is meaningless
 *   random    hex                  RandomPartitioner's token
 *   hash      text                 String.hashCode
 *
 * Text is written with \t, \n, \r and \\ escaped; errors begin with "!". Compile and run with
 * Cassandra's jars on the class path and the JVM options of its daemon.
 */
public class Oracle
{
    public static void main(String[] args) throws Exception
    {
        org.apache.cassandra.config.DatabaseDescriptor.toolInitialization();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8)));
        for (String line; (line = in.readLine()) != null; )
        {
            String answer;
            try { answer = answer(line.split("\t", -1)); }
            catch (Throwable e) { answer = "!" + (e instanceof RuntimeException && e.getMessage() != null ? e.getMessage() : e.toString()); }
            out.println(answer.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r"));
        }
        out.flush();
    }

    static String answer(String[] f) throws Exception
    {
        if (f[0].equals("random"))
            return RandomPartitioner.instance.getToken(hex(f[1])).getTokenValue().toString();
        if (f[0].equals("hash"))
            return "" + text(f[1]).hashCode();
        AbstractType<?> t = TypeParser.parse(f[1]);
        switch (f[0])
        {
            case "validate": t.validate(hex(f[2])); return "ok";
            case "compare": return "" + Integer.signum(t.compare(hex(f[2]), hex(f[3])));
            case "string": return ByteBufferUtil.bytesToHex(t.fromString(text(f[2])));
            case "json": return t.toJSONString(hex(f[2]), ProtocolVersion.V5);
            case "format": return t.toCQLString(hex(f[2]));
            case "class": return t + "\t" + t.asCQL3Type();
            case "props": return t.asCQL3Type() + "\t" + t.valueLengthIfFixed() + "\t" + t.allowsEmpty() + "\t" + t.isEmptyValueMeaningless();
            case "fromjson":
                Object o = JsonUtils.decodeJson(text(f[2]));
                if (o == null) return "null";
                ByteBuffer b = t.fromJSONObject(o).bindAndGet(QueryOptions.DEFAULT);
                return b == null ? "null" : ByteBufferUtil.bytesToHex(b);
        }
        throw new IllegalArgumentException(f[0]);
    }

    static ByteBuffer hex(String s) { return ByteBufferUtil.hexToBytes(s); }

    static String text(String s)
    {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < s.length(); i++)
        {
            char c = s.charAt(i);
            if (c == '\\')
                switch (c = s.charAt(++i)) { case 't': c = '\t'; break; case 'n': c = '\n'; break; case 'r': c = '\r'; break; }
            b.append(c);
        }
        return b.toString();
    }
}
