// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// Options says how to connect and read. The zero value connects without password and TLS, and reads
// without a limit.
type Options struct {
	Password string        // of Address.User
	TLS      *tls.Config   // nil: no TLS
	Timeout  time.Duration // of a request; 0: 12 s, more than the store's own
	Patience time.Duration // how long a failing page is requested again; 0: 15 s, in which a node can restart
	Rate     float64       // the most rows read per second; 0: no limit
}

const (
	connectTimeout = 8 * time.Second
	readTimeout    = 12 * time.Second // more than the store's own for a range, 10 s by default
	patience       = 15 * time.Second
)

// Table is a table of a store, open for reading. It is safe for several goroutines.
type Table struct {
	at       Address
	session  *gocql.Session
	keyspace *schema.Keyspace
	schema   *schema.Table
	limit    livetable.Limiter
	patience time.Duration
}

// Open connects and reads the table's schema.
func Open(ctx context.Context, a Address, o Options) (*Table, error) {
	if o.Timeout == 0 {
		o.Timeout = readTimeout
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	c := gocql.NewCluster(a.Hosts...)
	c.Timeout, c.ConnectTimeout = o.Timeout, connectTimeout
	c.Consistency = gocql.LocalOne
	c.NumConns = 1
	c.DefaultIdempotence = true
	c.ReconnectInterval = time.Second
	c.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: 100 * time.Millisecond}
	c.PoolConfig.HostSelectionPolicy = gocql.RoundRobinHostPolicy()
	c.Events.DisableSchemaEvents = true
	c.Metadata.CacheMode = gocql.Disabled
	c.Logger = silent{}
	if a.User != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: a.User, Password: o.Password}
	}
	if o.TLS != nil {
		secured := o.TLS.Clone()
		if host, _, err := net.SplitHostPort(a.Hosts[0]); err == nil && secured.ServerName == "" {
			secured.ServerName = host
		}
		c.SslOpts = &gocql.SslOptions{Config: secured, EnableHostVerification: !secured.InsecureSkipVerify}
	}
	session, err := connect(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, connecting(a, err, o.TLS != nil)
	}
	t := &Table{at: a, session: session, limit: livetable.Limiter{Rate: o.Rate}, patience: o.Patience}
	if err := t.describe(ctx); err != nil {
		session.Close()
		return nil, err
	}
	return t, nil
}

// connect waits for a session. The driver makes it without a context.
func connect(ctx context.Context, c *gocql.ClusterConfig) (*gocql.Session, error) {
	type result struct {
		session *gocql.Session
		err     error
	}
	made := make(chan result, 1)
	go func() {
		s, err := c.CreateSession()
		made <- result{s, err}
	}()
	select {
	case r := <-made:
		return r.session, r.err
	case <-ctx.Done():
		go func() {
			if r := <-made; r.err == nil {
				r.session.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// silent drops the driver's log: important events come as errors.
type silent struct{}

func (silent) Error(string, ...gocql.LogField)   {}
func (silent) Warning(string, ...gocql.LogField) {}
func (silent) Info(string, ...gocql.LogField)    {}
func (silent) Debug(string, ...gocql.LogField)   {}

// describe reads the schema.
func (t *Table) describe(ctx context.Context) error {
	s, err := catalog.Schema(ctx, system{t.session}, t.at.Keyspace)
	if err != nil {
		return t.reading(err)
	}
	t.keyspace = s.Keyspaces[t.at.Keyspace]
	if t.keyspace == nil {
		all, err := t.Query(ctx, "SELECT keyspace_name FROM system_schema.keyspaces")
		if err != nil {
			return err
		}
		var names []string
		for _, r := range all {
			names = append(names, string(r["keyspace_name"]))
		}
		return &livetable.Error{At: strings.Join(t.at.Hosts, ", "), Err: fmt.Errorf("there is no keyspace %s", Identifier(t.at.Keyspace)), Hint: nearest(t.at.Keyspace, names, "keyspaces")}
	}
	t.schema = t.keyspace.Tables[t.at.Table]
	if t.schema == nil {
		var names []string
		for n := range t.keyspace.Tables {
			names = append(names, n)
		}
		return &livetable.Error{At: "keyspace " + Identifier(t.at.Keyspace), Err: fmt.Errorf("there is no table %s", Identifier(t.at.Table)), Hint: nearest(t.at.Table, names, "tables")}
	}
	return nil
}

// nearest returns a hint with the existing names.
func nearest(name string, names []string, what string) string {
	own := names[:0:0]
	for _, n := range names {
		if !strings.HasPrefix(n, "system") || strings.HasPrefix(name, "system") {
			own = append(own, Identifier(n))
		}
	}
	if len(own) == 0 {
		return "there are no " + what + " but the store's own"
	}
	hint := ""
	if near := rows.Nearest(name, own); near != "" {
		hint = "did you mean " + near + "? "
	}
	const most = 20
	more := ""
	if len(own) > most {
		own, more = own[:most], fmt.Sprintf(" and %d more", len(own)-most)
	}
	return hint + "the " + what + " are " + strings.Join(own, ", ") + more
}

// Close closes the connections.
func (t *Table) Close() { t.session.Close() }

// Address returns the table's address.
func (t *Table) Address() Address { return t.at }

// Schema returns the table's columns and options. Through an evenkeel door it is the logical table.
func (t *Table) Schema() *schema.Table { return t.schema }

// Keyspace returns the table's keyspace, with its replication.
func (t *Table) Keyspace() *schema.Keyspace { return t.keyspace }

// Sharding returns write_sharding as an evenkeel door shows it; "": the table is not sharded, or
// this is no door.
func (t *Table) Sharding() string {
	ext, _ := t.schema.Options["extensions"].(map[string][]byte)
	return string(ext[catalog.Property])
}

var bucket = regexp.MustCompile(`'bucket': '([^']+)'`)

// BucketOf returns the length of the buckets into which a layout of strategy time divides
// partitions; "" for other layouts.
func BucketOf(layout string) string {
	if m := bucket.FindStringSubmatch(layout); m != nil {
		return m[1]
	}
	return ""
}

// ranges matches the numbers of shards in write_sharding: those of keys in general, and of epochs.
var (
	ranges = regexp.MustCompile(`'shards': '([0-9]+)'|([0-9]+)(?:@([0-9]+))? from `)
	base   = regexp.MustCompile(`'base': '([0-9]+)'`)
)

// Shards returns the highest shard number of the table through an evenkeel door, without keys that
// have their own entry; 0: it has no shards, or this is no door.
func (t *Table) Shards() int { return highest(t.Sharding()) }

func highest(sharding string) int {
	number := func(digits string) int {
		n, _ := strconv.Atoi(digits) // digits, or nothing
		return n
	}
	first, last := 0, 0
	if m := base.FindStringSubmatch(sharding); m != nil {
		first = number(m[1])
	}
	for _, m := range ranges.FindAllStringSubmatch(sharding, -1) {
		if m[1] != "" {
			last = max(last, first+number(m[1]))
		} else {
			last = max(last, number(m[2])+number(m[3]))
		}
	}
	return last
}

// system reads system tables for package catalog.
type system struct{ session *gocql.Session }

// Query implements catalog.Session.
func (s system) Query(ctx context.Context, _ wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	return s.query(ctx, "", cql, values...)
}

// query asks the node with that id; "": any node.
func (s system) query(ctx context.Context, hostID, cql string, values ...[]byte) ([]catalog.Row, error) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	var out []catalog.Row
	var state []byte
	for {
		q := s.session.Query(cql, args...).Consistency(gocql.One).PageSize(1000).PageState(state)
		if hostID != "" {
			q.SetHostID(hostID)
		}
		iter := q.IterContext(ctx)
		columns := iter.Columns()
		cells, dest := destinations(columns)
		for iter.Scan(dest...) {
			row := make(catalog.Row, len(columns))
			gather(columns, cells, func(i int, v []byte) {
				if v != nil {
					row[columns[i].Name] = append([]byte{}, v...)
				}
			})
			out = append(out, row)
		}
		state = append([]byte(nil), iter.PageState()...)
		if err := iter.Close(); err != nil {
			return nil, err
		}
		if len(state) == 0 {
			return out, nil
		}
	}
}

// Query runs a SELECT on one of the store's own tables. It returns the rows with serialized cells,
// by column; null cells are absent.
func (t *Table) Query(ctx context.Context, cql string, values ...[]byte) ([]catalog.Row, error) {
	all, err := system{t.session}.Query(ctx, wire.One, cql, values...)
	if err != nil {
		return nil, t.reading(err)
	}
	return all, nil
}
