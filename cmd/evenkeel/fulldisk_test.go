// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// disk is a disk that is full when it is said to be.
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

// TestFullDisk fills the disk of a server. Both doors must refuse writes of every kind, to sharded
// and to plain tables, with an error that clients know. They must go on reading, and write again
// when there is room.
func TestFullDisk(t *testing.T) {
	d := &disk{FS: vfs.NewMem()}
	s := &serveCmd{
		ListenCQL: loopback.FreeAddr(t), ListenHTTP: loopback.FreeAddr(t), ListenDynamoDB: loopback.FreeAddr(t), Data: "data", Drain: patience, LogLevel: "error", files: d,
	}
	signals, ended := s.start(t)
	nc, err := net.Dial("tcp", s.ListenCQL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	answers := wire.NewResponseDecoder(nc, 1<<20)
	send := func(op wire.Op, body []byte) *wire.Error {
		t.Helper()
		if _, err := nc.Write(wire.AppendFrame(nil, wire.Header{Version: wire.V4, Op: op}, body)); err != nil {
			t.Fatal(err)
		}
		h, body, err := answers.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Op != wire.OpError {
			return nil
		}
		_, body, err = wire.SplitPrefix(h.Op, h.Flags, body)
		if err != nil {
			t.Fatal(err)
		}
		e, err := wire.ParseError(wire.V4, body)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	send(wire.OpStartup, wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.0.0"}))
	cql := func(text string) *wire.Error {
		t.Helper()
		return send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}))
	}
	dynamo := func(operation, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, "http://"+s.ListenDynamoDB+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		req.Header.Set("Content-Type", "application/x-amz-json-1.0")
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20240101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=b")
		req.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	for _, text := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.plain (p int, c int, v text, l list<int>, PRIMARY KEY (p, c))",
		"CREATE TABLE ks.spread (p int, c int, v text, l list<int>, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}",
		"CREATE TABLE ks.counted (p int, c int, n counter, PRIMARY KEY (p, c))",
	} {
		if e := cql(text); e != nil {
			t.Fatal(text, e)
		}
	}
	define := `"AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}, {"AttributeName": "r", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}, {"AttributeName": "r", "KeyType": "RANGE"}], "BillingMode": "PAY_PER_REQUEST"`
	for name, tags := range map[string]string{"plain": "", "spread": `, "Tags": [{"Key": "write-sharding", "Value": "strategy=calculated shards=3"}]`} {
		if status, answer := dynamo("CreateTable", `{"TableName": "`+name+`", `+define+tags+`}`); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	var writes []string // in CQL
	for _, table := range []string{"plain", "spread"} {
		for _, text := range []string{
			"INSERT INTO ks.t (p, c, v) VALUES (1, 1, 'x')",
			"UPDATE ks.t SET v = 'y', l = [1, 2, 3] WHERE p = 1 AND c = 1",
			"UPDATE ks.t SET l[0] = 7 WHERE p = 1 AND c = 1",
			"UPDATE ks.t SET v = 'z' WHERE p = 1 AND c = 1 IF EXISTS",
			"BEGIN BATCH INSERT INTO ks.t (p, c, v) VALUES (1, 2, 'x'); INSERT INTO ks.t (p, c, v) VALUES (1, 3, 'x'); APPLY BATCH",
			"DELETE FROM ks.t WHERE p = 1 AND c = 5",
			"DELETE FROM ks.t WHERE p = 5",
		} {
			writes = append(writes, strings.ReplaceAll(text, "ks.t", "ks."+table))
		}
	}
	writes = append(writes, "UPDATE ks.counted SET n = n + 1 WHERE p = 1 AND c = 1")
	items := [][2]string{ // and of items
		{"PutItem", `{"TableName": "T", "Item": {"k": {"S": "a"}, "r": {"S": "b"}, "v": {"S": "x"}}}`},
		{"UpdateItem", `{"TableName": "T", "Key": {"k": {"S": "a"}, "r": {"S": "b"}}, "UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": {"S": "y"}}}`},
		{"DeleteItem", `{"TableName": "T", "Key": {"k": {"S": "a"}, "r": {"S": "c"}}}`},
		{"BatchWriteItem", `{"RequestItems": {"T": [{"PutRequest": {"Item": {"k": {"S": "a"}, "r": {"S": "c"}}}}]}}`},
		{"TransactWriteItems", `{"TransactItems": [{"Put": {"TableName": "T", "Item": {"k": {"S": "a"}, "r": {"S": "d"}}}}]}`},
	}
	everything := func(check func(what string, failed, asItShould bool, how string)) {
		t.Helper()
		for _, text := range writes {
			e := cql(text)
			if e == nil {
				check(text, false, false, "")
				continue
			}
			check(text, true, e.Code == wire.CodeWriteFailure, e.Error())
		}
		for _, table := range []string{"plain", "spread"} {
			for _, w := range items {
				status, answer := dynamo(w[0], strings.ReplaceAll(w[1], `"T"`, `"`+table+`"`))
				check(w[0]+" "+table, status != http.StatusOK, status == http.StatusInternalServerError && strings.Contains(answer, "InternalServerError"), answer)
			}
		}
	}
	reads := func() {
		t.Helper()
		for _, table := range []string{"plain", "spread"} {
			if e := cql("SELECT * FROM ks." + table + " WHERE p = 1"); e != nil {
				t.Error(e)
			}
			if status, answer := dynamo("Query", `{"TableName": "`+table+`", "KeyConditionExpression": "k = :k", "ExpressionAttributeValues": {":k": {"S": "a"}}}`); status != http.StatusOK {
				t.Error(answer)
			}
		}
	}
	succeed := func(what string, failed, _ bool, how string) {
		t.Helper()
		if failed {
			t.Errorf("%s: %s", what, how)
		}
	}
	everything(succeed)
	reads()
	d.full.Store(true)
	for cql(writes[0]) == nil { // it is noticed within a second
		time.Sleep(10 * time.Millisecond)
	}
	everything(func(what string, failed, asItShould bool, how string) {
		t.Helper()
		if !failed || !asItShould {
			t.Errorf("on a full disk, %s: %q", what, how)
		}
	})
	reads()
	d.full.Store(false)
	for cql(writes[0]) != nil {
		time.Sleep(10 * time.Millisecond)
	}
	everything(succeed)
	reads()
	signals <- syscall.SIGTERM
	if err := wait(t, ended); err != nil {
		t.Error(err)
	}
}

// fullFS is a disk on which no file can be made.
type fullFS struct{ vfs.FS }

func (fullFS) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, &os.PathError{Op: "create", Path: name, Err: syscall.ENOSPC}
}

// TestStartOnAFullDisk starts a server whose disk has no room for its files. The hint is to make room.
func TestStartOnAFullDisk(t *testing.T) {
	for name, s := range map[string]*serveCmd{
		"CQL":      {ListenCQL: loopback.FreeAddr(t), ListenDynamoDB: "off"},
		"DynamoDB": {ListenCQL: "off", ListenDynamoDB: loopback.FreeAddr(t)},
	} {
		s.ListenHTTP, s.Data, s.Drain, s.LogLevel, s.files = "off", "data", patience, "error", fullFS{vfs.NewMem()}
		err := s.serve(t.Context(), &stdio{io.Discard, io.Discard}, make(chan os.Signal))
		var h *hinted
		if !errors.As(err, &h) || !strings.Contains(h.hint, "make room") || strings.Contains(h.hint, "another directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
