package remote

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Endpoint is where a DynamoDB is.
type Endpoint struct {
	URL     *url.URL // scheme and host
	Streams *url.URL // of the operations of DynamoDB Streams; AWS has another host for them
	Region  string   // as the host tells; empty where it does not
}

// ParseEndpoint reads an endpoint's URL, such as https://dynamodb.eu-west-1.amazonaws.com
// or http://localhost:8000. Errors say what is wanted.
func ParseEndpoint(text string) (Endpoint, error) {
	const wanted = "a URL such as https://dynamodb.eu-west-1.amazonaws.com or http://127.0.0.1:8000 is wanted"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return Endpoint{}, fmt.Errorf("%q: %s", text, wanted)
	case u.Scheme != "http" && u.Scheme != "https":
		return Endpoint{}, fmt.Errorf("%q does not begin with http:// or https://; %s", text, wanted)
	case u.Host == "" || u.Hostname() == "":
		return Endpoint{}, fmt.Errorf("%q names no host; %s", text, wanted)
	case u.User != nil:
		return Endpoint{}, fmt.Errorf("%s has a user in it: credentials come from the AWS configuration; %s", u.Redacted(), wanted)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return Endpoint{}, fmt.Errorf("%q has a path or a query, which an endpoint has not; %s", text, wanted)
	}
	e := Endpoint{URL: &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}}
	e.Streams = e.URL
	name, aws := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(u.Hostname()), ".cn"), ".amazonaws.com")
	if !aws {
		return e, nil
	}
	// dynamodb.REGION, ACCOUNT.ddb.REGION, and for a VPC vpce-….dynamodb.REGION.vpce.
	parts := strings.Split(strings.TrimSuffix(name, ".vpce"), ".")
	e.Region = parts[len(parts)-1]
	if len(parts) == 2 && parts[0] == "dynamodb" {
		e.Streams = &url.URL{Scheme: u.Scheme, Host: "streams." + u.Host, Path: "/"}
	}
	return e, nil
}

// OnThisMachine tells whether the endpoint is.
func (e Endpoint) OnThisMachine() bool {
	host := e.URL.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// String is the endpoint for people.
func (e Endpoint) String() string { return e.URL.Scheme + "://" + e.URL.Host }
