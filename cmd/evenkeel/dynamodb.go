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
	sharding "github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/dynamodoor/throttling"
	"github.com/evenkeel/evenkeel/engine/items"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/observe"
)

// dynamoDB is the DynamoDB side of serve.
type dynamoDB struct {
	door  *dynamodoor.Door
	cache *cache.Cache // nil where there is none
	items *items.Store // nil in front of an endpoint
	own   *storage.DB  // where the CQL side has no engine to share one with
	at    *endpoint    // nil on the embedded engine
	what  string       // for people: what is served
	stop  func()       // ends the mover of changes of layouts; nil where there is none

	observe   observe.Observer
	throttled *throttling.Store // counts what the store throttles
}

// move starts the mover of changes of tables' layouts.
func (d *dynamoDB) move(router *sharding.Router) {
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

// listenDynamoDB listens for the DynamoDB door; nil where there is none.
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

// openDynamoDB opens the door, in front of an endpoint, or on the embedded engine in
// db, which is the CQL side's; where that is nil, in the data directory.
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
		settle = endpointSettles
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

// openEndpoint is the store in front of an endpoint.
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
	})
	if err := router.Start(ctx); errors.Is(err, sharding.ErrOtherRules) {
		return nil, withHint(err, otherRules)
	} else if err != nil {
		return nil, s.explainEndpoint(err)
	}
	d.what = fmt.Sprintf("in front of %s, region %s; %s", d.at.Endpoint(), d.at.region, d.at.what)
	d.move(router)
	return d.watchThrottling(s, router, router.Schema), nil
}

// watchThrottling has what a store throttles counted. schema tells its tables; nil: nothing
// does.
func (d *dynamoDB) watchThrottling(s *serveCmd, store throttling.Under, schema func(context.Context, string) (*schema.Table, error)) dynamodoor.Store {
	d.throttled = throttling.New(throttling.Options{Store: store, Schema: schema, ShowKeys: s.ShowKeys})
	return d.throttled
}

// openEngine is the store on the embedded engine.
func (d *dynamoDB) openEngine(ctx context.Context, s *serveCmd, db *storage.DB, keys *accesskey.Keys, log *slog.Logger) (_ dynamodoor.Store, err error) {
	if db == nil {
		if d.own, err = storage.Open(s.Data, s.storage(log)); err != nil {
			return nil, withHint(err, "--data DIR chooses another directory, --listen-dynamodb off goes without")
		}
		db = d.own
	}
	if d.items, err = items.Open(db, items.Options{Logger: log, Clock: s.clock, Capacity: s.limits(likeDynamoDB), IndexLag: s.IndexLag}); err != nil {
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
	// The engine is in this process: requests beside each other gain nothing.
	router := sharding.New(sharding.Options{Backend: d.items, Log: log, Fanout: 1, Rules: s.dynamoDBRules(), Door: s.doorName()})
	if err := router.Start(ctx); err != nil {
		return nil, err
	}
	d.move(router)
	return d.watchThrottling(s, router, router.Schema), nil
}

// shutdown finishes what is in flight.
func (d *dynamoDB) shutdown(ctx context.Context) error {
	if d == nil {
		return nil
	}
	return d.door.Shutdown(ctx)
}

// close cuts off what is in flight, if Shutdown has not ended it, and closes what
// was opened.
func (d *dynamoDB) close() error {
	if d == nil {
		return nil
	}
	var errs []error
	if d.door != nil {
		now, cancel := context.WithDeadline(context.Background(), time.Now())
		defer cancel()
		_ = d.door.Shutdown(now) // what is cut off here has been told about, or nobody waits for
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

// dynamoCollector makes metrics of the door's counts when they are asked for.
type dynamoCollector struct{ door *dynamodoor.Door }

var dynamoMetrics = []struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(s *dynamodoor.Stats) float64
}{
	{dynamoDesc("requests_total", "Requests carried out."), prometheus.CounterValue, func(s *dynamodoor.Stats) float64 { return float64(s.Requests) }},
	{dynamoDesc("requests_refused_total", "Requests refused for their form."), prometheus.CounterValue, func(s *dynamodoor.Stats) float64 { return float64(s.Refused) }},
	{dynamoDesc("requests_in_flight", "Requests without an answer yet."), prometheus.GaugeValue, func(s *dynamodoor.Stats) float64 { return float64(s.InFlight) }},
	{dynamoDesc("panics_total", "Requests that failed for a bug."), prometheus.CounterValue, func(s *dynamodoor.Stats) float64 { return float64(s.Panics) }},
}

func dynamoDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("evenkeel_dynamodb_"+name, help, nil, nil)
}

func (dynamoCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range dynamoMetrics {
		ch <- m.desc
	}
}

func (c dynamoCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.door.Stats()
	for _, m := range dynamoMetrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&s))
	}
}
