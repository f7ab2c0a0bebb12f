// SPDX-License-Identifier: Apache-2.0

package accesskey

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Key is one access key, with its rights at the endpoint behind the door.
type Key struct {
	ID           string `yaml:"access-key"`
	Secret       string `yaml:"secret-key"`
	SessionToken string `yaml:"session-token"` // clients must send it; empty: they must not send one

	Profile string `yaml:"profile"` // a profile of the AWS configuration
	Role    string `yaml:"role"`    // an ARN, assumed with the door's own credentials
	Door    bool   `yaml:"door"`    // the door's own rights
}

// Keys are the keys that a door accepts. They are immutable and safe for concurrent use.
type Keys struct {
	byID map[string]*Key
	all  []Key

	signing signingKeys
}

// Load reads the file of keys. behind says that the door is in front of an endpoint, at which each
// key must have some rights.
func Load(path string, behind bool) (*Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, fmt.Errorf("%s: longer than %d bytes", path, most)
	}
	k, err := Parse(text, behind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// Parse parses keys. Unknown members are errors with line and column.
func Parse(text []byte, behind bool) (*Keys, error) {
	var all []Key
	if err := yaml.UnmarshalWithOptions(text, &all, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
		// Leave out the source, which contains secrets.
		return nil, errors.New(strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if len(all) == 0 {
		return nil, errors.New("no access key is in it; a list of access-key and secret-key is wanted")
	}
	k := &Keys{all: all, byID: make(map[string]*Key, len(all))}
	var errs []error
	for i := range all {
		key := &all[i]
		if err := key.check(behind); err != nil {
			errs = append(errs, fmt.Errorf("access key %d: %w", i+1, err))
			continue
		}
		if k.byID[key.ID] != nil {
			errs = append(errs, fmt.Errorf("access key %s is there twice", key.ID))
		}
		k.byID[key.ID] = key
	}
	return k, errors.Join(errs...)
}

// minSecret is the smallest length of a secret. AWS's secrets have 40 characters.
const minSecret = 16

func (k *Key) check(behind bool) error {
	rights := 0
	for _, given := range []bool{k.Profile != "", k.Role != "", k.Door} {
		if given {
			rights++
		}
	}
	switch {
	case k.ID == "":
		return errors.New("access-key is missing")
	case strings.ContainsAny(k.ID, "/,= \t\n"):
		return fmt.Errorf("access-key %q has a character that a signature cannot have", k.ID)
	case len(k.Secret) < minSecret:
		return fmt.Errorf("%s: secret-key must have %d characters at least; AWS's have 40", k.ID, minSecret)
	case behind && rights != 1:
		return fmt.Errorf("%s: one of profile, role and 'door: true' must say whose rights it has at the endpoint", k.ID)
	case !behind && rights != 0:
		return fmt.Errorf("%s: profile, role and door are for a door in front of an endpoint (--dynamodb URL); leave them out", k.ID)
	case k.Role != "" && !strings.HasPrefix(k.Role, "arn:"):
		return fmt.Errorf("%s: role %q is no ARN, such as arn:aws:iam::123456789012:role/name", k.ID, k.Role)
	}
	return nil
}

// Differ reports whether keys have rights at the endpoint other than the door's.
func (k *Keys) Differ() bool {
	return slices.ContainsFunc(k.all, func(key Key) bool { return !key.Door })
}

// All returns the keys in order.
func (k *Keys) All() []Key { return k.all }
