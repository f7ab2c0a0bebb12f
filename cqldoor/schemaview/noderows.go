// SPDX-License-Identifier: Apache-2.0

package schemaview

// The door itself executes a statement on system.local, system.peers or system.peers_v2. For
// system.local it uses the row of the store's node, with the door's own cells in it. For the other
// two it uses one row for each other door.

// nodeRows returns the selected rows of such a table.
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
		// The statement may ask for the times of cells. These rows have none.
		for _, at := range f.sel.times {
			for len(cells) < at+2 {
				cells = append(cells, nil)
			}
		}
		f.add(&out, cells)
	}
	return out, nil
}

// lookAtDoors reads the doors' rows anew if, by this door's knowledge, another door does not use the store's
// version of the schema. Drivers wait until the rows show the same version for all doors. The new rows show
// it without delay.
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

// selected reports whether the statement reads the partition with this partition key.
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
