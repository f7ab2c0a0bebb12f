// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// checkAuthorization returns AWS's error if the form of a request's signature (Signature Version 4)
// is wrong. The door's access keys decide whose signature it is, and whether it is right. Without
// them, the door accepts any.
func checkAuthorization(r *http.Request) error {
	headers := r.Header.Values("Authorization")
	header := r.Header.Get("Authorization")
	inQuery := false
	var query url.Values
	if r.URL.RawQuery != "" {
		query = r.URL.Query()
		_, inQuery = query["X-Amz-Algorithm"]
	}
	switch {
	case len(headers) > 1:
		return exception.New(exception.InvalidSignature, "Found more than one 'Authorization' HTTP header.")
	case len(headers) > 0 && inQuery:
		return exception.New(exception.InvalidSignature, "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
	case inQuery:
		return checkQuery(query)
	case !strings.HasPrefix(header, "AWS4-"):
		return exception.New(exception.MissingAuthenticationToken, "Request is missing Authentication Token")
	}
	return checkHeader(r, header)
}

func checkHeader(r *http.Request, header string) error {
	algorithm, rest, _ := strings.Cut(header, " ")
	var credential, signature, signed string
	for part := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ',' || c == ' ' }) {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "Credential":
			credential = value
		case "Signature":
			signature = value
		case "SignedHeaders":
			signed = value
		}
	}
	var missing strings.Builder
	for _, p := range []struct{ name, value string }{{"Credential", credential}, {"Signature", signature}, {"SignedHeaders", signed}} {
		if p.value == "" {
			missing.WriteString("Authorization header requires '" + p.name + "' parameter. ")
		}
	}
	if r.Header.Get("X-Amz-Date") == "" && r.Header.Get("Date") == "" {
		missing.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	if missing.Len() > 0 {
		return exception.New(exception.IncompleteSignature, "%sAuthorization=%s", &missing, header)
	}
	return checkScope(algorithm, credential)
}

func checkQuery(query url.Values) error {
	var missing strings.Builder
	for _, name := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"} {
		if query.Get(name) == "" {
			missing.WriteString("AWS query-string parameters must include '" + name + "'. ")
		}
	}
	if missing.Len() > 0 {
		return exception.New(exception.IncompleteSignature, "%sRe-examine the query-string parameters.", &missing)
	}
	return checkScope(query.Get("X-Amz-Algorithm"), query.Get("X-Amz-Credential"))
}

func checkScope(algorithm, credential string) error {
	if algorithm != "AWS4-HMAC-SHA256" && algorithm != "AWS4-ECDSA-P256-SHA256" {
		return exception.New(exception.IncompleteSignature, "Unsupported AWS 'algorithm': '%s'. ", algorithm)
	}
	if strings.Count(strings.TrimRight(credential, "/"), "/") != 4 {
		return exception.New(exception.IncompleteSignature,
			"Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '%s'", credential)
	}
	return nil
}
