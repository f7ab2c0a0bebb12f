// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/dynamodoor/cache"
	"github.com/evenkeel/evenkeel/dynamodoor/definitions"
	sharding "github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/dynamodoor/throttling"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/reshard"
)

// dynamoDB is the DynamoDB half of serve.
type dynamoDB struct {
	door  *dynamodoor.Door
	cache *cache.Cache    // nil: no cache
	items *dynamodb.Store // nil in front of an endpoint
	own   *storage.DB     // nil if the CQL half has a database to share
	at    *endpoint       // nil on the embedded engine
	what  string          // describes the store to the user
	stop  func()          // stops the mover of layout changes; nil: no mover runs

	observe   observe.Observer
	throttled *throttling.Store       // counts what the store throttles
	changes   func() []reshard.Status // the changes of layout under way; nil: no mover runs
}

// move starts the mover, which carries out changes of tables' layouts.
func (d *dynamoDB) move(router *sharding.Router) {
	d.changes = router.Changes
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		router.RunMover(ctx)
	}()
	d.stop = func() {
		cancel()
		<-done
	}
}

// listenDynamoDB opens the DynamoDB door's listener. It returns nil if the door is off.
func (s *serveCmd) listenDynamoDB() (net.Listener, error) {
	addr := s.ListenDynamoDB
	switch {
	case s.withoutDynamoDB():
		return nil, nil
	case addr == "":
		addr = "127.0.0.1:8000"
	}
	ln, err := listen(addr, "--listen-dynamodb", 8000)
	if err != nil {
		return nil, err
	}
	if err := s.checkReach(ln.Addr()); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// openDynamoDB opens the door in front of an endpoint or the embedded engine. The engine uses db,
// the CQL half's database, or opens the data directory if db is nil.
func (s *serveCmd) openDynamoDB(ctx context.Context, db *storage.DB, log *slog.Logger) (*dynamoDB, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	keys, err := s.accessKeys()
	if err != nil {
		return nil, err
	}
	d := &dynamoDB{observe: s.observe("aws.dynamodb", dynamodoor.Operations)}
	front, settle, region := dynamodoor.Store(nil), time.Duration(0), ""
	if s.DynamoDB != "" {
		front, err = d.openEndpoint(ctx, s, keys, log)
		settle = cache.EndpointSettles
	} else {
		front, err = d.openEngine(ctx, s, db, keys, log)
	}
	if err == nil {
		front, d.cache, err = s.withCache(front, settle, log)
	}
	if d.at != nil {
		region = d.at.region
	}
	if err == nil {
		tls, e := s.serverTLS()
		if err = e; err == nil {
			d.door, err = dynamodoor.New(dynamodoor.Options{Store: front, Keys: keys, Region: region, Forwards: d.at != nil, TLS: tls, Observe: d.observe, Memory: s.memory, Log: log})
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// openEndpoint opens the store in front of an endpoint.
func (d *dynamoDB) openEndpoint(ctx context.Context, s *serveCmd, keys *accesskey.Keys, log *slog.Logger) (_ dynamodoor.Store, err error) {
	slow := time.AfterFunc(2*time.Second, func() {
		log.Info("waiting for the DynamoDB endpoint, or for the credentials for it", "endpoint", s.DynamoDB)
	})
	defer slow.Stop()
	if d.at, err = s.openEndpoint(ctx, keys, log); err != nil {
		return nil, err
	}
	router := sharding.New(sharding.Options{
		Backend: d.at, Log: log, Lease: endpointLease, Rules: s.dynamoDBRules(), ReplaceRules: s.ShardRulesReplace, Door: s.doorName(),
		Rights: keys != nil && keys.Differ(),
	})
	if err := router.Start(ctx); errors.Is(err, definitions.ErrOtherRules) {
		return nil, withHint(err, otherRules)
	} else if err != nil {
		return nil, s.explainEndpoint(err)
	}
	d.what = fmt.Sprintf("in front of %s, region %s; %s", d.at.Endpoint(), d.at.region, d.at.what)
	d.move(router)
	return d.watchThrottling(s, router, router.Schema), nil
}

// watchThrottling wraps a store so that throttled requests are counted. schema returns the
// definition of a table; it may be nil.
func (d *dynamoDB) watchThrottling(s *serveCmd, store throttling.Under, schema func(context.Context, string) (*schema.Table, error)) dynamodoor.Store {
	d.throttled = throttling.New(throttling.Options{Store: store, Schema: schema, ShowKeys: s.ShowKeys})
	return d.throttled
}

// openEngine opens the store on the embedded engine.
func (d *dynamoDB) openEngine(ctx context.Context, s *serveCmd, db *storage.DB, keys *accesskey.Keys, log *slog.Logger) (_ dynamodoor.Store, err error) {
	if db == nil {
		if d.own, err = storage.Open(s.Data, s.storage(log)); err != nil {
			return nil, storeHint(err, "--data DIR chooses another directory, --listen-dynamodb off goes without")
		}
		db = d.own
	}
	if d.items, err = dynamodb.Open(db, dynamodb.Options{Logger: log, Clock: s.clock, Capacity: s.limits(likeDynamoDB), IndexLag: s.IndexLag}); err != nil {
		return nil, err
	}
	d.what = "on the embedded engine, data in " + s.Data
	if keys != nil {
		d.what += ", for " + countKeys(keys)
	}
	if s.DynamoDBSharding == "off" {
		d.what += ", without sharding"
		return d.watchThrottling(s, d.items, nil), nil
	}
	// The engine runs in this process, so parallel requests to it gain nothing.
	router := sharding.New(sharding.Options{Backend: d.items, Log: log, Fanout: 1, Rules: s.dynamoDBRules(), Door: s.doorName()})
	if err := router.Start(ctx); err != nil {
		return nil, err
	}
	d.move(router)
	return d.watchThrottling(s, router, router.Schema), nil
}

// shutdown stops accepting clients and waits for the requests in flight.
func (d *dynamoDB) shutdown(ctx context.Context) error {
	if d == nil {
		return nil
	}
	return d.door.Shutdown(ctx)
}

// close cuts off the requests that shutdown did not wait for, and closes everything that was
// opened.
func (d *dynamoDB) close() error {
	if d == nil {
		return nil
	}
	var errs []error
	if d.door != nil {
		now, cancel := context.WithDeadline(context.Background(), time.Now())
		defer cancel()
		_ = d.door.Shutdown(now) // Shutdown has already reported what is cut off here
	}
	if d.stop != nil {
		d.stop()
	}
	if d.at != nil {
		d.at.Close()
	}
	if d.items != nil {
		errs = append(errs, d.items.Close())
	}
	if d.own != nil {
		errs = append(errs, d.own.Close())
	}
	return errors.Join(errs...)
}

// dynamoMetrics are the metrics of the DynamoDB door's requests.
var dynamoMetrics = []countMetric[dynamodoor.Stats]{
	{dynamoDesc("requests_total", "Requests carried out."), prometheus.CounterValue, func(s *dynamodoor.Stats) float64 { return float64(s.Requests) }},
	{dynamoDesc("requests_refused_total", "Requests refused for their form."), prometheus.CounterValue, func(s *dynamodoor.Stats) float64 { return float64(s.Refused) }},
	{dynamoDesc("requests_in_flight", "Requests without an answer yet."), prometheus.GaugeValue, func(s *dynamodoor.Stats) float64 { return float64(s.InFlight) }},
	{dynamoDesc("panics_total", "Requests that failed for a bug."), prometheus.CounterValue, func(s *dynamodoor.Stats) float64 { return float64(s.Panics) }},
}

func dynamoDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("evenkeel_dynamodb_"+name, help, nil, nil)
}
