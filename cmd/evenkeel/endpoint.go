// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/remote"
)

// endpointFlags are the flags of serve for the store behind the DynamoDB door and for the rights
// of its clients there.
type endpointFlags struct {
	DynamoDB         string `name:"dynamodb" placeholder:"URL" help:"DynamoDB endpoint to serve, such as https://dynamodb.eu-west-1.amazonaws.com; without it the door serves the embedded engine."`
	DynamoDBRegion   string `name:"dynamodb-region" placeholder:"REGION" help:"Region for which the door signs requests to the endpoint; by default the URL's, or the AWS configuration's."`
	DynamoDBProfile  string `name:"dynamodb-profile" placeholder:"NAME" help:"Profile of the AWS configuration with the door's own credentials; AWS_PROFILE, or the default chain, by default."`
	DynamoDBSharding string `name:"dynamodb-sharding" enum:"on,off" default:"on" help:"'off' serves the embedded engine's tables as any endpoint does, so that other doors can be in front of it (${default})."`
	AccessKeys       string `placeholder:"FILE" help:"YAML file of the access keys that clients of the DynamoDB door sign with; without it the door accepts any signature, but only on this machine."`
}

// endpointLease is how long a door may use what it has read of a table, which other doors may
// change. All doors of an endpoint use the same value.
const endpointLease = 2 * time.Second

// withoutDynamoDB says whether serve has no DynamoDB door.
func (s *serveCmd) withoutDynamoDB() bool {
	return s.ListenDynamoDB == "off" || s.ListenDynamoDB == "" && len(s.Cassandra) > 0 && s.DynamoDB == ""
}

// checkEndpoint returns an error if the endpoint flags are wrong or contradict each other.
func (s *serveCmd) checkEndpoint() error {
	if s.DynamoDB == "" {
		for flag, set := range map[string]bool{"--dynamodb-region": s.DynamoDBRegion != "", "--dynamodb-profile": s.DynamoDBProfile != ""} {
			if set {
				return withHint(fmt.Errorf("%s is given without an endpoint", flag), "--dynamodb URL says which")
			}
		}
	} else if at, err := remote.ParseEndpoint(s.DynamoDB); err != nil {
		return fmt.Errorf("--dynamodb: %w", err)
	} else if at.Region != "" && s.DynamoDBRegion != "" && at.Region != s.DynamoDBRegion {
		return withHint(fmt.Errorf("--dynamodb-region %s: %s is in region %s, and accepts only requests that are signed for that region", s.DynamoDBRegion, at, at.Region),
			"leave --dynamodb-region out, or name the endpoint of %s", s.DynamoDBRegion)
	}
	switch {
	case s.withoutDynamoDB() && (s.DynamoDB != "" || s.AccessKeys != ""):
		return withHint(errors.New("--dynamodb or --access-keys is given, but there is no DynamoDB door"), "--listen-dynamodb ADDR opens one")
	case s.DynamoDB != "" && s.DynamoDBSharding == "off":
		return withHint(errors.New("--dynamodb-sharding off is for the embedded engine: in front of an endpoint the door would do nothing"), "use the endpoint itself")
	}
	return nil
}

// checkReach refuses to listen for other machines if clients need no access key.
func (s *serveCmd) checkReach(at net.Addr) error {
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsLoopback() || s.AccessKeys != "" {
		return nil
	}
	why := "the engine accepts any signature"
	if s.DynamoDB != "" {
		why = "every client has the rights of the door's own credentials"
	}
	return withHint(fmt.Errorf("--listen-dynamodb %s: without access keys %s, so the door may listen on this machine only", at, why),
		"listen on 127.0.0.1 or [::1], or name the keys that clients sign with: --access-keys FILE")
}

// accessKeys reads the file of --access-keys. It returns nil if the flag is not given.
func (s *serveCmd) accessKeys() (*accesskey.Keys, error) {
	if s.AccessKeys == "" {
		return nil, nil
	}
	keys, err := accesskey.Load(s.AccessKeys, s.DynamoDB != "")
	if err != nil {
		return nil, fmt.Errorf("--access-keys: %w", err)
	}
	return keys, nil
}

// endpoint is the store behind the door.
type endpoint struct {
	*remote.Store
	region string
	what   string // tells the user whose rights clients have
}

// openEndpoint makes the store of --dynamodb. It sends no request yet.
func (s *serveCmd) openEndpoint(ctx context.Context, keys *accesskey.Keys, log *slog.Logger) (*endpoint, error) {
	at, err := remote.ParseEndpoint(s.DynamoDB)
	if err != nil {
		return nil, fmt.Errorf("--dynamodb: %w", err)
	}
	load := func(profile string) (aws.Config, error) {
		var o []func(*config.LoadOptions) error
		if profile != "" {
			o = append(o, config.WithSharedConfigProfile(profile))
		}
		if at.OnThisMachine() {
			o = append(o, config.WithEC2IMDSClientEnableState(imds.ClientDisabled)) // waiting for a missing IMDS would take seconds
		}
		return config.LoadDefaultConfig(ctx, o...)
	}
	own, err := load(s.DynamoDBProfile)
	bundle := os.Getenv("AWS_CA_BUNDLE")
	switch {
	case err != nil && (strings.Contains(err.Error(), "CA bundle") || bundle != "" && strings.Contains(err.Error(), bundle)):
		return nil, withHint(fmt.Errorf("the AWS configuration: %w", err), "check AWS_CA_BUNDLE, and ca_bundle in ~/.aws/config: a file of certificates in PEM")
	case err != nil:
		return nil, withHint(fmt.Errorf("the AWS configuration: %w", err), "check --dynamodb-profile, AWS_PROFILE and ~/.aws/config")
	}
	e := &endpoint{region: firstOf(s.DynamoDBRegion, at.Region, own.Region, "us-east-1")}
	who, err := own.Credentials.Retrieve(ctx)
	switch {
	case err == nil:
		e.what = fmt.Sprintf("the door's own credentials (%s, from %s)", who.AccessKeyID, who.Source)
	case at.OnThisMachine():
		own.Credentials = credentials.NewStaticCredentialsProvider("evenkeel", "evenkeel", "")
		e.what = "credentials that are made up: none are configured, and an endpoint on this machine may take any"
	default:
		return nil, withHint(fmt.Errorf("the door has no credentials for %s: %w", at, err), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile: --dynamodb-profile NAME")
	}
	own.Region = e.region
	if at.URL.Scheme == "http" && !at.OnThisMachine() {
		log.Warn("requests to the DynamoDB endpoint and its answers are not encrypted: its URL begins with http://", "endpoint", at.String())
	}
	o := remote.Options{Endpoint: at, Region: e.region, Credentials: own.Credentials, Roots: roots(own), Log: log}
	if keys != nil {
		providers, err := s.providers(ctx, keys, own, load)
		if err != nil {
			return nil, err
		}
		o.Of = func(p principal.Principal) aws.CredentialsProvider { return providers[p.ID] }
		e.what = fmt.Sprintf("%s, each with its own rights; the catalogue is read with %s", countKeys(keys), e.what)
	} else {
		e.what = "every client has the rights of " + e.what
	}
	if e.Store, err = remote.New(o); err != nil {
		return nil, err
	}
	return e, nil
}

// roots returns the certificates that the AWS configuration trusts (AWS_CA_BUNDLE, or ca_bundle
// of a profile). nil means the system's certificates.
func roots(c aws.Config) *x509.CertPool {
	client, ok := c.HTTPClient.(*awshttp.BuildableClient)
	if !ok || client.GetTransport().TLSClientConfig == nil {
		return nil
	}
	return client.GetTransport().TLSClientConfig.RootCAs
}

func countKeys(keys *accesskey.Keys) string {
	if n := len(keys.All()); n != 1 {
		return fmt.Sprintf("%d access keys", n)
	}
	return "1 access key"
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// providers returns the credentials at the endpoint for each access key. It asks for each
// credential once, so that a wrong name fails at the start.
func (s *serveCmd) providers(ctx context.Context, keys *accesskey.Keys, own aws.Config, load func(profile string) (aws.Config, error)) (map[string]aws.CredentialsProvider, error) {
	all := make(map[string]aws.CredentialsProvider)
	for _, key := range keys.All() {
		p := own.Credentials
		switch {
		case key.Profile != "":
			c, err := load(key.Profile)
			if err != nil {
				return nil, withHint(fmt.Errorf("--access-keys: %s: profile %s: %w", key.ID, key.Profile, err), "check ~/.aws/config and ~/.aws/credentials")
			}
			p = c.Credentials
		case key.Role != "":
			p = assumeRole(sts.NewFromConfig(own), key.Role, key.ID)
		}
		if _, err := p.Retrieve(ctx); err != nil {
			what := strings.TrimPrefix(err.Error(), "failed to refresh cached credentials, ")
			return nil, withHint(fmt.Errorf("--access-keys: %s: its credentials at the endpoint: %s", key.ID, what), "%s", hintAbout(key, err))
		}
		all[key.ID] = p
	}
	return all, nil
}

// explainEndpoint explains why a door could not start in front of an endpoint.
func (s *serveCmd) explainEndpoint(err error) error {
	what := fmt.Errorf("the DynamoDB endpoint at %s: %w", s.DynamoDB, err)
	e := exception.Of(err)
	says := func(text string) bool { return strings.Contains(e.Message, text) }
	switch {
	case says("failed to verify certificate"):
		return withHint(what, "AWS_CA_BUNDLE=FILE (or ca_bundle in ~/.aws/config) names the certificates, in PEM, against which the door checks the endpoint's certificate; this one must be for the host of --dynamodb")
	case says("does not look like a TLS handshake"), says("HTTP response to HTTPS client"):
		return withHint(what, "it does not speak TLS there: --dynamodb http://…")
	case says("HTTP request to an HTTPS server"):
		return withHint(what, "it speaks TLS there: --dynamodb https://…")
	}
	switch e.Kind {
	case exception.ServiceUnavailable:
		return withHint(what, "is it running, and is --dynamodb its URL?")
	case exception.ExpiredToken:
		return withHint(what, "the door's own credentials have expired: renew them (aws sso login, new AWS_SESSION_TOKEN …), or name a profile that renews itself: --dynamodb-profile NAME")
	case exception.UnrecognizedClient, exception.InvalidSignature, exception.IncompleteSignature, exception.MissingAuthenticationToken:
		return withHint(what, "check the door's own credentials (AWS_ACCESS_KEY_ID … or --dynamodb-profile NAME), the region (--dynamodb-region) and this machine's clock")
	case exception.AccessDenied:
		return withHint(what, "the door's own credentials must allow dynamodb:DescribeTable on all tables, and CreateTable, Scan, GetItem, PutItem and DeleteItem on table %s, and CreateTable, DescribeTable, Query and PutItem on table %s", catalog.Table, catalog.BucketsTable)
	case exception.InternalServerError:
		if e.Raw == nil {
			return withHint(what, "is --dynamodb the URL of a DynamoDB?")
		}
	}
	return what
}
