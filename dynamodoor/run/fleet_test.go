// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/registry"
)

const (
	plainTable   = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]`
	shardedTable = plainTable + `,"Tags":[{"Key":"write-sharding","Value":"shards=5"}]}`
	itemOfTab    = `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"y"}}}`
	keyOfTab     = `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}}}`
)

// doorOn returns another door on a store, with a lease.
func doorOn(t testing.TB, b backend.Store, lease time.Duration) *Router {
	t.Helper()
	r := New(Options{Backend: b, Lease: lease})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	short = 30 * time.Millisecond
	ever  = time.Hour // a door that learns nothing from the end of its lease
)

// TestATableThatAnotherDoorHasMade checks that a door looks up a table that it has not seen.
func TestATableThatAnotherDoorHasMade(t *testing.T) {
	store := start(t, 1).store
	a, b := doorOn(t, store, short), doorOn(t, store, ever)
	must(t, a, "CreateTable", shardedTable)
	must(t, b, "PutItem", itemOfTab)
	if m := must(t, a, "GetItem", keyOfTab); !strings.Contains(fmt.Sprint(m), "y") {
		t.Errorf("%v", m)
	}
	if m := must(t, b, "DescribeTable", `{"TableName":"Tab"}`); strings.Contains(fmt.Sprint(m), "evenkeel.") {
		t.Errorf("%v", m)
	}
}

// TestATableThatWasPlain checks that a door that takes a table for plain notices at the first
// answer, whatever the request is, that the table was deleted and created sharded meanwhile.
func TestATableThatWasPlain(t *testing.T) {
	for operation, body := range map[string]string{
		"PutItem": itemOfTab, "GetItem": keyOfTab, "DeleteItem": keyOfTab,
		"UpdateItem":         `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"z"}},"ReturnValues":"ALL_NEW"}`,
		"Query":              `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`,
		"Scan":               `{"TableName":"Tab"}`,
		"BatchGetItem":       `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a"},"r":{"S":"1"}}]}}}`,
		"BatchWriteItem":     `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"1"}}}}]}}`,
		"TransactGetItems":   `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}}}}]}`,
		"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"2"}}}}]}`,
		"DescribeTable":      `{"TableName":"Tab"}`,
	} {
		t.Run(operation, func(t *testing.T) {
			store := start(t, 1).store
			a, b := doorOn(t, store, short), doorOn(t, store, ever)
			must(t, a, "CreateTable", plainTable+"}")
			must(t, b, "PutItem", itemOfTab) // the table is plain
			must(t, b, "GetItem", keyOfTab)
			must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
			must(t, a, "CreateTable", shardedTable)
			must(t, a, "PutItem", itemOfTab)
			m, err := do(b, operation, body)
			if err != nil || strings.Contains(fmt.Sprint(m), "evenkeel.") {
				t.Fatalf("%v %v", m, err)
			}
			want, err := do(a, operation, body)
			if err != nil || operation != "DeleteItem" && fmt.Sprint(m) != fmt.Sprint(want) {
				t.Errorf("%v, not %v (%v)", m, want, err)
			}
		})
	}
}

// TestANameIsUsedAgain checks that the name of a sharded table is not used again, for a plain or a
// sharded table, until every door knows that it is deleted.
func TestANameIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 100 * time.Millisecond
		for _, create := range []string{plainTable + "}", strings.Replace(shardedTable, "shards=5", "shards=7", 1)} {
			store := start(t, 1).store
			a, b := doorOn(t, store, lease), doorOn(t, store, lease)
			must(t, a, "CreateTable", shardedTable)
			must(t, b, "PutItem", itemOfTab)
			begin := time.Now()
			must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
			if took := time.Since(begin); took > lease {
				t.Errorf("to delete took %v", took)
			}
			if _, err := do(b, "GetItem", keyOfTab); exception.Of(err).Kind != exception.ResourceNotFound {
				t.Errorf("a deleted table answers %v", err)
			}
			must(t, a, "CreateTable", create)
			if took := time.Since(begin); took < lease {
				t.Errorf("made again after %v, within the lease", took)
			}
			must(t, b, "PutItem", itemOfTab)
			if m := must(t, a, "GetItem", keyOfTab); strings.Contains(fmt.Sprint(m), "evenkeel.") || m["Item"] == nil {
				t.Errorf("%v", m)
			}
			if _, err := do(b, "CreateTable", create); exception.Of(err).Kind != exception.ResourceInUse {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestSlowlyWhereOnlyAnIndexIsSharded checks that a plain table with sharded indexes is created
// only when no door can take it for a plain one, because its answers do not reveal it.
func TestSlowlyWhereOnlyAnIndexIsSharded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 100 * time.Millisecond
		store := start(t, 1).store
		a, b := doorOn(t, store, lease), doorOn(t, store, lease)
		must(t, a, "CreateTable", plainTable+"}")
		must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
		begin := time.Now()
		must(t, a, "CreateTable", strings.Replace(plainTable, `"AttributeType":"S"}]`, `"AttributeType":"S"},{"AttributeName":"x","AttributeType":"S"}]`, 1)+
			`,"GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],"Tags":[{"Key":"write-sharding.index.idx","Value":"shards=3"}]}`)
		if took := time.Since(begin); took < lease {
			t.Errorf("made after %v, within the lease", took)
		}
		must(t, b, "PutItem", itemOfTab)
		m := must(t, b, "Query", `{"TableName":"Tab","IndexName":"idx","KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"y"}}}`)
		if fmt.Sprint(m["Count"]) != "1" {
			t.Errorf("%v", m)
		}
	})
}

// TestAnIndexThatAnotherDoorHasAdded checks that a door finds an index that another door has added,
// with either language.
func TestAnIndexThatAnotherDoorHasAdded(t *testing.T) {
	for operation, query := range map[string]string{
		"Query":            `{"TableName":"Tab","IndexName":"idx","KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"y"}}}`,
		"ExecuteStatement": `{"Statement":"SELECT * FROM Tab.idx WHERE x = 'y'"}`,
	} {
		for _, create := range []string{shardedTable, plainTable + "}"} {
			synctest.Test(t, func(t *testing.T) {
				store := start(t, 1).store
				a, b := doorOn(t, store, short), doorOn(t, store, ever)
				must(t, a, "CreateTable", create)
				must(t, b, "PutItem", itemOfTab)
				must(t, b, "ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = 'a'"}`)
				must(t, a, "UpdateTable", `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"idx","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`)
				for deadline := time.Now().Add(2 * tables.Glance); ; time.Sleep(20 * time.Millisecond) {
					m, err := do(b, operation, query)
					if err == nil {
						if items, _ := m["Items"].([]any); len(items) != 1 {
							t.Errorf("%v", m)
						}
						return
					}
					if time.Now().After(deadline) {
						t.Fatal(operation, err)
					}
				}
			})
		}
	}
}

// altered is a backend in which a test replaces some operations.
type altered struct {
	Backend
	do     func(ctx context.Context, operation string, body, dst []byte) ([]byte, error, bool)
	answer func(ctx context.Context, q api.Request) (error, bool)
}

func (a *altered) Has(string) bool { return true }

func (a *altered) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	if a.do != nil {
		if out, err, done := a.do(ctx, operation, body, dst); done {
			return out, err
		}
	}
	return a.Backend.Do(ctx, operation, body, dst)
}

func (a *altered) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if a.answer != nil {
		if err, done := a.answer(ctx, q); done {
			return err
		}
	}
	return a.Backend.Answer(ctx, q, use)
}

// TestRightsAreTheClients checks that the door uses its own rights for its own requests and the
// client's for the client's, and that a client without rights gets no answer from what another has
// revealed.
func TestRightsAreTheClients(t *testing.T) {
	denied := exception.New(exception.AccessDenied, "User: bob is not authorized")
	who := func(ctx context.Context) string { return principal.Of(ctx).ID }
	store := &altered{Backend: start(t, 1).store}
	store.do = func(ctx context.Context, _ string, _, dst []byte) ([]byte, error, bool) {
		return dst, denied, who(ctx) == "bob"
	}
	store.answer = func(ctx context.Context, q api.Request) (error, bool) {
		if d, ok := q.(*api.DescribeTable); ok && d.Table == "Tab" && who(ctx) != "" && who(ctx) != "alice" {
			return denied, true
		}
		return denied, who(ctx) == "bob"
	}
	door := doorOn(t, store, short)
	alice, bob := as(door, "alice"), as(door, "bob")
	must(t, alice, "CreateTable", shardedTable)
	must(t, alice, "PutItem", itemOfTab)
	must(t, alice, "GetItem", keyOfTab)
	for operation, body := range map[string]string{
		"GetItem": keyOfTab, "PutItem": itemOfTab, "DeleteTable": `{"TableName":"Tab"}`, "DescribeTable": `{"TableName":"Tab"}`, "Scan": `{"TableName":"Tab"}`,
		"Query":       `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`,
		"ListTables":  `{}`,
		"UpdateTable": `{"TableName":"Tab","DeletionProtectionEnabled":true}`,
		// Only clients that may make a request learn what is wrong with it.
		"DeleteItem":       `{"TableName":"Tab","Key":{"nokey":{"S":"a"}}}`,
		"UpdateItem":       `{"TableName":"Tab","Key":{"nokey":{"S":"a"}}}`,
		"BatchGetItem":     `{"RequestItems":{"Tab":{"Keys":[{"nokey":{"S":"a"}}]}}}`,
		"TransactGetItems": `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"nokey":{"S":"a"}}}}]}`,
	} {
		if _, err := do(bob, operation, body); exception.Of(err).Kind != exception.AccessDenied {
			t.Errorf("%s: %v", operation, err)
		}
	}
	// The table was not deleted and is not being deleted.
	e, err := catalogOf(door).Get(t.Context(), "Tab")
	if err != nil || e.State != registry.Active {
		t.Errorf("%+v %v", e, err)
	}
	must(t, alice, "GetItem", keyOfTab)
	if _, err := do(alice, "DeleteItem", `{"TableName":"Tab","Key":{"nokey":{"S":"a"}}}`); exception.Of(err).Kind != exception.Validation {
		t.Errorf("%v", err)
	}
}

type client struct {
	door *Router
	id   string
}

func as(door *Router, id string) client { return client{door, id} }

func (c client) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	return c.door.Do(principal.With(ctx, principal.Principal{ID: c.id}), operation, body, dst)
}

// TestTablesThatBecomeActiveLater covers AWS, which creates tables slowly and does not describe
// them for a while.
func TestTablesThatBecomeActiveLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &altered{Backend: start(t, 1).store}
		var active time.Time
		slow.answer = func(_ context.Context, q api.Request) (error, bool) {
			switch q := q.(type) {
			case *api.CreateTable:
				active = time.Now().Add(150 * time.Millisecond)
			case *api.DescribeTable:
				return tables.NotThere(q.Table), q.Table == "Tab" && time.Now().Before(active)
			case *api.PutItem, *api.Query:
				return exception.New(exception.ResourceNotFound, "Requested resource not found"), time.Now().Before(active)
			}
			return nil, false
		}
		a, b := doorOn(t, slow, short), doorOn(t, slow, short)
		must(t, a, "CreateTable", shardedTable)
		for _, door := range []*Router{a, b} {
			if _, err := do(door, "PutItem", itemOfTab); exception.Of(err).Kind != exception.ResourceNotFound && exception.Of(err).Kind != exception.Validation {
				t.Errorf("before the table is active: %v", err)
			}
		}
		time.Sleep(200 * time.Millisecond)
		for _, door := range []*Router{a, b} {
			must(t, door, "PutItem", itemOfTab)
		}
	})
}

// TestHalfWayIsLeftAlone checks that a door settles another door's unfinished operation only once
// it is old.
func TestHalfWayIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := start(t, 1).store
		a := doorOn(t, store, short)
		must(t, a, "CreateTable", shardedTable)
		must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
		time.Sleep(a.tables.Grace())
		if err := a.tables.Vacate(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
		e, err := catalogOf(a).Begin(t.Context(), catalog.Entry{Table: "Tab", Physical: "Tab", Hash: "h", HashType: "S"})
		if err != nil {
			t.Fatal(err)
		}
		b := doorOn(t, store, short)
		if _, err := do(b, "GetItem", keyOfTab); exception.Of(err).Kind != exception.ResourceNotFound {
			t.Errorf("%v", err)
		}
		if _, err := do(b, "CreateTable", plainTable+"}"); exception.Of(err).Kind != exception.ResourceInUse {
			t.Errorf("%v", err)
		}
		if now, err := catalogOf(a).Get(t.Context(), "Tab"); err != nil || now == nil || now.State != e.State {
			t.Errorf("%v %v", now, err)
		}
		for _, skew := range []time.Duration{2 * tables.SettleAfter, -2 * tables.SettleAfter} {
			c := New(Options{Backend: store, Lease: short, Now: func() time.Time { return time.Now().Add(skew) }})
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(tables.SettleAfter / 2)
			if err := c.tables.Renew(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if now, err := catalogOf(a).Get(t.Context(), "Tab"); err != nil || now == nil || now.State != e.State {
				t.Errorf("clock %s off: %v %v", skew, now, err)
			}
		}
		if err := b.tables.Renew(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if now, err := catalogOf(a).Get(t.Context(), "Tab"); err != nil || now != nil {
			t.Errorf("%v %v", now, err)
		}
	})
}

// TestNameIsKeptByAnyClock deletes a table at one door. A door with another clock uses the name again only when
// the lease of each door has ended.
func TestNameIsKeptByAnyClock(t *testing.T) {
	for _, skew := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			store := start(t, 1).store
			a := doorOn(t, store, short)
			b := New(Options{Backend: store, Lease: short, Now: func() time.Time { return time.Now().Add(skew) }})
			if err := b.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			must(t, a, "CreateTable", shardedTable)
			must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
			deleted := time.Now()
			if err := b.tables.Renew(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			must(t, b, "CreateTable", shardedTable)
			if after := time.Since(deleted); after < a.tables.Grace() || after > 3*a.tables.Grace() {
				t.Errorf("clock %s off: the name is used again after %s; the doors' grace is %s", skew, after, a.tables.Grace())
			}
		})
	}
}

// TestOrphansAndUnknownOperations checks that a physical table without an entry is refused, and so
// is an operation that would show one.
func TestOrphansAndUnknownOperations(t *testing.T) {
	store := &altered{Backend: start(t, 1).store}
	store.do = func(_ context.Context, operation string, body, dst []byte) ([]byte, error, bool) {
		return append(dst, body...), nil, strings.HasPrefix(operation, "Future")
	}
	a := doorOn(t, store, short)
	must(t, a, "CreateTable", shardedTable)
	for body, refused := range map[string]bool{
		`{"TableName":"Tab"}`: true, `{"x":[{"ARN":"arn:aws:dynamodb:us-east-1:1:table/Tab/backup/1"}]}`: true, `{"Tab":1}`: true, `{"T":"evenkeel"}`: true, `not JSON about Tab`: true,
		`{"TableName":"Table"}`: false, `{"T":"aTab"}`: false, `{}`: false, ``: false, `{"T":"x-evenkeel"}`: false,
	} {
		out, err := a.Do(t.Context(), "FutureOperation", []byte(body), nil)
		if (err != nil) != refused || err == nil && string(out) != body {
			t.Errorf("%s: %s %v", body, out, err)
		}
	}
	if _, err := do(a, "DescribeEndpoints", `{}`); exception.Of(err).Kind != exception.UnknownOperation {
		t.Errorf("%v", err)
	}
	e, err := catalogOf(a).Get(t.Context(), "Tab")
	if err != nil {
		t.Fatal(err)
	}
	if err := catalogOf(a).Remove(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	time.Sleep(short)
	for range 2 {
		if _, err := do(a, "Scan", `{"TableName":"Tab"}`); err == nil || !strings.Contains(err.Error(), "lost its entry") {
			t.Errorf("%v", err)
		}
		time.Sleep(short)
	}
}

func TestListTablesAsksNoMoreThanAWSAllows(t *testing.T) {
	store := &altered{Backend: start(t, 1).store}
	store.answer = func(_ context.Context, q api.Request) (error, bool) {
		l, ok := q.(*api.ListTables)
		return exception.Invalid("too many"), ok && (l.Limit < 1 || l.Limit > api.MaxTables)
	}
	a := doorOn(t, store, short)
	must(t, a, "CreateTable", shardedTable)
	for _, name := range []string{"aaa", "fff", "zzz"} {
		must(t, a, "CreateTable", strings.Replace(plainTable, `"Tab"`, fmt.Sprintf("%q", name), 1)+"}")
	}
	var all []string
	from := ""
	for range 10 {
		m := must(t, a, "ListTables", `{"Limit":2`+from+`}`)
		for _, n := range m["TableNames"].([]any) {
			all = append(all, n.(string))
		}
		last, ok := m["LastEvaluatedTableName"]
		if !ok {
			break
		}
		from = fmt.Sprintf(`,"ExclusiveStartTableName":%q`, last)
	}
	if want := []string{"Tab", "aaa", "fff", "zzz"}; !slices.Equal(all, want) {
		t.Errorf("%v", all)
	}
	must(t, a, "ListTables", `{}`)
}

// TestForwardingAllocatesLittle checks that reading the names in a forwarded request allocates
// nothing.
func TestForwardingAllocatesLittle(t *testing.T) {
	a := doorOn(t, &altered{Backend: start(t, 1).store, do: func(_ context.Context, operation string, _, dst []byte) ([]byte, error, bool) {
		return append(dst, "{}"...), nil, operation == "GetItem"
	}}, ever)
	must(t, a, "CreateTable", plainTable+"}")
	body := []byte(keyOfTab)
	dst := make([]byte, 0, 100)
	step := func() {
		if _, err := a.Do(t.Context(), "GetItem", body, dst); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n > 4 {
		t.Errorf("%v allocations", n)
	}
}

// TestTablesThatAreDeletedLater checks that, if a store takes its time to delete a table, all doors
// see the table as being deleted, and its name is not free.
func TestTablesThatAreDeletedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &altered{Backend: start(t, 1).store}
		var gone time.Time
		slow.answer = func(ctx context.Context, q api.Request) (error, bool) {
			switch q := q.(type) {
			case *api.DeleteTable:
				if q.Table == "Tab" && gone.IsZero() {
					gone = time.Now().Add(300 * time.Millisecond)
					time.AfterFunc(300*time.Millisecond, func() {
						_ = slow.Backend.Answer(context.Background(), q, func(api.Response) error { return nil })
					})
				}
			case *api.GetItem:
				return tables.ErrNoTable, !gone.IsZero() && time.Now().Before(gone)
			}
			return nil, false
		}
		deleting := &deletes{slow, &gone}
		a, b := doorOn(t, deleting, short), doorOn(t, deleting, short)
		must(t, a, "CreateTable", shardedTable)
		must(t, b, "PutItem", itemOfTab)
		must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
		for time.Now().Before(gone.Add(-50 * time.Millisecond)) {
			for _, door := range []*Router{a, b} {
				m, err := do(door, "DescribeTable", `{"TableName":"Tab"}`)
				if err != nil || strings.Contains(fmt.Sprint(m), "evenkeel.") {
					t.Fatalf("%v %v", m, err)
				}
				if _, err := do(door, "GetItem", keyOfTab); exception.Of(err).Kind != exception.ResourceNotFound {
					t.Fatalf("%v", err)
				}
				if _, err := do(door, "CreateTable", shardedTable); exception.Of(err).Kind != exception.ResourceInUse {
					t.Fatalf("%v", err)
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(150 * time.Millisecond)
		for _, door := range []*Router{a, b} {
			if _, err := do(door, "DescribeTable", `{"TableName":"Tab"}`); exception.Of(err).Kind != exception.ResourceNotFound {
				t.Errorf("%v", err)
			}
		}
		must(t, b, "CreateTable", shardedTable)
		must(t, a, "PutItem", itemOfTab)
	})
}

// deletes is a store that only claims to delete table Tab.
type deletes struct {
	*altered
	gone *time.Time
}

func (d *deletes) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	del, ok := q.(*api.DeleteTable)
	if !ok || del.Table != "Tab" || !d.gone.IsZero() {
		return d.altered.Answer(ctx, q, use)
	}
	if err, done := d.answer(ctx, q); done {
		return err
	}
	return d.Backend.Answer(ctx, &api.DescribeTable{Table: "Tab"}, func(a api.Response) error {
		r := *a.(*api.TableResponse)
		r.Describe = false
		return use(&r)
	})
}

// TestDeletingATableThatIsBeingDeleted checks that a door with an old entry does not delete a table
// that another door is deleting or has changed. The client may retry.
func TestDeletingATableThatIsBeingDeleted(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", shardedTable)
	other := again(t, s.store, 1)
	c := catalog.New(backend.Door{Store: s.store}, time.Now)
	e, err := c.Get(t.Context(), "Tab")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Drop(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	fails(t, other, exception.ResourceInUse, "table Tab is being changed by another request", "DeleteTable", `{"TableName":"Tab"}`)
}
