// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
	"github.com/evenkeel/evenkeel/workbench/livetable"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// Options says how to read. The zero value reads as fast as it can, but takes only half of the read
// units of a provisioned table.
type Options struct {
	Rate     float64       // the most items read per second; 0: no limit
	Units    float64       // the most read units per second; 0: half of the provisioned ones, no limit on demand
	Timeout  time.Duration // of a request; 0: 20 s
	Attempts int           // of a request that is throttled or lost; 0: 10
}

// Table is a table, open for reading. It is safe for several goroutines.
type Table struct {
	at     Address
	client *dynamodb.Client
	idle   func() // closes idle connections
	// patient has no time limit, for requests whose answers need the whole table.
	patient *http.Client
	table   Description
	items   livetable.Limiter
	units   livetable.Limiter
}

// Key is an attribute of a key.
type Key struct {
	Name string
	Kind string // S, N or B
}

// Index is a secondary index.
type Index struct {
	Name       string
	Local      bool
	Partition  []Key
	Sort       []Key
	Projection string
	Items      int64
	Bytes      int64
}

// Description holds what the store says about a table.
type Description struct {
	Name           string
	ID             string // of the table: a table of the same name with another id is another table
	Partition      Key
	Sort           *Key // nil: none
	Indexes        []Index
	OnDemand       bool
	ReadUnits      int64 // provisioned
	WriteUnits     int64
	WarmReads      int64 // warm throughput, if the store reports it
	WarmWrites     int64
	Items          int64 // some hours old
	Bytes          int64
	Layout         *shard.Layout // of write-sharding, from its tag; nil: none
	Sharding       string        // the tag
	ShardedIndexes map[string]string
}

// Sharded reports whether an evenkeel door spreads the table's partition keys.
func (d *Description) Sharded() bool {
	return d.Layout != nil && (d.Layout.N > 1 || d.Layout.Strategy == shard.Time || d.Layout.Strategy == shard.Rollover)
}

// Open finds credentials, and reads the table's description.
func Open(ctx context.Context, a Address, o Options) (*Table, error) {
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Attempts == 0 {
		o.Attempts = 10
	}
	cfg, err := load(ctx, a)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &livetable.Error{At: a.String(), Err: err, Hint: "check AWS_PROFILE, AWS_CONFIG_FILE and what they name"}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 16, ForceAttemptHTTP2: true}
	cfg.HTTPClient = &http.Client{Timeout: o.Timeout, Transport: transport}
	t := &Table{at: a, items: livetable.Limiter{Rate: o.Rate}, idle: transport.CloseIdleConnections, patient: &http.Client{Transport: transport}}
	client := func(attempts int) *dynamodb.Client {
		return dynamodb.NewFromConfig(cfg, func(d *dynamodb.Options) {
			if a.Endpoint != "" {
				d.BaseEndpoint = aws.String(a.Endpoint)
			}
			d.EnableAcceptEncodingGzip = true
			d.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
				r.MaxAttempts, r.MaxBackoff, r.RateLimiter = attempts, 5*time.Second, ratelimit.None
				r.Retryables = append(r.Retryables, retry.IsErrorRetryableFunc(brokenOff))
			})
		})
	}
	// Few attempts find out quickly whether a store answers. Later requests are tried more often.
	t.client = client(2)
	if err := t.describe(ctx); err != nil {
		return nil, err
	}
	t.client = client(o.Attempts)
	if t.units.Rate = o.Units; o.Units == 0 && !t.table.OnDemand {
		t.units.Rate = math.Max(1, float64(t.table.ReadUnits)/2)
	}
	return t, nil
}

// brokenOff reports whether the SDK itself closed the connection under an answer: after an answer's
// header it closes the request's body, which the connection may still be reading (aws-sdk-go-v2,
// issue 2737). The SDK does not repeat such a request by itself, because it may have been a write.
func brokenOff(err error) aws.Ternary {
	if errors.Is(err, net.ErrClosed) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// load finds region and credentials. For the user's own endpoint there is no role of a machine to
// ask for; it uses made-up credentials if there are none.
func load(ctx context.Context, a Address) (aws.Config, error) {
	var o []func(*config.LoadOptions) error
	if a.Region != "" {
		o = append(o, config.WithRegion(a.Region))
	} else {
		o = append(o, config.WithDefaultRegion("us-east-1"), config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	cfg, err := config.LoadDefaultConfig(ctx, o...)
	if err != nil || a.Endpoint == "" {
		return cfg, err
	}
	if cfg.Credentials == nil {
		cfg.Credentials = credentials.NewStaticCredentialsProvider("evenkeel", "evenkeel", "")
	} else if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		cfg.Credentials = credentials.NewStaticCredentialsProvider("evenkeel", "evenkeel", "")
	}
	return cfg, nil
}

// describe reads the table's description.
func (t *Table) describe(ctx context.Context) error {
	out, err := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.at.Table})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return &livetable.Error{At: t.at.Host(), Err: fmt.Errorf("there is no table %s", t.at.Table), Hint: t.nearest(ctx)}
	}
	if err != nil {
		return t.at.explain(err)
	}
	if out.Table == nil {
		return &livetable.Error{At: t.at.Host(), Err: errors.New("what listens there is no DynamoDB"), Hint: "is this the port of the DynamoDB API (8000 mostly)?"}
	}
	d, err := description(out.Table)
	if err != nil {
		return &livetable.Error{At: "table " + t.at.Table, Err: err}
	}
	if out.Table.TableArn != nil {
		// Stores without tags have no sharded tables. A user who may not read tags sees none
		// either.
		if tags, err := t.client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: out.Table.TableArn}); err == nil {
			d.tags(tags.Tags)
		}
	}
	t.table = *d
	return ctx.Err()
}

// Same returns an error if the table is no longer the one that was opened.
func (t *Table) Same(ctx context.Context) error {
	out, err := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.at.Table})
	if err != nil {
		return t.at.explain(err)
	}
	if d, err := description(out.Table); err != nil || d.ID != t.table.ID {
		return livetable.Dropped("table " + t.at.Table)
	}
	return nil
}

// nearest returns a hint with the existing tables.
func (t *Table) nearest(ctx context.Context) string {
	var names []string
	pages := dynamodb.NewListTablesPaginator(t.client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() && len(names) < 1000 {
		page, err := pages.NextPage(ctx)
		if err != nil {
			break // the names known so far must do
		}
		names = append(names, page.TableNames...)
	}
	if len(names) == 0 {
		return "there are no tables, or none that may be listed; is it the right region and account?"
	}
	hint := ""
	if near := rows.Nearest(t.at.Table, names); near != "" {
		hint = "did you mean " + near + "? "
	}
	const most = 20
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return hint + "the tables are " + strings.Join(names, ", ") + more
}

// description reads the answer of DescribeTable.
func description(d *types.TableDescription) (*Description, error) {
	if d == nil {
		return nil, errors.New("it is not described")
	}
	kinds := make(map[string]string)
	for _, a := range d.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	keys := func(schema []types.KeySchemaElement) (partition, sort []Key) {
		for _, k := range schema {
			key := Key{aws.ToString(k.AttributeName), kinds[aws.ToString(k.AttributeName)]}
			if k.KeyType == types.KeyTypeHash {
				partition = append(partition, key)
			} else {
				sort = append(sort, key)
			}
		}
		return partition, sort
	}
	out := &Description{Name: aws.ToString(d.TableName), ID: aws.ToString(d.TableId), Items: aws.ToInt64(d.ItemCount), Bytes: aws.ToInt64(d.TableSizeBytes)}
	if out.ID == "" && d.CreationDateTime != nil {
		out.ID = d.CreationDateTime.UTC().Format(time.RFC3339Nano)
	}
	partition, sort := keys(d.KeySchema)
	if len(partition) != 1 || len(sort) > 1 {
		return nil, fmt.Errorf("its key has %d and %d attributes", len(partition), len(sort))
	}
	out.Partition = partition[0]
	if len(sort) == 1 {
		out.Sort = &sort[0]
	}
	out.OnDemand = d.BillingModeSummary != nil && d.BillingModeSummary.BillingMode == types.BillingModePayPerRequest
	if p := d.ProvisionedThroughput; p != nil && !out.OnDemand {
		out.ReadUnits, out.WriteUnits = aws.ToInt64(p.ReadCapacityUnits), aws.ToInt64(p.WriteCapacityUnits)
		out.OnDemand = out.ReadUnits == 0 && out.WriteUnits == 0
	}
	if w := d.WarmThroughput; w != nil {
		out.WarmReads, out.WarmWrites = aws.ToInt64(w.ReadUnitsPerSecond), aws.ToInt64(w.WriteUnitsPerSecond)
	}
	for _, ix := range d.GlobalSecondaryIndexes {
		p, s := keys(ix.KeySchema)
		out.Indexes = append(out.Indexes, Index{Name: aws.ToString(ix.IndexName), Partition: p, Sort: s, Projection: projection(ix.Projection), Items: aws.ToInt64(ix.ItemCount), Bytes: aws.ToInt64(ix.IndexSizeBytes)})
	}
	for _, ix := range d.LocalSecondaryIndexes {
		p, s := keys(ix.KeySchema)
		out.Indexes = append(out.Indexes, Index{Name: aws.ToString(ix.IndexName), Local: true, Partition: p, Sort: s, Projection: projection(ix.Projection), Items: aws.ToInt64(ix.ItemCount), Bytes: aws.ToInt64(ix.IndexSizeBytes)})
	}
	slices.SortFunc(out.Indexes, func(a, b Index) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func projection(p *types.Projection) string {
	if p == nil {
		return ""
	}
	text := string(p.ProjectionType)
	if len(p.NonKeyAttributes) > 0 {
		text += " " + strings.Join(p.NonKeyAttributes, ", ")
	}
	return text
}

// tags reads evenkeel's tags.
func (d *Description) tags(tags []types.Tag) {
	for _, tag := range tags {
		key, v := aws.ToString(tag.Key), aws.ToString(tag.Value)
		if name, ok := strings.CutPrefix(key, "write-sharding.index."); ok {
			if d.ShardedIndexes == nil {
				d.ShardedIndexes = make(map[string]string)
			}
			d.ShardedIndexes[name] = v
			continue
		}
		if key != "write-sharding" {
			continue
		}
		if l, err := layoutOf(v); err == nil {
			d.Sharding, d.Layout = v, l
		}
	}
}

// layoutOf returns the layout that a tag's value declares.
func layoutOf(tag string) (*shard.Layout, error) {
	options := make(map[string]string)
	var numbers timebucket.Kind
	for _, word := range strings.Fields(tag) {
		switch name, value, _ := strings.Cut(word, "="); {
		case name == "strategy" || name == "shards" || name == "hash" || name == "bucket" || name == "rows" || name == "max":
			options[name] = value
		case word == "unit=seconds":
			numbers = timebucket.Seconds
		case word == "unit=milliseconds":
			numbers = timebucket.Milliseconds
		}
	}
	if options["strategy"] == shard.Time.String() {
		options["by"] = `"sort key"`
	}
	l, err := shard.Parse(options)
	if err == nil {
		l.Numbers = numbers
	}
	return l, err
}

// Close closes the connections.
func (t *Table) Close() { t.idle() }

// Address returns the table's address.
func (t *Table) Address() Address { return t.at }

// Table returns what the store says about the table.
func (t *Table) Table() Description { return t.table }

// Units returns the most read units per second that the reader takes; 0: no limit.
func (t *Table) Units() float64 { return t.units.Rate }
