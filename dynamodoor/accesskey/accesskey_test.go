// SPDX-License-Identifier: Apache-2.0

package accesskey

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

const file = `
- access-key: AKIDA
  secret-key: secret-of-a-1234567890
- access-key: AKIDB
  secret-key: secret-of-b-1234567890
  session-token: token-of-b
`

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func keys(t testing.TB) *Keys {
	t.Helper()
	k, err := Parse([]byte(file), false)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signed returns a request as the SDK signs it and HTTP transports it.
func signed(t testing.TB, c aws.Credentials, at time.Time, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1:8000/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	r.Header.Set("X-Odd", "  two   spaces ")
	sum := sha256.Sum256([]byte(body))
	if err := v4.NewSigner().SignHTTP(context.Background(), c, r, hex.EncodeToString(sum[:]), "dynamodb", "eu-west-1", at); err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	a = aws.Credentials{AccessKeyID: "AKIDA", SecretAccessKey: "secret-of-a-1234567890"}
	b = aws.Credentials{AccessKeyID: "AKIDB", SecretAccessKey: "secret-of-b-1234567890", SessionToken: "token-of-b"}
)

func TestWhatTheSDKSignsIsRight(t *testing.T) {
	k := keys(t)
	for _, c := range []aws.Credentials{a, b} {
		for _, off := range []time.Duration{0, -15 * time.Minute, 15 * time.Minute} {
			p, err := k.Verify(signed(t, c, noon.Add(off), `{"a":1}`), []byte(`{"a":1}`), noon)
			if err != nil || p != (principal.Principal{ID: c.AccessKeyID}) {
				t.Errorf("%s %v: %v %v", c.AccessKeyID, off, p, err)
			}
		}
	}
}

// TestOverHTTP checks signatures over a connection: the server's library presents the headers as
// they were signed.
func TestOverHTTP(t *testing.T) {
	k := keys(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, err := k.Verify(r, body, noon)
		fmt.Fprint(w, err)
	}))
	defer server.Close()
	r, err := http.NewRequest("POST", server.URL+"/", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	sum := sha256.Sum256([]byte("{}"))
	if err := v4.NewSigner().SignHTTP(context.Background(), b, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", noon); err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); string(text) != "<nil>" {
		t.Errorf("%s", text)
	}
}

// presigned returns a request with its signature, of noon, in the query. change changes it before
// it is signed.
func presigned(t testing.TB, c aws.Credentials, query string, change func(r *http.Request)) *http.Request {
	t.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1:8000/?"+query, nil)
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	if change != nil {
		change(r)
	}
	sum := sha256.Sum256([]byte("{}"))
	url, headers, err := v4.NewSigner().PresignHTTP(context.Background(), c, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", noon,
		func(o *v4.SignerOptions) { o.DisableHeaderHoisting = true })
	if err != nil {
		t.Fatal(err)
	}
	r = httptest.NewRequest("POST", url, strings.NewReader("{}"))
	r.Header = headers
	return r
}

// TestPresigned checks that a signature in a query is valid exactly as long as it says, even if
// that is shorter than the allowed difference of clocks. A signature that does not say it is valid
// as long as one in a header.
func TestPresigned(t *testing.T) {
	k := keys(t)
	for _, c := range []struct {
		query string
		after time.Duration
		want  string // "": the signature is valid
	}{
		{"X-Amz-Expires=3600", 50 * time.Minute, ""},
		{"X-Amz-Expires=3600", 60 * time.Minute, ""},
		{"X-Amz-Expires=3600", -15 * time.Minute, ""},
		{"X-Amz-Expires=3600", 60*time.Minute + time.Second,
			"InvalidSignatureException: Signature expired: 20261121T120000Z is now earlier than 20261121T120001Z (20261121T130001Z - 60 min.)"},
		{"X-Amz-Expires=60", 60 * time.Second, ""},
		{"X-Amz-Expires=60", 61 * time.Second,
			"InvalidSignatureException: Signature expired: 20261121T120000Z is now earlier than 20261121T120001Z (20261121T120101Z - 1 min.)"},
		{"X-Amz-Expires=1", 2 * time.Second,
			"InvalidSignatureException: Signature expired: 20261121T120000Z is now earlier than 20261121T120001Z (20261121T120002Z - 1 sec.)"},
		{"X-Amz-Expires=60", -16 * time.Minute,
			"InvalidSignatureException: Signature not yet current: 20261121T120000Z is still later than 20261121T115900Z (20261121T114400Z + 15 min.)"},
		{"", 15 * time.Minute, ""},
		{"", 15*time.Minute + time.Second,
			"InvalidSignatureException: Signature expired: 20261121T120000Z is now earlier than 20261121T120001Z (20261121T121501Z - 15 min.)"},
		{"X-Amz-Expires=604800", 7 * 24 * time.Hour, ""},
		{"X-Amz-Expires=604801", 0, "IncompleteSignatureException: X-Amz-Expires must be a number of seconds from 1 to 604800. Got '604801'."},
		{"X-Amz-Expires=0", 0, "IncompleteSignatureException: X-Amz-Expires must be a number of seconds from 1 to 604800. Got '0'."},
		{"X-Amz-Expires=-60", 0, "IncompleteSignatureException: X-Amz-Expires must be a number of seconds from 1 to 604800. Got '-60'."},
		{"X-Amz-Expires=soon", 0, "IncompleteSignatureException: X-Amz-Expires must be a number of seconds from 1 to 604800. Got 'soon'."},
		{"X-Amz-Expires=60&X-Amz-Expires=3600", 30 * time.Minute, "IncompleteSignatureException: X-Amz-Expires must be a number of seconds from 1 to 604800. Got '3600,60'."},
	} {
		p, err := k.Verify(presigned(t, b, c.query, nil), []byte("{}"), noon.Add(c.after))
		if c.want == "" && (err != nil || p.ID != "AKIDB") || c.want != "" && (err == nil || err.Error() != c.want || p != (principal.Principal{})) {
			t.Errorf("%s, %v later: %v\n got %v\nwant %s", c.query, c.after, p, err, c.want)
		}
	}
	// The query does not set the time of a signature in the header.
	r := httptest.NewRequest("POST", "http://127.0.0.1:8000/?X-Amz-Expires=604800", strings.NewReader("{}"))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	sum := sha256.Sum256([]byte("{}"))
	if err := v4.NewSigner().SignHTTP(context.Background(), a, r, hex.EncodeToString(sum[:]), "dynamodb", "eu-west-1", noon); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Verify(r, []byte("{}"), noon.Add(15*time.Minute)); err != nil {
		t.Error(err)
	}
	if _, err := k.Verify(r, []byte("{}"), noon.Add(16*time.Minute)); err == nil || !strings.Contains(err.Error(), "Signature expired") {
		t.Errorf("%v", err)
	}
}

// TestSessionTokens checks that a session token must be signed, and that there is only one.
func TestSessionTokens(t *testing.T) {
	const unsigned = "InvalidSignatureException: 'X-Amz-Security-Token' must be a 'SignedHeader' in the AWS Authorization."
	const unknown = "UnrecognizedClientException: The security token included in the request is invalid."
	k := keys(t)
	withoutToken := aws.Credentials{AccessKeyID: b.AccessKeyID, SecretAccessKey: b.SecretAccessKey}
	token := func(value string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set("X-Amz-Security-Token", value) }
	}
	header := func(c aws.Credentials) *http.Request { return signed(t, c, noon, "{}") }
	for name, c := range map[string]struct {
		r    *http.Request
		then func(r *http.Request) // change after signing
		want string
	}{
		"signed":                         {r: header(b)},
		"added to a signature":           {r: header(withoutToken), then: token("token-of-b"), want: unsigned},
		"another added to a signature":   {r: header(b), then: func(r *http.Request) { r.Header.Add("X-Amz-Security-Token", "x") }, want: unknown},
		"of none, added to a signature":  {r: header(a), then: token("x"), want: unsigned},
		"in a query, signed":             {r: presigned(t, b, "", nil)},
		"in a query, added":              {r: presigned(t, withoutToken, "", nil), then: func(r *http.Request) { r.URL.RawQuery += "&X-Amz-Security-Token=token-of-b" }, want: "does not match"},
		"in the header beside a query":   {r: presigned(t, withoutToken, "", nil), then: token("token-of-b"), want: unsigned},
		"signed in the header, no query": {r: presigned(t, withoutToken, "", token("token-of-b"))},
		"another in the header":          {r: presigned(t, b, "", nil), then: token("x"), want: unsigned},
		"two, both signed":               {r: presigned(t, b, "", token("x")), want: unknown},
		"the same twice":                 {r: presigned(t, b, "X-Amz-Security-Token=token-of-b", token("token-of-b"))},
	} {
		t.Run(name, func(t *testing.T) {
			if c.then != nil {
				c.then(c.r)
			}
			p, err := k.Verify(c.r, []byte("{}"), noon)
			if c.want == "" && (err != nil || p.ID != "AKIDB") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || p != (principal.Principal{})) {
				t.Errorf("%v\n got %v\nwant %s", p, err, c.want)
			}
		})
	}
}

func TestWhatIsWrongIsRefusedAsAWSDoes(t *testing.T) {
	k := keys(t)
	const mismatch = "InvalidSignatureException: The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	const unknown = "UnrecognizedClientException: The security token included in the request is invalid."
	auth := func(r *http.Request, from, to string) {
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), from, to, 1))
	}
	for name, c := range map[string]struct {
		by     aws.Credentials
		at     time.Time
		change func(r *http.Request)
		body   string
		want   string
	}{
		"another body":      {body: `{"a":2}`, want: mismatch},
		"another operation": {change: func(r *http.Request) { r.Header.Set("X-Amz-Target", "DynamoDB_20120810.DeleteTable") }, want: mismatch},
		"another host":      {change: func(r *http.Request) { r.Host = "elsewhere" }, want: mismatch},
		"another path":      {change: func(r *http.Request) { r.URL.Path = "/x" }, want: mismatch},
		"another query":     {change: func(r *http.Request) { r.URL.RawQuery = "a=b" }, want: mismatch},
		"another region":    {change: func(r *http.Request) { auth(r, "eu-west-1", "eu-west-2") }, want: mismatch},
		"another secret":    {by: aws.Credentials{AccessKeyID: "AKIDA", SecretAccessKey: "no"}, want: mismatch},
		"one bit":           {change: func(r *http.Request) { auth(r, "Signature=", "Signature=0") }, want: mismatch},
		"another time":      {change: func(r *http.Request) { r.Header.Set("X-Amz-Date", "20261121T120001Z") }, want: mismatch},
		"another key":       {by: aws.Credentials{AccessKeyID: "AKIDC", SecretAccessKey: "secret-of-a-1234567890"}, want: unknown},
		"a token too many":  {by: aws.Credentials{AccessKeyID: "AKIDA", SecretAccessKey: "secret-of-a-1234567890", SessionToken: "x"}, want: unknown},
		"no token":          {by: aws.Credentials{AccessKeyID: "AKIDB", SecretAccessKey: "secret-of-b-1234567890"}, want: unknown},
		"the past": {at: noon.Add(-16 * time.Minute),
			want: "InvalidSignatureException: Signature expired: 20261121T114400Z is now earlier than 20261121T114500Z (20261121T120000Z - 15 min.)"},
		"the future": {at: noon.Add(16 * time.Minute),
			want: "InvalidSignatureException: Signature not yet current: 20261121T121600Z is still later than 20261121T121500Z (20261121T120000Z + 15 min.)"},
		"no time":         {change: func(r *http.Request) { r.Header.Set("X-Amz-Date", "now") }, want: "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. Got 'now'. See http://en.wikipedia.org/wiki/ISO_8601"},
		"another day":     {change: func(r *http.Request) { auth(r, "20261121", "20261120") }, want: "InvalidSignatureException: Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20261120' != '20261121', from '20261121T120000Z'."},
		"another service": {change: func(r *http.Request) { auth(r, "/dynamodb/", "/s3/") }, want: "InvalidSignatureException: Credential should be scoped to correct service: 'dynamodb'. "},
		"another end":     {change: func(r *http.Request) { auth(r, "aws4_request", "aws3_request") }, want: "InvalidSignatureException: Credential should be scoped with a valid terminator: 'aws4_request'. "},
		"what matters unsigned": {change: func(r *http.Request) { auth(r, ";x-amz-target", "") },
			want: "InvalidSignatureException: 'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization."},
		"another algorithm": {change: func(r *http.Request) { auth(r, "AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256") }, want: "IncompleteSignatureException: Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256'. "},
	} {
		t.Run(name, func(t *testing.T) {
			if c.by.AccessKeyID == "" {
				c.by = a
			}
			if c.at.IsZero() {
				c.at = noon
			}
			r := signed(t, c.by, c.at, `{"a":1}`)
			if c.change != nil {
				c.change(r)
			}
			body := `{"a":1}`
			if c.body != "" {
				body = c.body
			}
			p, err := k.Verify(r, []byte(body), noon)
			if err == nil || err.Error() != c.want || p != (principal.Principal{}) {
				t.Errorf("%v\n got %v\nwant %s", p, err, c.want)
			}
		})
	}
}

func TestTheDateHeaderWillDo(t *testing.T) {
	r := signed(t, a, noon, "{}")
	r.Header.Set("Date", noon.Format(http.TimeFormat))
	r.Header.Del("X-Amz-Date")
	if _, err := keys(t).Verify(r, []byte("{}"), noon); err == nil || !strings.Contains(err.Error(), "does not match") {
		t.Errorf("a header that was signed is gone: %v", err)
	}
}

func TestSigningKeysAreBounded(t *testing.T) {
	k := keys(t)
	for i := range 3 * manySigningKeys {
		k.signing.of(k.byID["AKIDA"], "20261121", fmt.Sprint(i))
	}
	n := 0
	k.signing.known.Range(func(any, any) bool { n++; return true })
	if n > manySigningKeys {
		t.Errorf("%d keys are remembered", n)
	}
}

func TestFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "no access key",
		"- access-key: A\n":                    "A: secret-key must have 16",
		"- secret-key: TOPSECRET-0123456789\n": "access-key is missing",
		"- access-key: A\n  secret-key: TOPSECRET-0123456789\n  profil: x\n":  "[3:3] unknown field",
		"- access-key: A/B\n  secret-key: TOPSECRET-0123456789\n":             "character",
		"- access-key: A\n  secret-key: TOPSECRET-0123456789\n  door: true\n": "leave them out",
		file + "- access-key: AKIDA\n  secret-key: TOPSECRET-0123456789\n":    "twice",
		"access-key: A\nsecret-key: TOPSECRET-0123456789\n":                   "[1:",
		"- access-key: [A\n  secret-key: TOPSECRET-0123456789\n":              "[",
	} {
		if _, err := Parse([]byte(text), false); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "TOPSECRET") {
			t.Errorf("%q: %v", text, err)
		}
	}
	behind := "- access-key: A\n  secret-key: TOPSECRET-0123456789\n"
	for rights, want := range map[string]string{
		"": "whose rights", "  profile: p\n": "", "  door: true\n": "", "  role: arn:aws:iam::1:role/x\n": "", "  role: x\n": "no ARN", "  role: arn:x\n  profile: p\n": "whose rights",
	} {
		k, err := Parse([]byte(behind+rights), true)
		if want == "" && (err != nil || len(k.All()) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", rights, err)
		}
	}
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := Load(path, false); err != nil || len(k.All()) != 2 {
		t.Errorf("%v", err)
	}
	if _, err := Load(path, true); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if _, err := Load(path+"x", true); err == nil {
		t.Error("a file that is not there is read")
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=AKIDA/20261121/eu-west-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00", "20261121T120000Z", "a=b", []byte("{}"))
	f.Add("", "", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDA/20261121/r/dynamodb/aws4_request&X-Amz-Date=20261121T120000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0&X-Amz-Expires=9", []byte("{}"))
	k := keys(f)
	f.Fuzz(func(t *testing.T, authorization, date, query string, body []byte) {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Authorization", authorization)
		r.Header.Set("X-Amz-Date", date)
		if p, err := k.Verify(r, body, noon); err == nil || exception.Of(err).Kind == exception.InternalServerError {
			t.Errorf("%v %v", p, err)
		}
	})
}
