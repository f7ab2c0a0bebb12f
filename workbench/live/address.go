// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// Scheme is the beginning of this package's addresses.
const Scheme = "cql://"

const defaultPort = 9042

// Address is the place of a table.
type Address struct {
	User     string
	Hosts    []string // host:port of contact points
	Keyspace string
	Table    string
}

// Is reports whether a text is meant as an address of this package.
func Is(text string) bool { return strings.HasPrefix(text, Scheme) }

// Parse reads cql://[user@]host[:port][,host[:port]…]/keyspace.table. Names are in
// CQL's form: without double quotes they are folded to lower case.
func Parse(text string) (Address, error) {
	bad := func(hint, format string, args ...any) (Address, error) {
		return Address{}, &livetable.Error{At: text, Err: fmt.Errorf(format, args...), Hint: hint}
	}
	const form = "cql://[user@]host[:port]/keyspace.table"
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		return bad("write "+form, "is not the address of a table")
	}
	var a Address
	authority, path, ok := strings.Cut(rest, "/")
	if !ok || path == "" {
		return bad("write "+form, "names no table")
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, _, password := strings.Cut(authority[:at], ":")
		if password {
			shown := Scheme + user + "@" + authority[at+1:] + "/" + path
			return Address{}, &livetable.Error{At: shown, Err: fmt.Errorf("has a password in it, where others can read it"), Hint: "put it into a file: --password-file FILE"}
		}
		name, err := url.PathUnescape(user)
		if err != nil || name == "" {
			return bad("write "+form, "%q is no user", user)
		}
		a.User, authority = name, authority[at+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		withPort, err := hostPort(host)
		if err != nil {
			return bad("write "+form, "%v", err)
		}
		a.Hosts = append(a.Hosts, withPort)
	}
	path, err := url.PathUnescape(path)
	if err != nil {
		return bad("write "+form, "%v", err)
	}
	keyspace, path, err := name(path)
	if err == nil && !strings.HasPrefix(path, ".") {
		return bad("write "+form, "names a keyspace and no table")
	}
	if err == nil {
		a.Table, path, err = name(path[1:])
	}
	if err != nil || path != "" {
		if err == nil {
			err = fmt.Errorf("%q is too much", path)
		}
		return bad("write keyspace.table; names that are not lower case letters, digits and _ in double quotes", "%v", err)
	}
	a.Keyspace = keyspace
	return a, nil
}

// hostPort adds the default port if there is none.
func hostPort(host string) (string, error) {
	port := strconv.Itoa(defaultPort)
	name := host
	if h, p, err := net.SplitHostPort(host); err == nil {
		name, port = h, p
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q has no port", host)
	}
	if name == "" || strings.ContainsAny(name, " []/?#") {
		return "", fmt.Errorf("%q is no host", host)
	}
	return net.JoinHostPort(name, port), nil
}

// name cuts a CQL identifier off the beginning of text.
func name(text string) (identifier, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] != '"':
			case i+1 < len(text) && text[i+1] == '"':
				i++
			case i == 1:
				return "", "", fmt.Errorf("a name is empty")
			default:
				return strings.ReplaceAll(text[1:i], `""`, `"`), text[i+1:], nil
			}
		}
		return "", "", fmt.Errorf("a double quote is not closed")
	}
	end := strings.IndexByte(text, '.')
	if end < 0 {
		end = len(text)
	}
	identifier = strings.ToLower(text[:end])
	if identifier == "" {
		return "", "", fmt.Errorf("a name is empty")
	}
	for i := range len(identifier) {
		c := identifier[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "", "", fmt.Errorf("%q is not a name", text[:end])
		}
	}
	return identifier, text[end:], nil
}

// Identifier formats a name as CQL needs it.
func Identifier(name string) string { return string(syntax.AppendIdent(nil, name)) }

// String formats the address as Parse reads it.
func (a Address) String() string {
	user := ""
	if a.User != "" {
		user = url.PathEscape(a.User) + "@"
	}
	return Scheme + user + strings.Join(a.Hosts, ",") + "/" + url.PathEscape(a.Name())
}

// Name returns keyspace.table, as CQL writes it.
func (a Address) Name() string { return Identifier(a.Keyspace) + "." + Identifier(a.Table) }
