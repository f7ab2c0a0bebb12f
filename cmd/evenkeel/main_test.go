// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

func TestMain(m *testing.M) {
	// An interval of 99% does not have the truth in one of a hundred samples: not in
	// these. How often it has is tested where it is computed.
	drawSeed = func() uint64 { return 1 }
	testscript.Main(m, map[string]func(){"evenkeel": main})
}

// Commands of these scripts beside testscript's own:
//
//	cassandra            sets $CASSANDRA to the address of a real one
//	port NAME            sets $NAME to 127.0.0.1 and a port that is free, $NAME_PORT to that
//	hold NAME            the same, but something listens there
//	envsubst FILE        replaces ${NAME} in a file
//	await URL [STATUS]   asks until the answer has the status (200), as its text to stdout
//	cql ADDR STATEMENT   executes a statement, once something serves CQL there
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"cassandra": func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Setenv("CASSANDRA", ts.Value("t").(func() string)())
	},
	"port": func(ts *testscript.TestScript, _ bool, args []string) {
		addr, release, err := loopback.Hold()
		ts.Check(err)
		ts.Defer(release)
		ts.Setenv(args[0], addr)
		_, port, err := net.SplitHostPort(addr)
		ts.Check(err)
		ts.Setenv(args[0]+"_PORT", port)
	},
	"hold": func(ts *testscript.TestScript, _ bool, args []string) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Defer(func() { ln.Close() })
		ts.Setenv(args[0], ln.Addr().String())
	},
	"envsubst": func(ts *testscript.TestScript, _ bool, args []string) {
		text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
	},
	"await": func(ts *testscript.TestScript, _ bool, args []string) {
		want, last := "200", ""
		if len(args) > 1 {
			want = args[1]
		}
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			resp, err := http.Get(args[0])
			if err != nil {
				last = err.Error()
				continue
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if last = resp.Status; err == nil && strings.HasPrefix(resp.Status, want) {
				fmt.Fprint(ts.Stdout(), string(body))
				return
			}
		}
		ts.Fatalf("%s: %s", args[0], last)
	},
	"cql": func(ts *testscript.TestScript, _ bool, args []string) {
		c := gocql.NewCluster(args[0])
		c.Timeout, c.ConnectTimeout, c.DisableInitialHostLookup = patience, patience, true
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			s, err := c.CreateSession()
			if err == nil {
				err = s.Query(args[1]).Exec()
				s.Close()
				ts.Check(err)
				return
			}
			if time.Now().After(deadline) {
				ts.Fatalf("%s: %v", args[0], err)
			}
		}
	},
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Cmds:                commands,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("EVENKEEL_UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Values["t"] = func() string { return cassandra.Shared(t) }
			return nil
		},
	})
}
