// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// These are the schemes of addresses.
const (
	Scheme       = "dynamodb://"
	SecureScheme = "dynamodb+https://"
)

const form = "dynamodb://host:port/table, dynamodb+https://host/table, or of AWS dynamodb://us-east-1/table"

// Address is the place of a table.
type Address struct {
	Endpoint string // http://host:port or https://host:port; "": AWS
	Region   string // of AWS; "" with an Endpoint
	Table    string
}

// Is reports whether a text is meant as an address of this package.
func Is(text string) bool {
	return strings.HasPrefix(text, Scheme) || strings.HasPrefix(text, SecureScheme)
}

var (
	region = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`)
	table  = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)
)

// Parse reads an address. It takes a host that looks like an AWS region and has no port for a
// region.
func Parse(text string) (Address, error) {
	bad := func(hint, format string, args ...any) (Address, error) {
		return Address{}, &livetable.Error{At: text, Err: fmt.Errorf(format, args...), Hint: hint}
	}
	rest, secure := strings.CutPrefix(text, SecureScheme)
	if !secure {
		var ok bool
		if rest, ok = strings.CutPrefix(text, Scheme); !ok {
			return bad("write "+form, "is not the address of a DynamoDB table")
		}
	}
	host, name, ok := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		shown := strings.Replace(text, host[:at+1], "", 1)
		return Address{}, &livetable.Error{At: shown, Err: fmt.Errorf("has a user in it"), Hint: "credentials come from where AWS's tools take them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, …"}
	}
	if !ok || name == "" {
		return bad("write "+form, "names no table")
	}
	name, err := url.PathUnescape(name)
	if err != nil || !table.MatchString(name) {
		return bad("names have 3 to 255 letters, digits, _, - and .", "%q is no name of a DynamoDB table", name)
	}
	a := Address{Table: name}
	scheme, port := "http", "80"
	if secure {
		scheme, port = "https", "443"
	}
	plain, p, err := net.SplitHostPort(host)
	switch {
	case err == nil:
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return bad("write "+form, "%q has no port", host)
		}
		port = p
	case region.MatchString(host) && !secure:
		a.Region = host
		return a, nil
	case !secure:
		return bad("an endpoint of your own has a port: dynamodb://"+orHost(host)+":8000/"+name+"; regions are named as us-east-1 is", "%q is no region of AWS, and has no port", host)
	default:
		plain = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if plain == "" || strings.ContainsAny(plain, " []/?#%") {
		return bad("write "+form, "%q is no host", host)
	}
	a.Endpoint = scheme + "://" + net.JoinHostPort(plain, port)
	return a, nil
}

func orHost(host string) string {
	if host == "" || strings.ContainsAny(host, ":[] ") {
		return "localhost"
	}
	return host
}

// String formats the address as Parse reads it.
func (a Address) String() string {
	if a.Endpoint == "" {
		return Scheme + a.Region + "/" + a.Table
	}
	if rest, ok := strings.CutPrefix(a.Endpoint, "https://"); ok {
		return SecureScheme + rest + "/" + a.Table
	}
	return Scheme + strings.TrimPrefix(a.Endpoint, "http://") + "/" + a.Table
}

// Host returns the endpoint's host and port, or the region.
func (a Address) Host() string {
	if a.Endpoint == "" {
		return a.Region
	}
	_, host, _ := strings.Cut(a.Endpoint, "://")
	return host
}
