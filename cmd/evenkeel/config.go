// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// configFile lists the keys that the file of --config may have: the flags of serve, by name. A
// flag on the command line overrides the file.
type configFile struct {
	ListenCQL              string   `yaml:"listen-cql"`
	ListenDynamoDB         string   `yaml:"listen-dynamodb"`
	ListenHTTP             string   `yaml:"listen-http"`
	Advertise              string   `yaml:"advertise"`
	DriverRouting          string   `yaml:"driver-routing"`
	Data                   string   `yaml:"data"`
	StoreOnly              bool     `yaml:"store-only"`
	Memory                 string   `yaml:"memory"`
	RequestTimeout         string   `yaml:"request-timeout"`
	TLSCert                string   `yaml:"tls-cert"`
	TLSKey                 string   `yaml:"tls-key"`
	Cassandra              sequence `yaml:"cassandra"`
	CassandraUser          string   `yaml:"cassandra-user"`
	CassandraPasswordFile  string   `yaml:"cassandra-password-file"`
	CassandraConnections   int      `yaml:"cassandra-connections"`
	CassandraInFlight      int      `yaml:"cassandra-in-flight"`
	CassandraRouting       string   `yaml:"cassandra-routing"`
	LocalDC                string   `yaml:"local-dc"`
	Rack                   string   `yaml:"rack"`
	Hedge                  string   `yaml:"hedge"`
	CassandraTLS           bool     `yaml:"cassandra-tls"`
	CassandraTLSCA         string   `yaml:"cassandra-tls-ca"`
	CassandraTLSCert       string   `yaml:"cassandra-tls-cert"`
	CassandraTLSKey        string   `yaml:"cassandra-tls-key"`
	CassandraTLSServerName string   `yaml:"cassandra-tls-server-name"`
	CassandraTLSInsecure   bool     `yaml:"cassandra-tls-insecure"`
	DynamoDB               string   `yaml:"dynamodb"`
	DynamoDBRegion         string   `yaml:"dynamodb-region"`
	DynamoDBProfile        string   `yaml:"dynamodb-profile"`
	DynamoDBSharding       string   `yaml:"dynamodb-sharding"`
	AccessKeys             string   `yaml:"access-keys"`
	Capacity               sequence `yaml:"capacity"`
	CapacitySplitAfter     string   `yaml:"capacity-split-after"`
	IndexLag               string   `yaml:"index-lag"`
	Cache                  string   `yaml:"cache"`
	CacheTTL               string   `yaml:"cache-ttl"`
	QueryCacheTTL          string   `yaml:"query-cache-ttl"`
	ShowKeys               bool     `yaml:"show-keys"`
	OTLPEndpoint           string   `yaml:"otlp-endpoint"`
	OTLPSample             float64  `yaml:"otlp-sample"`
	ShardRules             any      `yaml:"shard-rules"`
	ShardRulesReplace      bool     `yaml:"shard-rules-replace"`
	Drain                  string   `yaml:"drain"`
	LogLevel               string   `yaml:"log-level"`
}

// sequence is a list of values. The file may write it as a YAML list, or as one text with commas,
// as on the command line.
type sequence []string

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (s *sequence) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*s = strings.Split(one, ",")
		return nil
	}
	return unmarshal((*[]string)(s))
}

// loadConfig reads a configuration file for kong. Unknown keys and wrong values are
// errors with line and column.
func loadConfig(r io.Reader) (kong.Resolver, error) {
	what := "configuration file"
	if f, ok := r.(*os.File); ok {
		what += " " + f.Name()
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	var c configFile
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", what, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	values := make(map[string]any)
	if err := yaml.Unmarshal(text, &values); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	places := positions(text)
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		v, ok := values[flag.Name]
		if !ok || v == nil {
			return nil, nil
		}
		s := fmt.Sprint(v)
		if f, ok := r.(*os.File); ok && flag.Name == "shard-rules" {
			if _, inside := v.(map[string]any); inside {
				return f.Name(), nil // kong gets the file's name; the rules are read from that file
			}
		}
		if list, ok := v.([]any); ok {
			parts := make([]string, len(list))
			for i, e := range list {
				parts[i] = fmt.Sprint(e)
			}
			s = strings.Join(parts, ",")
		}
		if err := check(flag, s); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", what, places[flag.Name], flag.Name, err)
		}
		return s, nil
	}), nil
}

// positions returns where each key's value stands in a file, as [line:column].
func positions(text []byte) map[string]string {
	at := make(map[string]string)
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return at // unreachable: the text has been parsed once already
	}
	for _, doc := range file.Docs {
		entries, ok := doc.Body.(ast.MapNode)
		if !ok {
			continue
		}
		for it := entries.MapRange(); it.Next(); {
			p := it.Value().GetToken().Position
			at[it.Key().String()] = fmt.Sprintf("[%d:%d]", p.Line, p.Column)
		}
	}
	return at
}

// check returns the error that kong would report for a flag's value.
func check(flag *kong.Flag, value string) error {
	scan := kong.Scan().PushTyped(value, kong.FlagValueToken)
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, reflect.New(flag.Target.Type()).Elem()); err != nil {
		return err
	}
	if flag.Enum != "" && !flag.EnumMap()[value] {
		return fmt.Errorf("must be one of %s, not %q", strings.Join(flag.EnumSlice(), ", "), value)
	}
	return nil
}
