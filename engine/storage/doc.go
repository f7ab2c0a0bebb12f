// SPDX-License-Identifier: Apache-2.0

// Package storage keeps Cassandra's data model in Pebble: partitions of clustered rows of
// timestamped cells, with tombstones and expiry, on one node. It knows tables by id, partition keys
// by their serialized bytes and token, and clustering values and cells by their serialized bytes.
// It does not know CQL.
//
// # Promises
//
//  1. An acknowledged write (Sync) survives the death of the process and of the machine. A batch is
//     stored as a whole or not at all, over all its partitions and tables. Concurrent writers share
//     one fsync.
//  2. The result of a read depends on the mutations and on Query.Now, not on the
//     order in which mutations arrived: every mutation is reconciled as Cassandra
//     does (reconcile.go), and data that Cassandra calls shadowed never comes back.
//  3. Writes never read, except counters and Guarded batches: a row mutation
//     is one Pebble MERGE, a point read is one Pebble Get.
//  4. Rows come in Cassandra's clustering order, partitions in token order, in
//     either direction, from any position. Clustering values come back as the
//     bytes that were first written.
//  5. Memory is bounded by Options, whatever partitions hold; Close waits for
//     all that Open started.
//  6. Expired and deleted data are invisible from Query.Now on. A sweep removes them
//     from disk after Table.GCGrace has passed (sweep.go).
//  7. Damaged, lost and outdated files are not ignored: Open refuses the directory,
//     or the read fails, with ErrCorrupt, and nothing that could be needed is
//     removed. Package inventory describes which damage can be detected and which
//     cannot.
//  8. A full disk refuses writes, with ErrFull, and reads go on. If the log or the
//     MANIFEST cannot be written or synced, Options.Failed ends the process, and
//     nothing is acknowledged after that (package diskspace).
//
// # Use
//
//	db, err := storage.Open(dir, storage.Options{})
//	t, err := db.Table(storage.TableSpec{ID: id, Clustering: …, Columns: …})
//
//	b := db.NewBatch()
//	b.Partition(t, token, key)
//	b.Row(clustering)
//	b.Marker(storage.Liveness{Timestamp: ts})
//	b.Set(storage.Cell{Column: 1, Value: v, Timestamp: ts})
//	err = b.Commit()
//
//	it := t.Read(token, key, &storage.Query{Now: now})
//	defer it.Close()
//	for it.NextPartition() {
//		for it.Next() {
//			row := it.Row()
//		}
//	}
//	err = it.Err()
//
// # Units
//
// Timestamps are microseconds, as clients give them; expiry and deletion times
// are seconds since 1970; TTLs are seconds.
//
// It imports cql/value, diskspace, inventory, and Pebble.
package storage
