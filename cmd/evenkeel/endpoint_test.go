// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	served "github.com/evenkeel/evenkeel/internal/testkit/endpoint"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
)

// tokens is an AWS STS that answers AssumeRole as its documentation says, for as
// long as a test likes. What it gives out is what its endpoint takes: for role
// …/NAME access key AKIDNAME, a secret, and a session token.
type tokens struct {
	*httptest.Server
	mu    sync.Mutex
	life  map[string]time.Duration // by role; others' is an hour
	fails string                   // an error's code, for all who ask; "down" for no answer
	asked map[string]string        // role → the session's name, the key that asked, and how often
	times map[string]int
}

const assumed = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<AssumedRoleUser><AssumedRoleId>AROA:%[1]s</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/%[1]s/s</Arn></AssumedRoleUser>
<Credentials><AccessKeyId>AKID%[1]s</AccessKeyId><SecretAccessKey>secret-of-role-%[1]s</SecretAccessKey><SessionToken>token-of-%[1]s</SessionToken><Expiration>%[2]s</Expiration></Credentials>
</AssumeRoleResult><ResponseMetadata><RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId></ResponseMetadata></AssumeRoleResponse>`

func newTokens(t *testing.T) *tokens {
	s := &tokens{life: map[string]time.Duration{}, asked: map[string]string{}, times: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL_STS", s.URL)
	return s
}

func (s *tokens) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := r.FormValue("RoleArn")
	_, role, _ := strings.Cut(arn, "role/")
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	refuse := func(status int, code, message string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`, code, message)
	}
	switch {
	case s.fails == "down":
		panic(http.ErrAbortHandler)
	case r.Method != "POST" || r.FormValue("Action") != "AssumeRole" || r.FormValue("Version") != "2011-06-15" || len(scope) < 4 || scope[3] != "sts":
		refuse(400, "InvalidAction", "this is no AssumeRole")
	case s.fails != "":
		refuse(403, s.fails, "User: arn:aws:iam::123456789012:user/door is not authorized to perform: sts:AssumeRole on resource: "+arn)
	default:
		_, key, _ := strings.Cut(scope[0], "Credential=")
		s.asked[role] = r.FormValue("RoleSessionName") + " " + key
		s.times[role]++
		life, ok := s.life[role]
		if !ok {
			life = time.Hour
		}
		fmt.Fprintf(w, assumed, role, time.Now().Add(life).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
}

func (s *tokens) fail(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = code
}

func (s *tokens) count(role string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times[role]
}

// awsConfiguration is one of the test's own, with the door's keys.
func awsConfiguration(t *testing.T, config string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"config": config, "credentials": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": filepath.Join(dir, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "credentials"), "HOME": dir,
		"AWS_ACCESS_KEY_ID": "AKIDDOOR", "AWS_SECRET_ACCESS_KEY": "secret-of-the-door", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_REGION": "", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
}

// behindRoles is a DynamoDB that takes what tokens give to roles A and B.
func behindRoles(t *testing.T) (url string) {
	t.Helper()
	keys, err := accesskey.Parse([]byte(`
- {access-key: AKIDDOOR, secret-key: secret-of-the-door}
- {access-key: AKIDA, secret-key: secret-of-role-A, session-token: token-of-A}
- {access-key: AKIDB, secret-key: secret-of-role-B, session-token: token-of-B}
`), false)
	if err != nil {
		t.Fatal(err)
	}
	return served.Serve(t, dynamodoor.Options{Store: itemstore.Open(t, dynamodb.Options{}), Keys: keys})
}

const roleKeys = `
- {access-key: CLIENTA, secret-key: secret-of-client-a, role: "arn:aws:iam::123456789012:role/A"}
- {access-key: CLIENTB, secret-key: secret-of-client-b, role: "arn:aws:iam::123456789012:role/B"}
`

func openWithKeys(t *testing.T, url, text string) (*endpoint, error) {
	t.Helper()
	keys, err := accesskey.Parse([]byte(text), true)
	if err != nil {
		t.Fatal(err)
	}
	s := &serveCmd{endpointFlags: endpointFlags{DynamoDB: url}}
	e, err := s.openEndpoint(t.Context(), keys, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(e.Close)
	}
	return e, err
}

// ask makes a request with the rights of an access key.
func (e *endpoint) ask(ctx context.Context, key string) error {
	_, err := e.Do(principal.With(ctx, principal.Principal{ID: key}), "ListTables", []byte("{}"), nil)
	return err
}

// TestRolesOfAccessKeys checks that the door sends the requests of each access key with the
// credentials of its role, and of no other. The role's sessions have the key's name.
func TestRolesOfAccessKeys(t *testing.T) {
	awsConfiguration(t, "")
	sts := newTokens(t)
	e, err := openWithKeys(t, behindRoles(t), roleKeys)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			if err := e.ask(t.Context(), []string{"CLIENTA", "CLIENTB"}[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := e.ask(t.Context(), "CLIENTC"); exception.Of(err).Kind != exception.UnrecognizedClient {
		t.Errorf("nobody's key: %v", err)
	}
	sts.mu.Lock()
	defer sts.mu.Unlock()
	for role, want := range map[string]string{"A": "evenkeel-CLIENTA AKIDDOOR", "B": "evenkeel-CLIENTB AKIDDOOR"} {
		if sts.asked[role] != want || sts.times[role] != 1 {
			t.Errorf("role %s was asked for %d times, as %s", role, sts.times[role], sts.asked[role])
		}
	}
}

// TestRenewalOfRoles checks that a client's error names the role if the door cannot renew its
// credentials. Clients of other keys are not affected.
func TestRenewalOfRoles(t *testing.T) {
	awsConfiguration(t, "")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	sts := newTokens(t)
	sts.life["A"] = 0 // they are asked for each time
	e, err := openWithKeys(t, behindRoles(t), roleKeys)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(key string, want ...string) {
		t.Helper()
		err := e.ask(t.Context(), key)
		if len(want) == 0 && err != nil || len(want) > 0 && err == nil {
			t.Fatalf("%s: %v", key, err)
		}
		for _, w := range want {
			if !strings.Contains(fmt.Sprint(err), w) {
				t.Errorf("%s: %v\nhas no %s", key, err, w)
			}
		}
	}
	before := sts.count("A")
	ask("CLIENTA")
	ask("CLIENTA")
	ask("CLIENTB")
	if a, b := sts.count("A"), sts.count("B"); a != before+2 || b != 1 {
		t.Errorf("asked for %d times for two requests, and %d times for what is good for an hour", a-before, b)
	}
	sts.fail("AccessDenied")
	ask("CLIENTA", "AccessDeniedException: the door has no credentials for access key CLIENTA at endpoint ", "assume role arn:aws:iam::123456789012:role/A: AccessDenied: User: ", "is not authorized to perform: sts:AssumeRole")
	ask("CLIENTB")
	sts.fail("down")
	ask("CLIENTA", "ServiceUnavailableException: the door has no credentials for access key CLIENTA", "role/A")
	ask("CLIENTB")
	sts.fail("")
	ask("CLIENTA")
	ask("CLIENTB")
}

// service is an STS whose sessions last two minutes.
type service struct {
	asked int
	fails error
}

func (s *service) AssumeRole(context.Context, *sts.AssumeRoleInput, ...func(*sts.Options)) (*sts.AssumeRoleOutput, error) {
	if s.asked++; s.fails != nil {
		return nil, s.fails
	}
	return &sts.AssumeRoleOutput{Credentials: &types.Credentials{
		AccessKeyId: aws.String(fmt.Sprint("AKID", s.asked)), SecretAccessKey: aws.String("secret"), SessionToken: aws.String("token"),
		Expiration: aws.Time(time.Now().Add(2 * time.Minute)),
	}}, nil
}

// TestRolesByTheClock checks that the door renews credentials a minute before they expire. If that
// fails, it uses them until they expire, and tries again every ten seconds.
func TestRolesByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(service)
		credentials := assumeRole(s, "arn:aws:iam::123456789012:role/A", "CLIENTA")
		begun := time.Now()
		at := func(seconds int, id string, asked int) {
			t.Helper()
			time.Sleep(time.Until(begun.Add(time.Duration(seconds) * time.Second)))
			c, err := credentials.Retrieve(t.Context())
			if c.AccessKeyID != id || (err == nil) != (id != "") || s.asked != asked {
				t.Errorf("after %d s: %q, %v, asked for %d times; want %q, %d times", seconds, c.AccessKeyID, err, s.asked, id, asked)
			}
		}
		at(0, "AKID1", 1)
		at(59, "AKID1", 1)
		at(61, "AKID2", 2) // until 181
		s.fails = errors.New("refused")
		at(120, "AKID2", 2)
		at(122, "AKID2", 3)
		at(130, "AKID2", 3)
		at(133, "AKID2", 4)
		at(180, "AKID2", 5)
		at(182, "", 6)
		at(183, "", 7)
		s.fails = nil
		at(184, "AKID8", 8)
	})
}

// TestARoleThatIsRefused checks that the door reports at its start a role that it cannot assume.
func TestARoleThatIsRefused(t *testing.T) {
	awsConfiguration(t, "")
	sts := newTokens(t)
	sts.fail("AccessDenied")
	_, err := openWithKeys(t, behindRoles(t), roleKeys)
	var hint *hinted
	if !strings.Contains(fmt.Sprint(err), "--access-keys: CLIENTA: its credentials at the endpoint: ") || !strings.Contains(err.Error(), "role arn:aws:iam::123456789012:role/A: AccessDenied") ||
		!errors.As(err, &hint) || !strings.Contains(hint.hint, "trust policy") {
		t.Errorf("%v", err)
	}
	t.Setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	_, err = openWithKeys(t, behindRoles(t), roleKeys)
	if !strings.Contains(fmt.Sprint(err), "endpoint: assume role arn:aws:iam::123456789012:role/A: STS at http://127.0.0.1:1 cannot be reached: dial tcp") ||
		!errors.As(err, &hint) || !strings.Contains(hint.hint, "AWS_ENDPOINT_URL_STS=URL") {
		t.Errorf("%v", err)
	}
}

func TestSessionNames(t *testing.T) {
	for id, want := range map[string]string{"AKID": "evenkeel-AKID", "a b:ü": "evenkeel-a_b__", strings.Repeat("x", 100): "evenkeel-" + strings.Repeat("x", 55)} {
		if got := sessionName(id); got != want {
			t.Errorf("%q: %q", id, got)
		}
	}
}

// TestCertificatesOfTheAWSConfiguration checks that the door verifies the certificate of an
// https:// endpoint with those of the AWS configuration: AWS_CA_BUNDLE, or ca_bundle of the
// profile.
func TestCertificatesOfTheAWSConfiguration(t *testing.T) {
	door, err := dynamodoor.New(dynamodoor.Options{Store: itemstore.Open(t, dynamodb.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(door)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	write(filepath.Join(dir, "none.pem"), "no certificate")
	for name, c := range map[string]struct {
		bundle, config, profile string
		url                     string
		wrong, hint             string
	}{
		"the environment's":  {bundle: ca},
		"a profile's":        {config: "[profile inside]\nca_bundle = " + ca + "\naws_access_key_id = a\naws_secret_access_key = b\n", profile: "inside"},
		"nobody's":           {wrong: "certificate signed by unknown authority", hint: "AWS_CA_BUNDLE=FILE"},
		"no file":            {bundle: filepath.Join(dir, "nothing"), wrong: "no such file", hint: "check AWS_CA_BUNDLE"},
		"no certificate":     {bundle: filepath.Join(dir, "none.pem"), wrong: "CA bundle", hint: "check AWS_CA_BUNDLE"},
		"http to one of TLS": {bundle: ca, url: strings.Replace(server.URL, "https:", "http:", 1), wrong: "HTTP request to an HTTPS server", hint: "--dynamodb https://"},
		"another name":       {bundle: ca, url: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), wrong: "certificate is valid for", hint: "must be for the host of"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			awsConfiguration(t, c.config)
			t.Setenv("AWS_CA_BUNDLE", c.bundle)
			if c.url == "" {
				c.url = server.URL
			}
			s := &serveCmd{endpointFlags: endpointFlags{DynamoDB: c.url, DynamoDBProfile: c.profile}}
			var d dynamoDB
			_, err := d.openEndpoint(t.Context(), s, nil, slog.New(slog.DiscardHandler))
			defer d.close()
			var hint *hinted
			switch {
			case c.wrong == "" && err != nil:
				t.Error(err)
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) || !errors.As(err, &hint) || !strings.Contains(hint.hint, c.hint)):
				t.Errorf("%v\nhint: %+v", err, hint)
			}
		})
	}
}

// TestEndpointsThatAreNone checks that the door reports a wrong endpoint before it sends anything
// there, or as soon as the endpoint has answered.
func TestEndpointsThatAreNone(t *testing.T) {
	awsConfiguration(t, "")
	expired := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"The security token included in the request is expired"}`)
	}))
	defer expired.Close()
	for name, c := range map[string]struct {
		flags       endpointFlags
		wrong, hint string
	}{
		"another region": {endpointFlags{DynamoDB: "https://dynamodb.eu-west-1.amazonaws.com", DynamoDBRegion: "us-east-1"},
			"--dynamodb-region us-east-1: https://dynamodb.eu-west-1.amazonaws.com is in region eu-west-1", "leave --dynamodb-region out"},
		"a user in it": {endpointFlags{DynamoDB: "http://me:secret@localhost:8000"}, "has a user in it", ""},
		"expired":      {endpointFlags{DynamoDB: expired.URL}, "refuses the credentials that the door has for its requests: The security token included in the request is expired", "have expired: renew them"},
	} {
		s := &serveCmd{ListenDynamoDB: "127.0.0.1:0", endpointFlags: c.flags}
		err := s.checkEndpoint()
		if err == nil {
			var d dynamoDB
			_, err = d.openEndpoint(t.Context(), s, nil, slog.New(slog.DiscardHandler))
			_ = d.close()
		}
		var hint *hinted
		if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") || c.hint != "" && (!errors.As(err, &hint) || !strings.Contains(hint.hint, c.hint)) {
			t.Errorf("%s: %v\nhint: %+v", name, err, hint)
		}
	}
	var printed bytes.Buffer
	s := &serveCmd{endpointFlags: endpointFlags{DynamoDB: "http://dynamodb.example:8000"}}
	e, err := s.openEndpoint(t.Context(), nil, slog.New(slog.NewTextHandler(&printed, nil)))
	if err != nil || !strings.Contains(printed.String(), "not encrypted") {
		t.Errorf("%v %s", err, &printed)
	}
	e.Close()
}
