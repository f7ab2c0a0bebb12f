// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// reverseProxy is the peer for forwarding: the Go library's proxy, with as many idle connections as
// there are clients.
func reverseProxy(addr, to string) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * connections
	return http.ListenAndServe(addr, &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
	})
}

func (a arm) backendCPU() (d time.Duration) {
	if a.backend != nil {
		d = measure.CPU(a.backend.PID)
	}
	return d
}

// forwarding compares the cost of forwarding requests on a plain table.
func (b *bench) forwarding(ctx context.Context) error {
	to := "http://" + b.embedded.Addr
	self, err := os.Executable()
	if err != nil {
		return err
	}
	proxy, err := b.launch(ctx, "ReverseProxy", self, func(addr string) []string { return []string{"-reverse-proxy", addr, "-to", to} })
	if err != nil {
		return err
	}
	door, err := b.launch(ctx, "evenkeel, forwarding", b.Evenkeel, func(addr string) []string {
		return []string{"serve", "--listen-dynamodb", addr, "--listen-cql", "off", "--listen-http", "off", "--dynamodb", to}
	})
	if err != nil {
		return err
	}
	arms := []arm{{"direct", b.embedded, tableOf(0), nil}, {proxy.Name, proxy, tableOf(0), b.embedded}, {door.Name, door, tableOf(0), b.embedded}}
	for _, o := range all {
		o.name = "forwarding: " + o.name
		if err := b.compare(ctx, o, arms); err != nil {
			return err
		}
	}
	return nil
}
