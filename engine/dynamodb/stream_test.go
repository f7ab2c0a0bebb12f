// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/dynamodb/stream"
	"github.com/evenkeel/evenkeel/internal/testkit/crash"
)

const streamTable = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"%s"}}`

// createStreamed creates a table with a stream, and returns the stream's ARN.
func createStreamed(t testing.TB, s *opened, view string) string {
	t.Helper()
	m := s.must(t, "CreateTable", fmt.Sprintf(streamTable, view))
	arn, _ := dig(m, "TableDescription", "LatestStreamArn").(string)
	if !strings.HasPrefix(arn, "arn:aws:dynamodb:us-east-1:000000000000:table/Tab/stream/") {
		t.Fatalf("CreateTable tells of stream %q", arn)
	}
	return arn
}

func shardsOf(t testing.TB, s *opened, arn string) (ids []string) {
	t.Helper()
	for _, sh := range dig(s.must(t, "DescribeStream", `{"StreamArn":"`+arn+`"}`), "StreamDescription", "Shards").([]any) {
		ids = append(ids, dig(sh, "ShardId").(string))
	}
	return ids
}

// iterator creates an iterator; more is a sequence number, or nothing.
func iterator(t testing.TB, s *opened, arn, shard, kind string, more ...string) string {
	t.Helper()
	body := fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"%s"`, arn, shard, kind)
	if len(more) > 0 {
		body += `,"SequenceNumber":"` + more[0] + `"`
	}
	return s.must(t, "GetShardIterator", body+"}")["ShardIterator"].(string)
}

// records reads from an iterator, and returns the records and the next iterator.
func records(t testing.TB, s *opened, at string, limit int) (all []any, next string) {
	t.Helper()
	m := s.must(t, "GetRecords", fmt.Sprintf(`{"ShardIterator":"%s","Limit":%d}`, at, limit))
	next, _ = m["NextShardIterator"].(string)
	return m["Records"].([]any), next
}

// everything reads all shards from their beginnings.
func everything(t testing.TB, s *opened, arn string) (all []any) {
	t.Helper()
	for _, shard := range shardsOf(t, s, arn) {
		for at := iterator(t, s, arn, shard, "TRIM_HORIZON"); at != ""; {
			some, next := records(t, s, at, 3)
			all = append(all, some...)
			if at = next; len(some) == 0 {
				break
			}
		}
	}
	return all
}

// told returns a record in short: its event, key, images, and whether the service wrote it.
func told(r any) string {
	out := fmt.Sprint(dig(r, "eventName"), " ", dig(r, "dynamodb", "Keys", "h", "S"), "/", dig(r, "dynamodb", "Keys", "r", "N"))
	for _, image := range []string{"OldImage", "NewImage"} {
		if m := dig(r, "dynamodb", image); m != nil {
			out += fmt.Sprintf(" %s x=%v", strings.ToLower(image[:3]), dig(m, "x", "N"))
		}
	}
	if dig(r, "userIdentity", "PrincipalId") == "dynamodb.amazonaws.com" && dig(r, "userIdentity", "Type") == "Service" {
		out += " by the service"
	}
	return out
}

func TestChangesInAStream(t *testing.T) {
	for view, want := range map[string][]string{
		"KEYS_ONLY": {"INSERT a/1", "MODIFY a/1", "MODIFY a/1", "INSERT a/2", "INSERT b/1", "REMOVE a/1", "INSERT c/1", "REMOVE a/2", "MODIFY b/1", "REMOVE c/1 by the service"},
		"NEW_IMAGE": {"INSERT a/1 new x=1", "MODIFY a/1 new x=2", "MODIFY a/1 new x=<nil>", "INSERT a/2 new x=5", "INSERT b/1 new x=6", "REMOVE a/1", "INSERT c/1 new x=7", "REMOVE a/2", "MODIFY b/1 new x=8", "REMOVE c/1 by the service"},
		"OLD_IMAGE": {"INSERT a/1", "MODIFY a/1 old x=1", "MODIFY a/1 old x=2", "INSERT a/2", "INSERT b/1", "REMOVE a/1 old x=<nil>", "INSERT c/1", "REMOVE a/2 old x=5", "MODIFY b/1 old x=6", "REMOVE c/1 old x=7 by the service"},
		"NEW_AND_OLD_IMAGES": {"INSERT a/1 new x=1", "MODIFY a/1 old x=1 new x=2", "MODIFY a/1 old x=2 new x=<nil>", "INSERT a/2 new x=5", "INSERT b/1 new x=6", "REMOVE a/1 old x=<nil>", "INSERT c/1 new x=7", "REMOVE a/2 old x=5", "MODIFY b/1 old x=6 new x=8",
			"REMOVE c/1 old x=7 by the service"},
	} {
		t.Run(view, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			s := start(t, Options{Clock: func() time.Time { return now }})
			arn := createStreamed(t, s, view)
			s.must(t, "UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"expires"}}`)
			await(t, "Time to Live is on", func() bool { return !s.tables.lookup("Tab").shape.Load().filling() })
			key := func(h string, r int) string { return fmt.Sprintf(`"h":{"S":"%s"},"r":{"N":"%d"}`, h, r) }
			put := func(h string, r, x int) string {
				return fmt.Sprintf(`{"TableName":"Tab","Item":{%s,"x":{"N":"%d"}}}`, key(h, r), x)
			}
			s.must(t, "PutItem", put("a", 1, 1))
			s.must(t, "PutItem", put("a", 1, 1)) // changes nothing
			s.must(t, "UpdateItem", `{"TableName":"Tab","Key":{`+key("a", 1)+`},"UpdateExpression":"SET x = x + :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`)
			s.fails(t, exception.ConditionalCheckFailed, "PutItem", strings.TrimSuffix(put("a", 1, 9), "}")+`,"ConditionExpression":"attribute_not_exists(h)"}`)
			s.must(t, "UpdateItem", `{"TableName":"Tab","Key":{`+key("a", 1)+`},"UpdateExpression":"REMOVE x"}`)
			s.must(t, "UpdateItem", `{"TableName":"Tab","Key":{`+key("a", 1)+`},"UpdateExpression":"REMOVE x"}`)
			s.must(t, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{`+key("a", 2)+`,"x":{"N":"5"}}}},{"PutRequest":{"Item":{`+key("b", 1)+`,"x":{"N":"6"}}}},{"DeleteRequest":{"Key":{`+key("no", 1)+`}}}]}}`)
			s.must(t, "DeleteItem", `{"TableName":"Tab","Key":{`+key("a", 1)+`}}`)
			s.must(t, "DeleteItem", `{"TableName":"Tab","Key":{`+key("a", 1)+`}}`)
			s.must(t, "PutItem", strings.Replace(put("c", 1, 7), `"x":`, fmt.Sprintf(`"expires":{"N":"%d"},"x":`, now.Add(time.Minute).Unix()), 1))
			s.must(t, "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Tab","Key":{`+key("a", 2)+`}}},{"Put":`+put("b", 1, 8)+`}]}`)
			now = now.Add(time.Hour)
			if err := s.sweeper.sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			var got []string
			last := ""
			for _, r := range everything(t, s, arn) {
				got = append(got, told(r))
				number := dig(r, "dynamodb", "SequenceNumber").(string)
				if number <= last || len(number) < 21 || len(number) > 40 {
					t.Errorf("sequence number %s after %s", number, last)
				}
				last = number
				if dig(r, "dynamodb", "StreamViewType") != view || dig(r, "awsRegion") != "us-east-1" || dig(r, "eventSource") != "aws:dynamodb" || dig(r, "eventID") == "" {
					t.Errorf("a record %v", r)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the stream has\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestIterators reads a stream from all positions at which an iterator may begin, and follows the
// lives of iterators, shards and streams.
func TestIterators(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	fs := vfs.NewMem()
	options := Options{Clock: func() time.Time { return now }}
	s := open(t, fs, options)
	defer func() { s.close(t) }()
	arn := createStreamed(t, s, "KEYS_ONLY")
	put := func(r int) {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"N":"%d"}}}`, r))
	}
	keys := func(all []any) (out string) {
		for _, r := range all {
			out += fmt.Sprint(dig(r, "dynamodb", "Keys", "r", "N")) + " "
		}
		return out
	}
	sweep := func() {
		t.Helper()
		if err := s.sweeper.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	shard := shardsOf(t, s, arn)[0]
	fromStart := iterator(t, s, arn, shard, "TRIM_HORIZON")
	put(1)
	put(2)
	latest := iterator(t, s, arn, shard, "LATEST")
	put(3)
	all, next := records(t, s, fromStart, 10)
	if got := keys(all); got != "1 2 3 " {
		t.Errorf("from the beginning: %s", got)
	}
	if all, _ := records(t, s, latest, 10); keys(all) != "3 " {
		t.Errorf("from the latest: %s", keys(all))
	}
	second := dig(all[1], "dynamodb", "SequenceNumber").(string)
	if all, _ := records(t, s, iterator(t, s, arn, shard, "AT_SEQUENCE_NUMBER", second), 10); keys(all) != "2 3 " {
		t.Errorf("at the second: %s", keys(all))
	}
	if all, _ := records(t, s, iterator(t, s, arn, shard, "AFTER_SEQUENCE_NUMBER", second), 1); keys(all) != "3 " {
		t.Errorf("after the second: %s", keys(all))
	}
	if some, next := records(t, s, next, 10); len(some) != 0 || next == "" {
		t.Errorf("at the end of an open shard: %v %q", some, next)
	}
	s.fails(t, exception.Validation, "GetShardIterator", fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"AT_SEQUENCE_NUMBER"}`, arn, shard))
	s.fails(t, exception.Validation, "GetShardIterator", fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"100000000000000000099"}`, arn, shard))
	s.fails(t, exception.ResourceNotFound, "GetShardIterator", fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"LATEST"}`, arn, strings.Replace(shard, "-0", "-1", 1)))
	s.fails(t, exception.ResourceNotFound, "DescribeStream", `{"StreamArn":"`+arn+`1"}`)
	s.fails(t, exception.Validation, "GetRecords", `{"ShardIterator":"`+next[:len(next)-1]+`"}`)
	s.fails(t, exception.Validation, "GetRecords", `{"ShardIterator":"x"}`)

	now = now.Add(15*time.Minute + time.Second)
	if e := s.fails(t, exception.ExpiredIterator, "GetRecords", `{"ShardIterator":"`+next+`"}`); e.Status() != 400 {
		t.Error(e)
	}

	// After four hours the shard has a child.
	now = now.Add(stream.ShardLife)
	sweep()
	sweep()
	put(4)
	ids := shardsOf(t, s, arn)
	if len(ids) != 2 || ids[0] != shard {
		t.Fatalf("shards %v", ids)
	}
	all, next = records(t, s, iterator(t, s, arn, shard, "TRIM_HORIZON"), 10)
	if keys(all) != "1 2 3 " || next != "" {
		t.Errorf("the closed shard: %s%q", keys(all), next)
	}
	d := s.must(t, "DescribeStream", `{"StreamArn":"`+arn+`","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"`+shard+`"}}`)
	if got := fmt.Sprint(dig(d, "StreamDescription", "Shards")); !strings.Contains(got, ids[1]) || strings.Contains(got, "EndingSequenceNumber") || !strings.Contains(got, "ParentShardId:"+shard) {
		t.Errorf("its children: %s", got)
	}
	child := iterator(t, s, arn, ids[1], "TRIM_HORIZON")
	if all, _ := records(t, s, child, 10); keys(all) != "4 " {
		t.Errorf("the open shard: %s", keys(all))
	}

	// After a restart the stream is there, and its numbers continue.
	s.close(t)
	s = open(t, fs, options)
	put(5)
	all, open5 := records(t, s, child, 10)
	if keys(all) != "4 5 " {
		t.Errorf("after a restart: %s", keys(all))
	}

	// After a day, changes are removed, and so are closed shards.
	now = now.Add(stream.Life - time.Hour)
	put(6)
	now = now.Add(2 * time.Hour)
	sweep()
	s.close(t)
	s = open(t, fs, options)
	put(7)
	if got := keys(everything(t, s, arn)); got != "6 7 " {
		t.Errorf("after a day: %s", got)
	}
	s.fails(t, exception.TrimmedDataAccess, "GetShardIterator", fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"%s"}`,
		arn, ids[1], dig(all[0], "dynamodb", "SequenceNumber")))
	_ = open5
	// A second stream, after the first is disabled; the first can be read for a day.
	s.must(t, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":false}}`)
	put(8)
	s.fails(t, exception.Validation, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":false}}`)
	m := s.must(t, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
	again := dig(m, "TableDescription", "LatestStreamArn").(string)
	put(9)
	if again == arn || keys(everything(t, s, again)) != "9 " || keys(everything(t, s, arn)) != "6 7 " {
		t.Errorf("%s after %s: %s and %s", again, arn, keys(everything(t, s, again)), keys(everything(t, s, arn)))
	}
	if got := dig(s.must(t, "DescribeStream", `{"StreamArn":"`+arn+`"}`), "StreamDescription", "StreamStatus"); got != "DISABLED" {
		t.Errorf("the first stream is %v", got)
	}
	ids = shardsOf(t, s, arn)
	if all, next := records(t, s, iterator(t, s, arn, ids[len(ids)-1], "TRIM_HORIZON"), 10); next != "" {
		t.Errorf("a disabled stream goes on: %s", keys(all))
	}

	// The stream of a deleted table remains for a day.
	s.must(t, "DeleteTable", `{"TableName":"Tab"}`)
	if got := keys(everything(t, s, again)); got != "9 " {
		t.Errorf("after the table is gone: %s", got)
	}
	if got := fmt.Sprint(s.must(t, "ListStreams", `{"TableName":"Tab"}`)["Streams"]); !strings.Contains(got, arn) || !strings.Contains(got, again) {
		t.Errorf("streams %s", got)
	}
	now = now.Add(stream.Life + time.Minute)
	sweep()
	if got := s.must(t, "ListStreams", `{}`)["Streams"].([]any); len(got) != 0 {
		t.Errorf("a day later there are %v", got)
	}
}

// TestReadersMissNothing reads a stream while writers write. The reader must get every change, and
// the changes of an item in their order.
func TestReadersMissNothing(t *testing.T) {
	s := start(t)
	arn := createStreamed(t, s, "NEW_IMAGE")
	const writers, each = 6, 60
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := 1; n <= each; n++ {
				s.try(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"w"},"r":{"N":"%d"},"x":{"N":"%d"}}}`, w, n))
			}
		})
	}
	written := make(chan struct{})
	go func() {
		running.Wait()
		close(written)
	}()
	at := iterator(t, s, arn, shardsOf(t, s, arn)[0], "TRIM_HORIZON")
	seen := map[string]int{}
	total := 0
	for over := false; ; {
		select {
		case <-written:
			over = true
		default:
		}
		var some []any
		if some, at = records(t, s, at, 7); over && len(some) == 0 {
			break // all changes were there before the last read
		}
		for _, r := range some {
			k := fmt.Sprint(dig(r, "dynamodb", "Keys", "r", "N"))
			if x := fmt.Sprint(dig(r, "dynamodb", "NewImage", "x", "N")); x != fmt.Sprint(seen[k]+1) {
				t.Fatalf("item %s: %s after %d", k, x, seen[k])
			}
			seen[k]++
			total++
		}
	}
	if total != writers*each {
		t.Errorf("%d of %d changes: %v", total, writers*each, seen)
	}
}

// TestStreamsAndCrashes checks that after a crash a stream has exactly the changes that made the
// items what they are.
func TestStreamsAndCrashes(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			s := open(t, fs, Options{})
			arn := createStreamed(t, s, "NEW_IMAGE")
			left := crash.While(t, fs, seed, 4, func(w, n int) error {
				_, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"w"},"r":{"N":"%d"},"x":{"N":"%d"}}}`, w*10+n%3, n))
				if err == nil && n%5 == 0 {
					_, err = s.do("DeleteItem", fmt.Sprintf(`{"TableName":"Tab","Key":{"h":{"S":"w"},"r":{"N":"%d"}}}`, w*10+n%3))
				}
				return err
			})
			s.close(t)
			s = open(t, left.Files, Options{})
			defer s.close(t)
			want, got := map[string]string{}, map[string]string{}
			for _, it := range s.must(t, "Scan", `{"TableName":"Tab"}`)["Items"].([]any) {
				want[fmt.Sprint(dig(it, "r", "N"))] = fmt.Sprint(dig(it, "x", "N"))
			}
			for _, r := range everything(t, s, arn) {
				k := fmt.Sprint(dig(r, "dynamodb", "Keys", "r", "N"))
				if dig(r, "eventName") == "REMOVE" {
					delete(got, k)
				} else {
					got[k] = fmt.Sprint(dig(r, "dynamodb", "NewImage", "x", "N"))
				}
			}
			if !maps.Equal(want, got) {
				t.Errorf("there is %v, and the stream says %v", want, got)
			}
		})
	}
}

// DescribeStream returns the StartingSequenceNumber of a shard. A read from it is a read from the
// shard's beginning, both before the shard has a record and after.
func TestAShardsOwnStart(t *testing.T) {
	s := start(t, Options{})
	arn := createStreamed(t, s, "KEYS_ONLY")
	shard := shardsOf(t, s, arn)[0]
	begin := dig(s.must(t, "DescribeStream", `{"StreamArn":"`+arn+`"}`), "StreamDescription", "Shards").([]any)[0]
	starting := dig(begin, "SequenceNumberRange", "StartingSequenceNumber").(string)
	at, after := iterator(t, s, arn, shard, "AT_SEQUENCE_NUMBER", starting), iterator(t, s, arn, shard, "AFTER_SEQUENCE_NUMBER", starting)
	for n := range 2 {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"N":"%d"}}}`, n))
	}
	for _, from := range []string{at, after, iterator(t, s, arn, shard, "AT_SEQUENCE_NUMBER", starting)} {
		if all, _ := records(t, s, from, 10); len(all) != 2 {
			t.Errorf("%d records from the start of the shard, not 2", len(all))
		}
	}
	s.fails(t, exception.Validation, "GetShardIterator",
		fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"199999999999999999999"}`, arn, shard))
}
