// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// admit says why a request is refused; nil: it is not.
//
// Another site that a reader visits can let its name resolve to this machine. To the browser, its
// scripts then have the same origin as this page, but the Host header still has the site's name.
// Addresses and localhost cannot be the name of a site.
func admit(r *http.Request) error {
	if !plainHost(r.Host) {
		return &hinted{fmt.Errorf("the request is for host %q, which is not what this page is called", r.Host), "open it by its address: http://127.0.0.1:8080/, or whatever --listen-http says"}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host != r.Host || u.Scheme != "http" && u.Scheme != "https" {
			return &hinted{fmt.Errorf("the request comes from a page at %q", origin), "this page answers itself only"}
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		if r.URL.Path != "/" || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return &hinted{fmt.Errorf("the request comes from another page (%s)", site), "this page answers itself only"}
		}
	}
	return nil
}

func plainHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(strings.TrimSuffix(name, "."), "localhost") {
		return true
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return err == nil
}
