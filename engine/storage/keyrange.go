// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/storage/diskspace"
)

// Space is a range of the store's keys that belongs to another package: all keys that begin with
// Prefix. Its data share this package's log, cache, durability and directory, and nothing else. The
// keys, the values and the version of their format are the owner's.
type Space struct {
	Prefix byte
	// Pebble is for reads, and for making batches that Apply applies.
	Pebble *pebble.DB

	disk     *diskspace.FS
	periodic bool
}

// Items returns the space of package engine/dynamodb.
func (db *DB) Items() *Space {
	return &Space{Prefix: regionItems, Pebble: db.pebble, disk: db.disk, periodic: db.options.Periodic}
}

// Apply makes the batch visible to all readers, whole or not at all. The batch is durable after
// Wait returns. A caller that holds locks for the order of visible writes releases them between the
// two calls, so that others need not wait for the disk.
func (s *Space) Apply(b *pebble.Batch) error { return s.apply(b, false) }

// Free applies a batch that frees disk space. It also works if the disk is nearly full.
func (s *Space) Free(b *pebble.Batch) error { return s.apply(b, true) }

func (s *Space) apply(b *pebble.Batch, frees bool) error {
	err := s.disk.Admit(b.Len(), frees)
	if err != nil {
		return err
	}
	if s.periodic {
		err = s.Pebble.Apply(b, pebble.NoSync)
	} else {
		err = s.Pebble.ApplyNoSyncWait(b, pebble.Sync)
	}
	if err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	return nil
}

// Later makes the batch visible as Apply does. The batch becomes durable together with a write
// after it. frees says that it frees disk space.
func (s *Space) Later(b *pebble.Batch, frees bool) error {
	if err := s.disk.Admit(b.Len(), frees); err != nil {
		return err
	}
	if err := s.Pebble.Apply(b, pebble.NoSync); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	return nil
}

// Wait waits until the batch that was applied is durable (except with Options.Periodic).
func (s *Space) Wait(b *pebble.Batch) error {
	if s.periodic {
		return nil
	}
	if err := b.SyncWait(); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	return nil
}

// Settle waits until everything that is visible is durable. That is enough because the log is
// written in order.
func (s *Space) Settle() error {
	if s.periodic {
		return nil
	}
	if err := s.Pebble.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return nil
}
