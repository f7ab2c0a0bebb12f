// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"cmp"
	"fmt"
	"strings"
	"text/template"
)

// Options say what kind of Cassandra to start. The zero value means one without credentials and
// with a small heap.
type Options struct {
	// Auth turns on PasswordAuthenticator and CassandraAuthorizer. The superuser is Username with
	// Password.
	Auth bool

	// HeapMB is the JVM's heap in MiB; default 512 (the process then takes about 0.9 GiB).
	HeapMB int

	// Durable makes a node that is killed keep each write that it has acknowledged. Otherwise it loses
	// those of up to the last ten seconds.
	Durable bool

	// Datacenter and Rack are the place of the node; default datacenter1 and rack1.
	Datacenter, Rack string

	// Settings are further lines of cassandra.yaml, such as "batch_size_fail_threshold: 50KiB".
	Settings []string
}

// These are the superuser's credentials in an instance with Options.Auth.
const (
	Username = "cassandra"
	Password = "cassandra"
)

func (o Options) withDefaults() Options {
	if o.HeapMB == 0 {
		o.HeapMB = 512
	}
	o.Datacenter = cmp.Or(o.Datacenter, "datacenter1")
	o.Rack = cmp.Or(o.Rack, "rack1")
	return o
}

// layout is the data for the configuration files and the command line.
type layout struct {
	Options
	Dir                string // everything that the instance writes
	Address            string // on which the instance listens
	Native, Storage    int    // ports
	Seed               string // the address and storage port of an existing node; the first node of a cluster has its own
	JMX                int    // port for nodetool
	Lib                string // the jars
	DataDir, ConfigDir string
}

var yaml = template.Must(template.New("cassandra.yaml").Parse(`cluster_name: evenkeel tests
num_tokens: 16
allocate_tokens_for_local_replication_factor: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
{{- if .Durable}}
commitlog_sync: batch
{{- else}}
commitlog_sync: periodic
commitlog_sync_period: 10000ms
{{- end}}
commitlog_segment_size: 8MiB
commitlog_total_space: 128MiB
{{- /* SimpleSnitch would not let a node prefer itself among the replicas. */}}
endpoint_snitch: GossipingPropertyFileSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "{{.Seed}}"
listen_address: {{.Address}}
rpc_address: {{.Address}}
storage_port: {{.Storage}}
native_transport_port: {{.Native}}
{{- /* A loaded machine is slow; what times out is told from what is wrong. */}}
native_transport_timeout: 60s
read_request_timeout: 30s
range_request_timeout: 30s
write_request_timeout: 30s
counter_write_request_timeout: 30s
cas_contention_timeout: 10s
truncate_request_timeout: 60s
start_native_transport: true
{{- if .Auth}}
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
credentials_validity: 100ms
roles_validity: 100ms
permissions_validity: 100ms
{{- else}}
authenticator: AllowAllAuthenticator
authorizer: AllowAllAuthorizer
{{- end}}
role_manager: CassandraRoleManager
data_file_directories: ['{{.DataDir}}/data']
commitlog_directory: '{{.DataDir}}/commitlog'
saved_caches_directory: '{{.DataDir}}/saved_caches'
hints_directory: '{{.DataDir}}/hints'
cdc_raw_directory: '{{.DataDir}}/cdc'
prepared_statements_cache_size: 32MiB
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
file_cache_size: 32MiB
materialized_views_enabled: true
user_defined_functions_enabled: true
auto_snapshot: false
{{range .Settings}}{{.}}
{{end}}`))

// rackdc is cassandra-rackdc.properties: the place of a node.
func (l layout) rackdc() string { return "dc=" + l.Datacenter + "\nrack=" + l.Rack + "\n" }

var logback = template.Must(template.New("logback.xml").Parse(`<configuration>
  <appender name="FILE" class="ch.qos.logback.core.FileAppender">
    <file>{{.Dir}}/system.log</file>
    <encoder><pattern>%-5level %date{HH:mm:ss.SSS} %msg%n</pattern></encoder>
  </appender>
  <logger name="org.apache.cassandra.service" level="INFO"/>
  <root level="WARN"><appender-ref ref="FILE"/></root>
</configuration>
`))

// Cassandra 5.0 uses these internal packages of the JDK (its own conf/jvm17-server.options).
const (
	exports = `java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch
		java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server
		java.sql/java.sql java.base/java.lang.ref java.base/java.lang.reflect jdk.unsupported/sun.misc
		jdk.compiler/com.sun.tools.javac.file`
	opens = `java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref
		java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module
		java.base/jdk.internal.util.jar java.base/sun.nio.ch java.base/java.io java.base/java.nio
		java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
		java.base/java.lang java.base/java.math java.base/java.lang.reflect java.base/java.net
		jdk.management/com.sun.management.internal java.rmi/sun.rmi.transport.tcp`
)

// storage returns the address for other nodes.
func (l layout) storage() string { return fmt.Sprintf("%s:%d", l.Address, l.Storage) }

func (l layout) ringDelay() int {
	if l.Seed == l.storage() {
		return 100
	}
	return 5000
}

// arguments returns the arguments of the java command.
func (l layout) arguments() []string {
	args := []string{
		fmt.Sprintf("-Xms%dM", l.HeapMB), fmt.Sprintf("-Xmx%dM", l.HeapMB),
		"-Xss512k", "-XX:+UseG1GC", "-XX:MaxDirectMemorySize=512m",
		"-Djdk.attach.allowAttachSelf=true", "-Djava.security.manager=allow",
		"-Djava.net.preferIPv4Stack=true", "-Djava.awt.headless=true", "-Dfile.encoding=UTF-8",
		// Cassandra reads timestamp literals without a zone in the server's zone.
		"-Duser.timezone=UTC",
	}
	for _, p := range strings.Fields(exports) {
		args = append(args, "--add-exports", p+"=ALL-UNNAMED")
	}
	for _, p := range strings.Fields(opens) {
		args = append(args, "--add-opens", p+"=ALL-UNNAMED")
	}
	return append(args,
		"-javaagent:"+l.Lib+"/jamm-0.4.0.jar",
		"-Dcassandra.config=file://"+l.ConfigDir+"/cassandra.yaml",
		"-Dlogback.configurationFile="+l.ConfigDir+"/logback.xml",
		"-Dcassandra.storagedir="+l.DataDir,
		"-Dcassandra.logdir="+l.Dir,
		"-Dcassandra.triggers_dir="+l.ConfigDir+"/triggers",
		"-Dcassandra-foreground=yes",
		fmt.Sprintf("-Dcassandra.jmx.local.port=%d", l.JMX),
		// Start and DDL take a second instead of thirty, because a single node has nothing to wait
		// for. A node that joins others needs the full wait for their first gossip.
		"-Dcassandra.skip_wait_for_gossip_to_settle=0",
		fmt.Sprintf("-Dcassandra.ring_delay_ms=%d", l.ringDelay()),
		"-Dcassandra.superuser_setup_delay_ms=0",
		// Without the flush, a node that is killed does not know its tables when it replays its log.
		fmt.Sprintf("-Dcassandra.test.flush_local_schema_changes=%t", l.Durable),
		"-cp", l.ConfigDir+":"+l.Lib+"/*",
		"org.apache.cassandra.service.CassandraDaemon",
	)
}
