package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// configFile is what --config may hold: serve's flags by their names. What the
// command line says goes before it.
type configFile struct {
	ListenCQL              string   `yaml:"listen-cql"`
	ListenHTTP             string   `yaml:"listen-http"`
	Advertise              string   `yaml:"advertise"`
	Data                   string   `yaml:"data"`
	TLSCert                string   `yaml:"tls-cert"`
	TLSKey                 string   `yaml:"tls-key"`
	Cassandra              []string `yaml:"cassandra"`
	CassandraUser          string   `yaml:"cassandra-user"`
	CassandraPasswordFile  string   `yaml:"cassandra-password-file"`
	CassandraConnections   int      `yaml:"cassandra-connections"`
	CassandraTLS           bool     `yaml:"cassandra-tls"`
	CassandraTLSCA         string   `yaml:"cassandra-tls-ca"`
	CassandraTLSCert       string   `yaml:"cassandra-tls-cert"`
	CassandraTLSKey        string   `yaml:"cassandra-tls-key"`
	CassandraTLSServerName string   `yaml:"cassandra-tls-server-name"`
	CassandraTLSInsecure   bool     `yaml:"cassandra-tls-insecure"`
	Drain                  string   `yaml:"drain"`
	LogLevel               string   `yaml:"log-level"`
}

// loadConfig reads a configuration file for kong. Unknown keys and wrong types
// are errors with line and column.
func loadConfig(r io.Reader) (kong.Resolver, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var c configFile
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("configuration file: %s", strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	values := make(map[string]any)
	if err := yaml.Unmarshal(text, &values); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		v, ok := values[flag.Name]
		if !ok || v == nil {
			return nil, nil
		}
		if list, ok := v.([]any); ok {
			parts := make([]string, len(list))
			for i, e := range list {
				parts[i] = fmt.Sprint(e)
			}
			return strings.Join(parts, ","), nil
		}
		return fmt.Sprint(v), nil
	}), nil
}
