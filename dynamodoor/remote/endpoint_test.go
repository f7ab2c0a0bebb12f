// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"strings"
	"testing"
)

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{
		// These are as in botocore's endpoint rules.
		"https://dynamodb.eu-west-1.amazonaws.com":             "https://dynamodb.eu-west-1.amazonaws.com eu-west-1 streams.dynamodb.eu-west-1.amazonaws.com",
		"https://dynamodb.cn-north-1.amazonaws.com.cn/":        "https://dynamodb.cn-north-1.amazonaws.com.cn cn-north-1 streams.dynamodb.cn-north-1.amazonaws.com.cn",
		"https://dynamodb-fips.us-gov-west-1.amazonaws.com":    "https://dynamodb-fips.us-gov-west-1.amazonaws.com us-gov-west-1 streams.dynamodb-fips.us-gov-west-1.amazonaws.com",
		"https://dynamodb.eu-west-1.api.aws":                   "https://dynamodb.eu-west-1.api.aws eu-west-1 streams-dynamodb.eu-west-1.api.aws",
		"https://123.ddb.us-west-2.amazonaws.com":              "https://123.ddb.us-west-2.amazonaws.com us-west-2 123.streams-ddb.us-west-2.amazonaws.com",
		"https://vpce-1.dynamodb.us-east-2.vpce.amazonaws.com": "https://vpce-1.dynamodb.us-east-2.vpce.amazonaws.com us-east-2 vpce-1.dynamodb.us-east-2.vpce.amazonaws.com",
		// These are not AWS's.
		"http://localhost:8000":    "http://localhost:8000  localhost:8000",
		"HTTP://localhost:8000/":   "http://localhost:8000  localhost:8000",
		"http://localhost:":        "http://localhost  localhost",
		"http://[::1]:8000":        "http://[::1]:8000  [::1]:8000",
		"https://[2001:db8::1]/":   "https://[2001:db8::1]  [2001:db8::1]",
		"http://[fe80::1%25eth0]:": "http://[fe80::1%eth0]  [fe80::1%eth0]",
	} {
		e, err := ParseEndpoint(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := fmt.Sprint(e, " ", e.Region, " ", e.Streams.Host); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"":                          "does not begin with http:// or https://",
		"localhost:8000":            "does not begin with http:// or https://",
		"127.0.0.1:8000":            "a URL such as",
		"::1":                       "a URL such as",
		"ftp://x":                   "does not begin with http:// or https://",
		"dynamodb://x/table":        "does not begin with http:// or https://",
		"http://":                   "names no host",
		"http://:8000":              "names no host",
		"http://a/path":             "has a path or a query",
		"http://a?b=c":              "has a path or a query",
		"http://a/#x":               "has a path or a query",
		"http://u:secret@a":         "has a user in it",
		"ftp://u:secret@a":          "does not begin with http",
		"http://u:secret@a b":       "no URL",
		"http://u:secret@a:port":    "no URL",
		"http://a b":                "a URL such as",
		"http://::1:8000":           "a URL such as",
		"http://a:80000":            "there is no port 80000",
		"http://a:0":                "there is no port 0",
		"http://[::1":               "a URL such as",
		"http://[::1]:8000/shell/x": "has a path or a query",
	} {
		if e, err := ParseEndpoint(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "is wanted") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q is %v, %v", text, e, err)
		}
	}
	for text, want := range map[string]bool{"http://localhost:1": true, "http://127.0.0.2:1": true, "http://[::1]:1": true, "http://10.0.0.1": false, "http://a.localhost.example": false} {
		if e, err := ParseEndpoint(text); err != nil || e.OnThisMachine() != want {
			t.Errorf("%s: %v %v", text, e.OnThisMachine(), err)
		}
	}
}
