// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// caller is a client with a connection to each door.
type caller struct {
	*company
	r        *rand.Rand
	conns    map[*member]*difftest.Conn
	prepared map[string]*difftest.Answer // nil: it prepares nothing
}

func (c *company) caller(seed uint64, prepares bool) *caller {
	a := &caller{company: c, r: rand.New(rand.NewPCG(*killsSeed, seed)), conns: map[*member]*difftest.Conn{}}
	if prepares {
		a.prepared = map[string]*difftest.Answer{}
	}
	return a
}

func (c *caller) close() {
	for _, conn := range c.conns {
		conn.Close()
	}
}

// pick returns a door, seldom one that is down.
func (c *caller) pick() *member {
	for {
		m := c.doors[c.r.IntN(len(c.doors))]
		m.mu.Lock()
		down := m.down
		m.mu.Unlock()
		if !down || c.r.IntN(20) == 0 {
			return m
		}
	}
}

// answerLimit is how long a client waits for an answer.
const answerLimit = 3 * time.Second

// ask sends a request to a door. It returns nil if the request was refused for the time being, or was not
// answered: it may have been carried out.
func (c *caller) ask(m *member, q difftest.Request) *difftest.Answer {
	conn := c.conns[m]
	if conn == nil {
		var err error
		if conn, err = difftest.DialWithin(answerLimit, m.cql, primitive.ProtocolVersion5); err != nil {
			c.count("no connection")
			time.Sleep(20 * time.Millisecond)
			return nil
		}
		c.conns[m] = conn
	}
	a, err := c.send(conn, q)
	switch {
	case err != nil:
		conn.Close()
		delete(c.conns, m)
		c.count("no answer")
		return nil
	case a.Kind != difftest.Error:
		c.count("done")
		return a
	}
	c.count(strings.TrimSpace(fmt.Sprintf("%v %.60s", a.Code, a.Text)))
	switch a.Code {
	case primitive.ErrorCodeWriteTimeout, primitive.ErrorCodeReadTimeout, primitive.ErrorCodeOverloaded, primitive.ErrorCodeServerError, primitive.ErrorCodeUnavailable:
		time.Sleep(20 * time.Millisecond)
		return nil
	}
	return a
}

func (c *caller) send(conn *difftest.Conn, q difftest.Request) (*difftest.Answer, error) {
	if c.prepared == nil {
		return conn.Query(q)
	}
	p := c.prepared[q.Query]
	if p == nil {
		var err error
		if p, err = conn.Prepare(q.Query); err != nil || p.Kind == difftest.Error {
			return p, err
		}
		c.prepared[q.Query] = p
	}
	return conn.Execute(p, q)
}

func intValue(n int) *primitive.Value {
	return primitive.NewValue(binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func intOf(b []byte) int {
	if len(b) != 4 {
		return gone // no client writes a null
	}
	return int(int32(binary.BigEndian.Uint32(b)))
}

const (
	doorsInsert = "INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)"
	doorsDelete = "DELETE FROM k.t WHERE p = ? AND c = ?"
	doorsRead   = "SELECT v FROM k.t WHERE p = ? AND c = ?"
	doorsScan   = "SELECT p, c, v FROM k.t"
	doorsPart   = "SELECT p, c, v FROM k.t WHERE p = ?"
)

// live writes and reads rows of its own until the company ends. stamped says that it gives writes their
// timestamps. Then it may write a row again while the outcome of a write is open; but it deletes none, because
// nothing remembers a deletion after a change.
func (c *caller) live(client int, rows map[[2]int]*kept, stamped bool) {
	defer c.close()
	for n := 1; !c.over(); n++ {
		at := [2]int{c.r.IntN(doorPartitions), client*doorRows + c.r.IntN(doorRows)}
		k, m, open := rows[at], c.pick(), rows[at].open()
		time.Sleep(time.Duration(c.r.IntN(4)) * time.Millisecond)
		what := c.r.IntN(100)
		if what < 35 || !stamped && open {
			c.read(m, at, k)
			continue
		}
		write := m.sent()
		write.value = client<<24 | n
		q := difftest.Request{Query: doorsInsert, Values: []*primitive.Value{intValue(at[0]), intValue(at[1])}}
		if what > 80 && len(k.lost) == 0 {
			q.Query, write.value = doorsDelete, gone
		} else {
			q.Values = append(q.Values, intValue(write.value))
		}
		if stamped {
			write.stamp = c.next()
			q.Timestamp = &write.stamp
		}
		switch a := c.ask(m, q); {
		case a == nil:
			k.lost = append(k.lost, write)
		case a.Kind == difftest.Error:
			c.fault("%s %v at door %s: %v %s", q.Query, at, m.cql, a.Code, a.Text)
			k.lost = append(k.lost, write)
		default:
			if k.value, k.stamp = write.value, write.stamp; !open {
				k.lost = nil
			}
		}
	}
}

// read reads one row.
func (c *caller) read(m *member, at [2]int, k *kept) {
	a := c.ask(m, difftest.Request{Query: doorsRead, Values: []*primitive.Value{intValue(at[0]), intValue(at[1])}})
	switch {
	case a == nil:
	case a.Kind != difftest.Rows || len(a.Rows) > 1:
		c.fault("a read of row %v at door %s: %v %s, %d rows", at, m.cql, a.Code, a.Text, len(a.Rows))
	default:
		got := gone
		if len(a.Rows) == 1 {
			got = intOf(a.Rows[0][0])
		}
		if !k.may(got) {
			c.fault("door %s shows row %v as %d; it should be %+v", m.cql, at, got, k)
		}
	}
}

// scan reads the table, or a partition, page by page at any doors. It returns nil if it did not come to its end.
func (c *caller) scan(text string, values ...*primitive.Value) map[[2]int]int {
	there := map[[2]int]int{}
	for state := []byte(nil); ; {
		m := c.pick()
		a := c.ask(m, difftest.Request{Query: text, Values: values, PageSize: int32(7 + c.r.IntN(40)), State: state})
		switch {
		case a == nil:
			return nil
		case a.Kind == difftest.Error && a.Text == "Invalid value for the paging state":
			return nil
		case a.Kind != difftest.Rows:
			c.fault("%s at door %s: %v %s", text, m.cql, a.Code, a.Text)
			return nil
		}
		for _, cells := range a.Rows {
			at := [2]int{intOf(cells[0]), intOf(cells[1])}
			if _, twice := there[at]; twice {
				c.fault("%s shows row %v twice, the second time at door %s", text, at, m.cql)
			}
			there[at] = intOf(cells[2])
		}
		if state = a.State; state == nil {
			return there
		}
	}
}

// steady checks that each row which nobody changes was shown.
func (c *caller) steady(there map[[2]int]int, text string, partitions ...int) {
	for _, p := range partitions {
		for n := range doorSteady {
			if at := [2]int{p, -1 - n}; there[at] != n+1 {
				c.fault("%s shows row %v as %d, not %d", text, at, there[at], n+1)
			}
		}
	}
}

// scans reads the table again and again until the company ends.
func (c *caller) scans() (whole int) {
	defer c.close()
	for !c.over() {
		time.Sleep(time.Duration(c.r.IntN(40)) * time.Millisecond)
		if c.r.IntN(2) == 0 {
			p := c.r.IntN(doorPartitions)
			if there := c.scan(doorsPart, intValue(p)); there != nil {
				c.steady(there, doorsPart, p)
			}
		} else if there := c.scan(doorsScan); there != nil {
			whole++
			c.steady(there, doorsScan, 0, 1, 2)
		}
	}
	return whole
}

// order sends an order about the layout to some door, and returns the phase that the door then tells.
func (c *caller) order(options string) (phase, refused string) {
	for {
		a := c.ask(c.pick(), difftest.Request{Query: "ALTER TABLE k.t WITH write_sharding = {" + options + "}"})
		switch {
		case a == nil:
			if c.over() && options != doorsStatus {
				return "", ""
			}
		case a.Kind == difftest.Error:
			return "", a.Text
		case a.Kind == difftest.Rows:
			_, rest, _ := strings.Cut(string(a.Rows[0][0]), `"phase":"`)
			phase, _, _ = strings.Cut(rest, `"`)
			if _, problem, is := strings.Cut(string(a.Rows[0][0]), `"problem":"`); is {
				c.count("a problem: " + problem[:min(60, len(problem))])
			}
			return phase, ""
		default:
			return "", ""
		}
	}
}

const doorsStatus = "'change': 'status'"

// change gives the table another layout, and waits for the end of the change. It ends the wait for hints.
func (c *caller) change(options string, patience time.Duration, back bool) bool {
	phases := map[string]bool{}
	_, refused := c.order(options)
	if refused != "" {
		c.count("refused: " + refused[max(0, len(refused)-100):])
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		phase, problem := c.order(doorsStatus)
		switch {
		case phase == "none":
			c.count("changes")
			c.count(fmt.Sprintf("changes seen in %d phases", len(phases)))
			return true
		case problem != "":
			c.fault("the status of the change to {%s}: %s", options, problem)
			return false
		case phase == "settled":
			c.order("'change': 'finish'")
		case back && phase != "" && len(phases) > 1:
			c.order("'change': 'rollback'")
			back = false
		}
		phases[phase] = true
		if time.Now().After(deadline) {
			c.fault("the change to {%s} does not end: it is at %s", options, phase)
			return false
		}
	}
}
