// SPDX-License-Identifier: Apache-2.0

package schemaview

// For system.local, system.peers and system.peers_v2 the door executes the statement itself: on
// the row of the store's node, with the door's own cells in it, and on one row for each other
// door.

// nodeRows reads the rows of such a table.
func (f *schemaFetch) nodeRows() ([]partitionRows, error) {
	table := f.sel.Table.Name
	var out []partitionRows
	if table == "local" {
		return out, f.read(&out, f.sel.fetch, nil)
	}
	if err := f.lookAtDoors(); err != nil {
		return nil, err
	}
	for _, row := range f.Doors.Nodes.Peers(table) {
		cells := make([][]byte, len(f.sel.position))
		for name, at := range f.sel.position {
			cells[at] = row[name]
		}
		// If the statement asks for the times of cells, there are none.
		for _, at := range f.sel.times {
			for len(cells) < at+2 {
				cells = append(cells, nil)
			}
		}
		f.add(&out, cells)
	}
	return out, nil
}

// lookAtDoors reads the doors' rows if, by what this door knows, they use another version of the schema than
// the store has. Drivers wait until all doors use the same one. The rows show this without delay.
func (f *schemaFetch) lookAtDoors() error {
	d := f.Doors
	if d.Member == nil {
		return nil
	}
	version, err := f.Schemas.Catalog.Version(f.ctx)
	if err != nil || d.Nodes.Agree(version) {
		return err
	}
	if rows, err := d.Member.Doors(f.ctx); err == nil {
		d.Nodes.Look(d.Lease.Now(), d.Lease.Length(), rows)
	}
	return nil
}

// localCells puts the door's own cells into the row of system.local.
func (f *schemaFetch) localCells(cells [][]byte) [][]byte {
	own := f.Doors.Nodes.Local(f.req.Driver(), f.req.Address())
	out := append([][]byte{}, cells...)
	for name, at := range f.sel.position {
		if mine, ok := own[name]; ok && cells[at] != nil {
			out[at] = mine
		}
	}
	return out
}

// selected says whether a row belongs to a partition that the statement reads.
func (f *schemaFetch) selected(key []byte) bool {
	if f.bound.Scan {
		return inTokens(f.bound.Tokens, key)
	}
	for _, of := range f.bound.Keys.All() {
		if string(of[0]) == string(key) {
			return true
		}
	}
	return false
}
