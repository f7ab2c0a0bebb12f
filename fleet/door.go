// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
)

// StepAdopted is a step that doors know besides those of changes: the adoption of a table that was
// sharded by hand. A door that does not know it would acknowledge an adoption while statements that it
// has forwarded to the table are under way.
const StepAdopted = "adopted"

// StepForwarded is a step that a door knows if it judges the answers to statements that it forwards to
// plain tables. A door that does not could stand still, and then acknowledge a write to a table that is no
// longer in use.
const StepForwarded = "forwarded"

// Door is one door as the other doors see it.
type Door struct {
	ID     [16]byte // of one registration: a door that comes back gets another id
	HostID [16]byte // stable; shown to drivers

	CQL        string // host:port for clients; "" for none
	DynamoDB   string
	DataCentre string
	Rack       string
	Release    string

	Formats []string // the formats of the catalogue that it knows
	Steps   []string // the steps of changes that it knows

	Lease        time.Duration      // 0: it has left
	Schema       [16]byte           // version of the store's schema that it uses; zero: not known
	Age          time.Duration      // age of the row when it was read, in whole seconds
	Beat         int64              // rises with each renewal
	Acknowledged map[[16]byte]int64 // by table id: no request planned under an earlier generation is under way
}

// Name returns the door's name for error messages.
func (d *Door) Name() string {
	for _, at := range []string{d.CQL, d.DynamoDB} {
		if at != "" {
			return at
		}
	}
	return hex.EncodeToString(d.ID[:])
}

// Left says whether the door was shut down with no request under way.
func (d *Door) Left() bool { return d.Lease == 0 }

// Silent says whether the door has missed several renewals of its lease when its row was read. It
// may be stopped, or have ended without leaving.
func (d *Door) Silent() bool { return d.Age > 2*d.Lease+time.Second }

// Table is a sharded table, identified by the id of its physical table.
type Table struct {
	Keyspace, Name string
	ID             [16]byte
}

func (t Table) String() string { return t.Keyspace + "." + t.Name }

// Publication tells doors that the catalogue has a new generation of a table's layout.
type Publication struct {
	Table      Table
	Generation int64
	Step       string // step of a change; "" for none. A door that does not know it does not join
}

// doorColumns lists the columns of a door's row, in the order of values.
const doorColumns = "scope, id, host_id, cql, dynamodb, data_center, rack, release, formats, steps, lease, beat, acknowledged, schema_version"

// rowTTL is how long a row stays after its last write.
const rowTTL = 10 * time.Minute

func (d *Door) values() [][]byte {
	return [][]byte{
		[]byte(scope), d.ID[:], d.HostID[:], []byte(d.CQL), []byte(d.DynamoDB), []byte(d.DataCentre), []byte(d.Rack), []byte(d.Release),
		[]byte(strings.Join(d.Formats, " ")), []byte(strings.Join(d.Steps, " ")), bigint(d.Lease.Milliseconds()), bigint(d.Beat),
		[]byte(appendAcknowledged(d.Acknowledged)), d.Schema[:],
	}
}

// readDoor is the inverse of values.
func readDoor(r catalog.Row) (*Door, error) {
	d := &Door{
		CQL: string(r["cql"]), DynamoDB: string(r["dynamodb"]), DataCentre: string(r["data_center"]), Rack: string(r["rack"]), Release: string(r["release"]),
		Formats: strings.Fields(string(r["formats"])), Steps: strings.Fields(string(r["steps"])),
		Lease: time.Duration(readBigint(r["lease"])) * time.Millisecond, Beat: readBigint(r["beat"]),
	}
	copy(d.ID[:], r["id"])
	copy(d.HostID[:], r["host_id"])
	copy(d.Schema[:], r["schema_version"])
	if left := r["ttl(beat)"]; len(left) == 4 {
		d.Age = max(0, rowTTL-time.Duration(binary.BigEndian.Uint32(left))*time.Second)
	}
	var err error
	if d.Acknowledged, err = parseAcknowledged(string(r["acknowledged"])); err != nil {
		return nil, fmt.Errorf("the row of door %s: %w", d.Name(), err)
	}
	return d, nil
}

// appendAcknowledged formats pairs of a table's id and a generation: "6ba7…:7 6ba8…:1".
func appendAcknowledged(m map[[16]byte]int64) string {
	var all []string
	for id, generation := range m {
		all = append(all, hex.EncodeToString(id[:])+":"+strconv.FormatInt(generation, 10))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func parseAcknowledged(s string) (map[[16]byte]int64, error) {
	m := map[[16]byte]int64{}
	for pair := range strings.FieldsSeq(s) {
		id, generation, _ := strings.Cut(pair, ":")
		b, err := hex.DecodeString(id)
		n, err2 := strconv.ParseInt(generation, 10, 64)
		if err != nil || err2 != nil || len(b) != 16 {
			return nil, fmt.Errorf("malformed acknowledgement %q", pair)
		}
		m[[16]byte(b)] = n
	}
	return m, nil
}

func bigint(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func readBigint(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
