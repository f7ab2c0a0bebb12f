// SPDX-License-Identifier: Apache-2.0

package gocqldoor_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cqldoor/gocqldoor"
	"github.com/evenkeel/evenkeel/engine/cassandra"
)

// The program's own code knows nothing of shards but the property, and with a shard rule not
// even that.
func blogs(session *gocql.Session) error {
	for _, text := range []string{
		"CREATE KEYSPACE tracker WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE tracker.blogs (publish_date date, title text, PRIMARY KEY (publish_date, title)) WITH write_sharding = {'shards': '20'}",
	} {
		if err := session.Query(text).Exec(); err != nil {
			return err
		}
	}
	for _, title := range []string{"Moss", "Bergen: a slow guide", "Fjords", "Ferries"} {
		if err := session.Query("INSERT INTO tracker.blogs (publish_date, title) VALUES ('2020-07-09', ?)", title).Exec(); err != nil {
			return err
		}
	}
	var title string
	rows := session.Query("SELECT title FROM tracker.blogs WHERE publish_date = '2020-07-09' LIMIT 3").Iter()
	for rows.Scan(&title) {
		fmt.Println(title)
	}
	return rows.Close()
}

// In front of a cluster.
func Example() {
	contact, stop := aCluster() // 10.0.0.5
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	door, err := gocqldoor.New(ctx, gocqldoor.Options{Contacts: []string{contact}})
	if err != nil {
		log.Fatal(err)
	}
	defer door.Close()
	cluster := gocql.NewCluster(gocqldoor.Host)
	cluster.HostDialer = door
	session, err := cluster.CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	if err := blogs(session); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Bergen: a slow guide
	// Ferries
	// Fjords
}

// With the embedded engine: a Cassandra in the program, such as for tests.
func Example_embedded() {
	dir, err := os.MkdirTemp("", "evenkeel-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := cassandra.Open(dir, cassandra.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	door, err := gocqldoor.New(context.Background(), gocqldoor.Options{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer door.Close()
	cluster := gocql.NewCluster(gocqldoor.Host)
	cluster.HostDialer = door
	session, err := cluster.CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	if err := blogs(session); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Bergen: a slow guide
	// Ferries
	// Fjords
}
