// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// disk is a disk that is full while the test says so.
type disk struct {
	vfs.FS
	full atomic.Bool
}

func (d *disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	u := vfs.DiskUsage{TotalBytes: 10 << 30, AvailBytes: 5 << 30}
	if d.full.Load() {
		u.AvailBytes = 0
	}
	return u, nil
}

// The fill of an index stops while the disk is full, and continues when there is space again.
func TestFillWaitsForRoom(t *testing.T) {
	d := &disk{FS: vfs.NewMem()}
	s := open(t, d, Options{})
	defer s.close(t)
	s.must(t, "CreateTable", `{"TableName": "tab", "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}`)
	s.must(t, "CreateTable", `{"TableName": "another", "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}`)
	for i := range 20 {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName": "tab", "Item": {"k": {"S": "%d"}, "g": {"S": "x"}}}`, i))
	}
	// The fill reaches the first item that another request has locked.
	tab := s.tables.all()["tab"]
	it, err := s.space.Pebble.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var h held
	prefix := tab.shape.Load().prefix(nil, indexItems)
	if !it.SeekGE(prefix) {
		t.Fatal("there is no item")
	}
	h.lock(s.writes.locks, append([]byte(nil), it.Key()...))
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	s.must(t, "UpdateTable", `{"TableName": "tab", "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}], "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "idx", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}]}`)
	d.full.Store(true)
	await(t, "writes are refused", func() bool {
		_, err := s.do("PutItem", `{"TableName": "another", "Item": {"k": {"S": "z"}}}`)
		return err != nil
	})
	keys := func() (n int) {
		it, err := s.space.Pebble.NewIter(nil)
		if err != nil {
			t.Fatal(err)
		}
		for ok := it.First(); ok; ok = it.Next() {
			n++
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := keys()
	h.unlock()
	query := `{"TableName": "tab", "IndexName": "idx", "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": {"S": "x"}}}`
	time.Sleep(100 * time.Millisecond) // in this time a fill that does not wait would end
	if n := keys() - before; n != 0 {
		t.Errorf("%d entries were written, and the disk is full", n)
	}
	s.fails(t, exception.InternalServerError, "PutItem", `{"TableName": "tab", "Item": {"k": {"S": "new"}}}`)
	d.full.Store(false)
	await(t, "the index is filled", func() bool {
		m, err := s.do("Query", query)
		return err == nil && m["Count"] == 20.0
	})
}
