// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Endpoint is the address of a DynamoDB.
type Endpoint struct {
	URL     *url.URL // scheme and host
	Streams *url.URL // for the operations of DynamoDB Streams; AWS has another host for them
	Region  string   // derived from the host; empty if the host does not contain it
}

// ParseEndpoint parses an endpoint's URL, such as https://dynamodb.eu-west-1.amazonaws.com or
// http://localhost:8000. Errors say what is expected.
func ParseEndpoint(text string) (Endpoint, error) {
	const wanted = "a URL such as https://dynamodb.eu-west-1.amazonaws.com or http://127.0.0.1:8000 is wanted"
	u, err := url.Parse(text)
	switch {
	case err != nil && strings.Contains(text, "@"): // the text before the @ may be a secret
		return Endpoint{}, fmt.Errorf("it is no URL; %s", wanted)
	case err != nil:
		return Endpoint{}, fmt.Errorf("%q: %s", text, wanted)
	case u.Scheme != "http" && u.Scheme != "https":
		return Endpoint{}, fmt.Errorf("%q does not begin with http:// or https://; %s", u.Redacted(), wanted)
	case u.Hostname() == "":
		return Endpoint{}, fmt.Errorf("%q names no host; %s", u.Redacted(), wanted)
	case u.User != nil:
		return Endpoint{}, fmt.Errorf("%s has a user in it: credentials come from the AWS configuration; %s", u.Redacted(), wanted)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Endpoint{}, fmt.Errorf("%q has a path or a query, which an endpoint has not; %s", text, wanted)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return Endpoint{}, fmt.Errorf("%q: there is no port %s; %s", text, port, wanted)
		}
	}
	e := Endpoint{URL: &url.URL{Scheme: u.Scheme, Host: strings.TrimSuffix(u.Host, ":"), Path: "/"}}
	var streams string
	e.Region, streams = readHost(strings.ToLower(e.URL.Hostname()))
	e.Streams = e.URL
	if streams != "" {
		if port := u.Port(); port != "" {
			streams += ":" + port
		}
		e.Streams = &url.URL{Scheme: u.Scheme, Host: streams, Path: "/"}
	}
	return e, nil
}

// suffixes are the ends of AWS's hosts. dual marks those of hosts that also have IPv6.
var suffixes = []struct {
	text string
	dual bool
}{
	{".amazonaws.com", false}, {".amazonaws.com.cn", false}, {".amazonaws.eu", false},
	{".api.aws", true}, {".api.amazonwebservices.com.cn", true}, {".api.amazonwebservices.eu", true},
}

// readHost returns the region of one of AWS's hosts and the matching host of DynamoDB Streams, as
// in AWS's SDKs. It returns "" for what does not exist.
func readHost(host string) (region, streams string) {
	for _, suffix := range suffixes {
		name, ok := strings.CutSuffix(host, suffix.text)
		if !ok {
			continue
		}
		// The forms are dynamodb.REGION, ACCOUNT.ddb.REGION, and for a VPC
		// vpce-….dynamodb.REGION.vpce.
		parts := strings.Split(strings.TrimSuffix(name, ".vpce"), ".")
		region = parts[len(parts)-1]
		switch {
		case len(parts) == 2 && (parts[0] == "dynamodb" || parts[0] == "dynamodb-fips") && suffix.dual:
			streams = "streams-" + host
		case len(parts) == 2 && (parts[0] == "dynamodb" || parts[0] == "dynamodb-fips"):
			streams = "streams." + host
		case len(parts) == 3 && parts[1] == "ddb":
			streams = parts[0] + ".streams-ddb." + region + suffix.text
		}
		return region, streams
	}
	return "", ""
}

// OnThisMachine reports whether the endpoint is on this machine.
func (e Endpoint) OnThisMachine() bool {
	host := e.URL.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// String returns the endpoint for people.
func (e Endpoint) String() string { return e.URL.Scheme + "://" + e.URL.Host }
