// SPDX-License-Identifier: Apache-2.0

package gocqldoor_test

import (
	"context"
	"log"
	"net"
	"os"

	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/engine/cassandra"
)

// aCluster is a node that speaks CQL on this machine, in the place of a cluster: the embedded
// engine without a router, which has plain tables alone. cqldoor/gocqldoor's own tests run in
// front of a real Cassandra.
func aCluster() (contact string, stop func()) {
	dir, err := os.MkdirTemp("", "evenkeel-example-")
	if err != nil {
		log.Fatal(err)
	}
	store, err := cassandra.Open(dir, cassandra.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	node, err := cqldoor.New(ctx, cqldoor.Options{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan struct{}, 2)
	go func() { _ = node.Run(); ended <- struct{}{} }()
	go func() { _ = node.Serve(ln); ended <- struct{}{} }()
	return ln.Addr().String(), func() {
		ln.Close()
		_ = node.Shutdown(ctx)
		<-ended
		<-ended
		store.Close()
		os.RemoveAll(dir)
	}
}
