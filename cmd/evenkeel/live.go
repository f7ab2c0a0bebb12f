// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// liveFlags say how to connect to a live table.
type liveFlags struct {
	PasswordFile string  `placeholder:"FILE" help:"File whose first line is the password of the user in cql://user@host/…."`
	TLS          bool    `name:"tls" help:"Speak TLS with the store."`
	TLSCA        string  `name:"tls-ca" placeholder:"FILE" help:"Certificates against which the store's is checked; the system's by default."`
	Rate         float64 `default:"20000" placeholder:"ROWS" help:"How many rows the command reads a second at most (${default}); 0 is no limit."`
}

// check returns an error if the flags are wrong.
func (f *liveFlags) check() error {
	if f.TLSCA != "" && !f.TLS {
		return withHint(errors.New("--tls-ca is for --tls"), "add --tls")
	}
	if !(f.Rate >= 0) || f.Rate > 1e12 {
		return fmt.Errorf("--rate: %v is not a number of rows a second", f.Rate)
	}
	return nil
}

// options reads the files that the flags name.
func (f *liveFlags) options(at live.Address) (live.Options, error) {
	o := live.Options{Rate: f.Rate}
	if f.PasswordFile != "" {
		if at.User == "" {
			return o, withHint(errors.New("--password-file: the address names no user"), "cql://user@host/keyspace.table")
		}
		text, err := os.ReadFile(f.PasswordFile)
		if err != nil {
			return o, fmt.Errorf("--password-file: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		if o.Password = strings.TrimSuffix(line, "\r"); o.Password == "" {
			return o, withHint(fmt.Errorf("--password-file: the first line of %s is empty", f.PasswordFile), "the password is its first line")
		}
	}
	if !f.TLS {
		return o, nil
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if f.TLSCA == "" {
		return o, nil
	}
	pem, err := os.ReadFile(f.TLSCA)
	if err != nil {
		return o, fmt.Errorf("--tls-ca: %w", err)
	}
	o.TLS.RootCAs = x509.NewCertPool()
	if !o.TLS.RootCAs.AppendCertsFromPEM(pem) {
		return o, fmt.Errorf("--tls-ca: no certificate in %s", f.TLSCA)
	}
	return o, nil
}

// liveHint adds a hint to an error of a live table.
func liveHint(err error) error {
	var h *hinted
	if hint := livetable.Hint(err); hint != "" && !errors.As(err, &h) {
		return withHint(err, "%s", hint)
	}
	return err
}
