// SPDX-License-Identifier: Apache-2.0

package demo

// Result is what the demo showed. It marshals to what `evenkeel demo --json` prints,
// and what the page is told.
type Result struct {
	Invoice     string  `json:"invoice_number"`
	Rate        int     `json:"writes_per_second"` // offered, per second of the engine's clock
	ItemBytes   int     `json:"item_bytes"`        // as DynamoDB bills them, without the hidden key
	Seconds     int     `json:"seconds"`           // measured for each table
	WarmUp      int     `json:"warm_up_seconds"`   // before, not counted, some of them at twice the rate: a partition has a second's units saved up
	Recommended int     `json:"recommended_shards"`
	Asked       float64 `json:"speed_asked"` // the engine's clock over the wall's; 0: as fast as it goes
	Speed       float64 `json:"speed"`       // as it came out
	Done        bool    `json:"done"`
	Partial     bool    `json:"partial"`
	Why         string  `json:"why,omitempty"`

	Tables []Table `json:"tables"`

	// Same says that the query gave the same list from each table.
	Same    bool `json:"queries_agree"`
	Queried int  `json:"tables_queried"`
}

// State is how far a table is.
type State string

// States of tables.
const (
	Waiting State = "waiting"
	Writing State = "writing"
	Over    State = "done"
)

// Table is one of the tables that are compared.
type Table struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Shards     int    `json:"shards"`
	WarmWrites int    `json:"warm_write_units,omitempty"` // asked for at CreateTable
	State      State  `json:"state"`

	Offered   int            `json:"offered"` // in the seconds that count
	Accepted  int            `json:"accepted"`
	Throttled int            `json:"throttled"`
	Reasons   map[string]int `json:"throttling_reasons,omitempty"`
	PerSecond float64        `json:"accepted_per_second"`
	Expected  float64        `json:"expected_per_second"` // what its partitions take of what was offered to each
	P50       float64        `json:"p50_ms"`              // of accepted writes, in this process
	P99       float64        `json:"p99_ms"`
	Course    []Second       `json:"course"` // the warm-up, too

	Partitions int        `json:"partitions"`
	Occupied   int        `json:"occupied"`          // those that have a key
	Chance     float64    `json:"occupied_expected"` // how many have one on average
	Map        []Together `json:"map"`               // those that have a key

	Query *Query   `json:"query,omitempty"`
	Words []string `json:"explanation"`
}

// Second is a second's writes.
type Second struct {
	Offered  int `json:"offered"`
	Accepted int `json:"accepted"`
}

// Together is a partition, and the shards of the key that share it.
type Together struct {
	Partition int      `json:"partition"` // from 1
	Shards    []int    `json:"shards"`    // 0: the key itself
	Keys      []string `json:"keys"`      // as the store has them
	Offered   float64  `json:"offered_per_second"`
	Units     float64  `json:"write_units"` // in the last second
}

// Query is what the query for Client1's transactions found.
type Query struct {
	Expression string   `json:"expression"`
	Items      []string `json:"items"`   // their sort keys, in order
	Client1    int      `json:"client1"` // of Client1 itself
	Client10   int      `json:"client10"`
	Exact      int      `json:"with_separator"` // found by begins_with "Client1-"
	Units      float64  `json:"read_units"`
}
