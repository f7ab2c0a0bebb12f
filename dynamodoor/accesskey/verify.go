// SPDX-License-Identifier: Apache-2.0

package accesskey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

const (
	algorithm = "AWS4-HMAC-SHA256"
	service   = "dynamodb"
	scopeEnd  = "aws4_request"
	timeForm  = "20060102T150405Z"
	skew      = 15 * time.Minute
	longest   = 7 * 24 * time.Hour // largest validity of a signature in a query
)

// signature is what a request says about its signature, in its Authorization header or its query.
type signature struct {
	algorithm, credential, signed, signature string
	date                                     string
	tokens                                   []string // from all places in the request
	inQuery                                  bool
	expires                                  []string // in a query: the seconds for which it is valid
}

// Verify returns the principal that signed a request with a body, or an error. The caller must have
// checked the form of the signature.
func (k *Keys) Verify(r *http.Request, body []byte, now time.Time) (principal.Principal, error) {
	s := read(r)
	if s.algorithm != algorithm {
		return principal.Principal{}, exception.New(exception.IncompleteSignature, "Unsupported AWS 'algorithm': '%s'. ", s.algorithm)
	}
	scope := strings.Split(strings.TrimRight(s.credential, "/"), "/")
	if len(scope) != 5 {
		return principal.Principal{}, exception.New(exception.IncompleteSignature,
			"Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '%s'", s.credential)
	}
	good, err := s.lifetime()
	if err != nil {
		return principal.Principal{}, err
	}
	if err := s.checkTime(scope[1], now, good); err != nil {
		return principal.Principal{}, err
	}
	if err := checkScope(scope); err != nil {
		return principal.Principal{}, err
	}
	signed := strings.Split(s.signed, ";")
	musts := []string{"host", "x-amz-target"}
	if !s.inQuery && r.Header.Get("X-Amz-Date") != "" {
		musts = append(musts, "x-amz-date")
	}
	if len(r.Header.Values(tokenName)) > 0 {
		musts = append(musts, "x-amz-security-token")
	}
	for _, must := range musts {
		if !slices.Contains(signed, must) {
			return principal.Principal{}, exception.New(exception.InvalidSignature, "'%s' must be a 'SignedHeader' in the AWS Authorization.", http.CanonicalHeaderKey(must))
		}
	}
	key := k.byID[scope[0]]
	if key == nil || !s.hasToken(key.SessionToken) {
		return principal.Principal{}, exception.New(exception.UnrecognizedClient, "The security token included in the request is invalid.")
	}
	mac := k.signing.of(key, scope[1], scope[2])
	sum := hmac.New(sha256.New, mac)
	sum.Write([]byte(stringToSign(s.date, scope, canonical(r, body, signed))))
	want := hex.EncodeToString(sum.Sum(nil))
	if !hmac.Equal([]byte(want), []byte(s.signature)) {
		return principal.Principal{}, exception.New(exception.InvalidSignature, "The request signature we calculated does not match the signature you provided. "+
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	return principal.Principal{ID: key.ID}, nil
}

const tokenName = "X-Amz-Security-Token"

func read(r *http.Request) signature {
	tokens := r.Header.Values(tokenName)
	header := r.Header.Get("Authorization")
	if header == "" {
		q := r.URL.Query()
		return signature{
			algorithm: q.Get("X-Amz-Algorithm"), credential: q.Get("X-Amz-Credential"), signed: q.Get("X-Amz-SignedHeaders"),
			signature: q.Get("X-Amz-Signature"), date: q.Get("X-Amz-Date"), tokens: slices.Concat(tokens, q[tokenName]), inQuery: true,
			expires: q["X-Amz-Expires"],
		}
	}
	s := signature{date: r.Header.Get("X-Amz-Date"), tokens: tokens}
	if s.date == "" {
		s.date = r.Header.Get("Date")
	}
	var rest string
	s.algorithm, rest, _ = strings.Cut(header, " ")
	for part := range strings.FieldsFuncSeq(rest, func(c rune) bool { return c == ',' || c == ' ' }) {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "Credential":
			s.credential = value
		case "Signature":
			s.signature = value
		case "SignedHeaders":
			s.signed = value
		}
	}
	return s
}

// hasToken reports whether the request has a key's session token and no other.
func (s *signature) hasToken(want string) bool {
	for _, token := range s.tokens {
		if !hmac.Equal([]byte(token), []byte(want)) {
			return false
		}
	}
	return want == "" || len(s.tokens) > 0
}

// lifetime returns how long after its time the signature is valid: the allowed difference of
// clocks, or the lifetime in a query, which may be shorter or longer.
func (s *signature) lifetime() (time.Duration, error) {
	if len(s.expires) == 0 {
		return skew, nil
	}
	seconds, err := strconv.Atoi(s.expires[0])
	if err != nil || len(s.expires) > 1 || seconds < 1 || seconds > int(longest/time.Second) {
		return 0, exception.New(exception.IncompleteSignature, "X-Amz-Expires must be a number of seconds from 1 to %d. Got '%s'.",
			int(longest/time.Second), strings.Join(s.expires, ","))
	}
	return time.Duration(seconds) * time.Second, nil
}

// inWords formats a time in minutes, or in seconds if it is not a whole number of minutes.
func inWords(d time.Duration) string {
	if d%time.Minute != 0 {
		return strconv.Itoa(int(d/time.Second)) + " sec."
	}
	return strconv.Itoa(int(d/time.Minute)) + " min."
}

// checkTime returns an error if the signature's time is not about now, or is not of the day in its
// scope. good is the time for which it is valid after its own time.
func (s *signature) checkTime(day string, now time.Time, good time.Duration) error {
	at, err := time.Parse(timeForm, s.date)
	if err != nil {
		if at, err = http.ParseTime(s.date); err != nil {
			return exception.New(exception.IncompleteSignature, "Date must be in ISO-8601 'basic format'. Got '%s'. See http://en.wikipedia.org/wiki/ISO_8601", s.date)
		}
		s.date = at.UTC().Format(timeForm)
	}
	now = now.UTC().Truncate(time.Second)
	switch {
	case at.Before(now.Add(-good)):
		return exception.New(exception.InvalidSignature, "Signature expired: %s is now earlier than %s (%s - %s)",
			s.date, now.Add(-good).Format(timeForm), now.Format(timeForm), inWords(good))
	case at.After(now.Add(skew)):
		return exception.New(exception.InvalidSignature, "Signature not yet current: %s is still later than %s (%s + %s)",
			s.date, now.Add(skew).Format(timeForm), now.Format(timeForm), inWords(skew))
	case day != s.date[:8]:
		return exception.New(exception.InvalidSignature, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '%s' != '%s', from '%s'.",
			day, s.date[:8], s.date)
	}
	return nil
}

func checkScope(scope []string) error {
	var wrong []string
	if scope[2] == "" {
		wrong = append(wrong, "Credential should be scoped to a valid region. ")
	}
	if scope[3] != service {
		wrong = append(wrong, "Credential should be scoped to correct service: '"+service+"'. ")
	}
	if scope[4] != scopeEnd {
		wrong = append(wrong, "Credential should be scoped with a valid terminator: '"+scopeEnd+"'. ")
	}
	if wrong == nil {
		return nil
	}
	return &exception.Error{Kind: exception.InvalidSignature, Message: strings.Join(wrong, "")}
}

// canonical returns the canonical form of the request, whose hash is signed.
func canonical(r *http.Request, body []byte, signed []string) string {
	var b strings.Builder
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	b.WriteString(r.Method + "\n" + path + "\n" + canonicalQuery(r.URL.Query()) + "\n")
	for _, name := range signed {
		b.WriteString(name + ":")
		switch name {
		case "host":
			b.WriteString(r.Host)
		case "content-length":
			b.WriteString(strconv.FormatInt(r.ContentLength, 10))
		default:
			for i, v := range r.Header.Values(name) {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(strings.Join(strings.Fields(v), " "))
			}
		}
		b.WriteByte('\n')
	}
	sum := sha256.Sum256(body)
	b.WriteString("\n" + strings.Join(signed, ";") + "\n" + hex.EncodeToString(sum[:]))
	return b.String()
}

func canonicalQuery(q url.Values) string {
	q.Del("X-Amz-Signature")
	if len(q) == 0 {
		return ""
	}
	return strings.ReplaceAll(q.Encode(), "+", "%20") // Encode sorts; it differs only in how it writes a space
}

func stringToSign(date string, scope []string, canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	return algorithm + "\n" + date + "\n" + strings.Join(scope[1:], "/") + "\n" + hex.EncodeToString(sum[:])
}

// signingKeys holds the keys for signatures of a day and region. They are derived from the secret
// in four steps.
type signingKeys struct {
	known sync.Map // of []byte, by id, day and region
	n     sync.Mutex
	count int
}

type signingKey struct{ id, day, region string }

// manySigningKeys is the largest number of signing keys that are remembered.
const manySigningKeys = 1024

func (s *signingKeys) of(key *Key, day, region string) []byte {
	id := signingKey{key.ID, day, region}
	if known, ok := s.known.Load(id); ok {
		return known.([]byte)
	}
	mac := []byte("AWS4" + key.Secret)
	for _, part := range []string{day, region, service, scopeEnd} {
		h := hmac.New(sha256.New, mac)
		h.Write([]byte(part))
		mac = h.Sum(nil)
	}
	s.n.Lock()
	defer s.n.Unlock()
	if s.count++; s.count > manySigningKeys { // a client may name any region
		s.known.Clear()
		s.count = 1
	}
	s.known.Store(signingKey{key.ID, strings.Clone(day), strings.Clone(region)}, mac)
	return mac
}
