// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// attackSignatures signs requests, changes them, and requires that the server refuses them. A
// request must arrive as it was signed, by the owner of the key, in its time.
func attackSignatures(f *field) error {
	keys := filepath.Join(f.dir, "keys.yaml")
	if err := os.WriteFile(keys, []byte("- access-key: AKIDONE\n  secret-key: secretone-secretone\n- access-key: AKIDTWO\n  secret-key: secrettwo-secrettwo\n  session-token: token\n"), 0o600); err != nil {
		return err
	}
	s, err := f.newServer("signatures", "--access-keys", keys)
	if err != nil {
		return err
	}
	defer s.close(f)
	if status, text, err := send(signed(s, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"}]}`, one, time.Now(), 0)); err != nil || status != http.StatusOK {
		return fmt.Errorf("CreateTable: %d %s %w", status, text, err)
	}
	var wg sync.WaitGroup
	for range 4 {
		r := f.fork()
		wg.Go(func() {
			for !f.over() && s.alive() {
				f.forge(r, s)
			}
		})
	}
	wg.Wait()
	return nil
}

var (
	one = aws.Credentials{AccessKeyID: "AKIDONE", SecretAccessKey: "secretone-secretone"}
	two = aws.Credentials{AccessKeyID: "AKIDTWO", SecretAccessKey: "secrettwo-secrettwo", SessionToken: "token"}
)

// signed returns a request signed in its header or, if expires is set, in its query.
func signed(s *server, operation, body string, as aws.Credentials, at time.Time, expires int) *http.Request {
	req := itemsRequest(s, operation, body)
	req.Header.Del("Authorization")
	req.Header.Del("X-Amz-Date")
	sum := sha256.Sum256([]byte(body))
	signer := v4.NewSigner()
	if expires == 0 {
		if err := signer.SignHTTP(context.Background(), as, req, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", at); err != nil {
			panic(err) // it is well formed
		}
		return req
	}
	q := req.URL.Query()
	q.Set("X-Amz-Expires", fmt.Sprint(expires))
	req.URL.RawQuery = q.Encode()
	uri, header, err := signer.PresignHTTP(context.Background(), as, req, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", at,
		func(o *v4.SignerOptions) { o.DisableHeaderHoisting = true }) // the operation stays in its header
	if err != nil {
		panic(err) // it is well formed
	}
	presigned, err := http.NewRequest(http.MethodPost, uri, strings.NewReader(body))
	if err != nil {
		panic(err) // it is well formed
	}
	presigned.Header = header
	presigned.Header.Set("X-Amz-Target", req.Header.Get("X-Amz-Target"))
	presigned.Header.Set("Content-Type", "application/x-amz-json-1.0")
	return presigned
}

func send(req *http.Request) (int, string, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// forge signs a request. It sends it unchanged, which must be accepted, or changed in one of the
// ways that must be refused.
func (f *field) forge(r *rand.Rand, s *server) {
	body := fmt.Sprintf(`{"TableName":"Tab","Key":{"h":{"S":"k%d"}}}`, r.IntN(10))
	as := pick(r, one, two)
	at, expires := time.Now(), pick(r, 0, 0, 60, 3600)
	what := ""
	switch r.IntN(4) {
	case 0: // within its time, or not
		shift := time.Duration(r.IntN(4*3600)-2*3600) * time.Second
		at = at.Add(shift)
		allowed, late := 15*time.Minute, -shift
		if expires > 0 && late > 0 {
			allowed = time.Duration(expires) * time.Second
		}
		const unsure = 20 * time.Second
		switch off := max(late, -late) - allowed; {
		case off > unsure:
			what = fmt.Sprintf("it was signed %v ago, and is good for %v", late, allowed)
		case off > -unsure:
			return
		}
	}
	req := signed(s, "GetItem", body, as, at, expires)
	if what == "" {
		switch r.IntN(9) {
		case 0:
			what = "another body"
			forged := strings.Replace(body, "k", "j", 1)
			req.Body, req.ContentLength = io.NopCloser(strings.NewReader(forged)), int64(len(forged))
			req.GetBody = nil
		case 1:
			what = "another operation"
			req.Header.Set("X-Amz-Target", "DynamoDB_20120810.DeleteItem")
		case 2:
			what = "a changed signature"
			if expires > 0 {
				q := req.URL.Query()
				q.Set("X-Amz-Signature", flip(r, q.Get("X-Amz-Signature")))
				req.URL.RawQuery = q.Encode()
			} else {
				auth := req.Header.Get("Authorization")
				i := strings.LastIndex(auth, "=") + 1
				req.Header.Set("Authorization", auth[:i]+flip(r, auth[i:]))
			}
		case 3:
			if expires == 0 {
				break
			}
			q := req.URL.Query()
			name := pick(r, "X-Amz-Expires", "X-Amz-Date", "X-Amz-Credential", "X-Amz-SignedHeaders", "X-Amz-Algorithm", "X-Amz-Security-Token")
			what = "another " + name
			switch value := q.Get(name); {
			case r.IntN(3) == 0 && value != "":
				q.Del(name)
			case r.IntN(3) == 0:
				q.Add(name, value+pick(r, "", "x", "1"))
				if value == "" && !q.Has(name) {
					return
				}
			default:
				q.Set(name, pick(r, "99999999", "-1", "x", "20300101T000000Z", "AKIDTWO/20300101/us-east-1/dynamodb/aws4_request", "host", ""))
			}
			if q.Encode() == req.URL.Query().Encode() {
				return
			}
			req.URL.RawQuery = q.Encode()
		case 4:
			what = "a second signature"
			if expires > 0 {
				req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDONE/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00")
			} else {
				req.Header.Add("Authorization", req.Header.Get("Authorization"))
			}
		case 5:
			what = "no signature"
			req.Header.Del("Authorization")
			req.URL.RawQuery = ""
		case 6:
			what = "a key that is not there"
			req = signed(s, "GetItem", body, aws.Credentials{AccessKeyID: pick(r, "AKIDNONE", "akidone", "AKIDONE "), SecretAccessKey: "secretone-secretone"}, at, expires)
		case 7:
			what = "another secret"
			req = signed(s, "GetItem", body, aws.Credentials{AccessKeyID: "AKIDONE", SecretAccessKey: pick(r, "secrettwo-secrettwo", "", "secretone-secretone ", "Secretone-secretone")}, at, expires)
		default:
			what = "another session token"
			as.SessionToken = pick(r, "tokem", "TOKEN", "token x")
			req = signed(s, "GetItem", body, as, at, expires)
		}
	}
	uri := req.URL.RequestURI()
	if u, err := url.QueryUnescape(uri); err == nil {
		uri = u
	}
	status, text, err := send(req)
	f.sent.Add(1)
	switch {
	case err != nil:
		if what == "" && s.alive() {
			f.fault("a request has no answer", "%s: %v", uri, err)
		}
	case status >= 500:
		f.fault("server error", "%s: %s: %d %s", what, uri, status, text)
	case what == "" && status != http.StatusOK:
		f.fault("a right signature is refused", "as %s, %d s: %s: %d %s", as.AccessKeyID, expires, uri, status, text)
	case what != "" && status == http.StatusOK:
		f.fault("a wrong signature is accepted", "%s, as %s: %s %v", what, as.AccessKeyID, uri, req.Header)
	}
}

// flip changes a digit.
func flip(r *rand.Rand, s string) string {
	if s == "" {
		return "0"
	}
	i := r.IntN(len(s))
	digit := pick(r, "0", "1", "a", "f")
	if s[i:i+1] == digit {
		digit = "7"
		if s[i] == '7' {
			digit = "8"
		}
	}
	return s[:i] + digit + s[i+1:]
}
