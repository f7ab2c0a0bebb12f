// SPDX-License-Identifier: Apache-2.0

package demo

// Result is what the demo showed. It marshals to the output of `evenkeel demo --json`, which is
// also what the page gets.
type Result struct {
	Invoice     string  `json:"invoice_number"`
	Rate        int     `json:"writes_per_second"` // offered, per second of the engine's clock
	ItemBytes   int     `json:"item_bytes"`        // as DynamoDB bills them, without the hidden key
	Seconds     int     `json:"seconds"`           // measured for each table
	WarmUp      int     `json:"warm_up_seconds"`   // before these, not counted; some of them at twice the rate, because a partition has saved up a second's units
	Recommended int     `json:"recommended_shards"`
	Asked       float64 `json:"speed_asked"` // the engine's clock over the wall clock; 0: as fast as possible
	Speed       float64 `json:"speed"`       // the actual speed
	Done        bool    `json:"done"`
	Partial     bool    `json:"partial"`
	Why         string  `json:"why,omitempty"`

	Tables []Table `json:"tables"`

	// Same says that the query gave the same list from each table.
	Same    bool `json:"queries_agree"`
	Queried int  `json:"tables_queried"`
}

// State says how far a table is.
type State string

// These are the states of tables.
const (
	Waiting State = "waiting"
	Writing State = "writing"
	Over    State = "done"
)

// Table is one of the compared tables.
type Table struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Shards     int    `json:"shards"`
	WarmWrites int    `json:"warm_write_units,omitempty"` // requested in CreateTable
	State      State  `json:"state"`

	Offered   int            `json:"offered"` // in the measured seconds
	Accepted  int            `json:"accepted"`
	Throttled int            `json:"throttled"`
	Reasons   map[string]int `json:"throttling_reasons,omitempty"`
	PerSecond float64        `json:"accepted_per_second"`
	Expected  float64        `json:"expected_per_second"` // what its partitions take of the writes offered to each
	P50       float64        `json:"p50_ms"`              // of accepted writes, in this process
	P99       float64        `json:"p99_ms"`
	Course    []Second       `json:"course"` // includes the warm-up

	Partitions int        `json:"partitions"`
	Occupied   int        `json:"occupied"`          // partitions with a key
	Chance     float64    `json:"occupied_expected"` // mean number of partitions with a key
	Map        []Together `json:"map"`               // partitions with a key

	Query *Query   `json:"query,omitempty"`
	Words []string `json:"explanation"`
}

// Second holds the writes of a second.
type Second struct {
	Offered  int `json:"offered"`
	Accepted int `json:"accepted"`
}

// Together is a partition, and the shards of the key that share it.
type Together struct {
	Partition int      `json:"partition"` // from 1
	Shards    []int    `json:"shards"`    // 0: the key itself
	Keys      []string `json:"keys"`      // in the store's form
	Offered   float64  `json:"offered_per_second"`
	Units     float64  `json:"write_units"` // in the last second
}

// Query is the result of the query for Client1's transactions.
type Query struct {
	Expression string   `json:"expression"`
	Items      []string `json:"items"`   // their sort keys, in order
	Client1    int      `json:"client1"` // of Client1 itself
	Client10   int      `json:"client10"`
	Exact      int      `json:"with_separator"` // found by begins_with "Client1-"
	Units      float64  `json:"read_units"`
}
