// SPDX-License-Identifier: Apache-2.0

package lint

import (
	_ "embed"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure lists the packages without I/O, goroutines, clock or random numbers. Their callers pass in
// what they need of these. `make race` leaves out those whose tests start no goroutine either.
//
//go:embed pure.txt
var pureList string

var pure = strings.Fields(pureList)

// impure lists the imports that pure packages may not have.
var impure = []string{
	"net", "net/http", "os", "os/exec", "os/signal", "io/fs", "io/ioutil", "log", "log/slog", "syscall",
	"math/rand", "crypto/rand", "runtime/debug",
}

// seeded lists what pure packages may use of math/rand/v2: generators that they receive, or make
// from a seed. The functions of the package itself draw from a source of its own.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}

// clock lists the functions of package time that read the clock or wait for it.
var clock = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

func TestPurePackages(t *testing.T) {
	for _, f := range source(t) {
		if f.test || !slices.Contains(pure, f.dir) {
			continue
		}
		for p, spec := range f.imports(t) {
			if slices.Contains(impure, p) {
				t.Errorf("%s: %s is a pure package and may not import %s", f.at(spec.Pos()), f.dir, p)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: %s is a pure package and may not start a goroutine", f.at(n.Pos()), f.dir)
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					t.Errorf("%s: %s is a pure package and may not use time.%s", f.at(n.Pos()), f.dir, n.Sel.Name)
				}
				if ok && x.Name == "rand" && x.Obj == nil && !slices.Contains(seeded, n.Sel.Name) {
					t.Errorf("%s: %s is a pure package and may not use rand.%s", f.at(n.Pos()), f.dir, n.Sel.Name)
				}
			}
			return true
		})
	}
}

const maxLines = 800

// reason matches the sentence in the head of a long file that says why it is long.
var reason = regexp.MustCompile(`(?m)^// (This|The) file is long because `)

func TestFileLength(t *testing.T) {
	for _, f := range source(t) {
		lines := strings.Count(f.text, "\n")
		if lines <= maxLines {
			continue
		}
		head := strings.Join(strings.SplitAfterN(f.text, "\n", 41)[:40], "")
		if !reason.MatchString(head) {
			t.Errorf("%s has %d lines, more than %d; part it, or begin a comment in its first 40 lines with \"This file is long because\"",
				f.path, lines, maxLines)
		}
	}
}

var forbiddenNames = []string{"util", "utils", "common", "helper", "helpers", "types", "base", "manager", "misc", "shared"}

func TestPackageNames(t *testing.T) {
	for _, f := range source(t) {
		if slices.Contains(forbiddenNames, strings.TrimSuffix(f.ast.Name.Name, "_test")) {
			t.Errorf("%s: package %s is not named after a noun of the domain", f.path, f.ast.Name.Name)
		}
	}
}

// later matches notes of unfinished work. The words are put together here, so that this file does
// not match itself.
var later = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

func TestNothingIsLeftForLater(t *testing.T) {
	for _, f := range source(t) {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if later.MatchString(c.Text) {
					t.Errorf("%s: %s", f.at(c.Pos()), c.Text)
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if fn, ok := n.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Fuzz") {
				return false // a fuzz target may skip an input
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch fun := call.Fun.(type) {
			case *ast.Ident:
				if fun.Name == "panic" && len(call.Args) == 1 && isUnfinished(call.Args[0]) {
					t.Errorf("%s: what is not supported is refused by an error", f.at(call.Pos()))
				}
			case *ast.SelectorExpr:
				x, ok := fun.X.(*ast.Ident)
				if ok && f.test && (x.Name == "t" || x.Name == "b" || x.Name == "f") && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, fun.Sel.Name) {
					t.Errorf("%s: a test that cannot have what it needs fails", f.at(call.Pos()))
				}
			}
			return true
		})
	}
}

func isUnfinished(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false
	}
	s, err := strconv.Unquote(lit.Value)
	s = strings.ToLower(s)
	return err == nil && (strings.Contains(s, "not implemented") || strings.Contains(s, "unimplemented"))
}

// TestLicence checks that each file names its licence on its first line.
func TestLicence(t *testing.T) {
	for _, f := range source(t) {
		if !strings.HasPrefix(f.text, "// SPDX-License-Identifier: Apache-2.0\n\n") {
			t.Errorf("%s does not begin with // SPDX-License-Identifier: Apache-2.0", f.path)
		}
	}
}
