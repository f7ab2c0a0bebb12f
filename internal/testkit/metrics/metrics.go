// SPDX-License-Identifier: Apache-2.0

// Package metrics reads the metrics of an evenkeel that runs.
//
// It imports nothing of this module.
package metrics

import (
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Families holds one reading of /metrics, by the names of metrics.
type Families map[string]*dto.MetricFamily

// Read reads the metrics of the server that listens on addr. An answer without success, an
// incomplete answer and one with other lines than metrics are errors.
func Read(addr string) (Families, error) {
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the metrics of %s: %s", addr, resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of %s: %w", addr, err)
	}
	return families, nil
}

// Sum returns the sum of a counter or gauge over its label sets. A metric that is missing is an
// error.
func (f Families) Sum(name string) (sum float64, err error) {
	if f[name] == nil {
		return 0, fmt.Errorf("there is no metric %s", name)
	}
	for _, m := range f[name].GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
	}
	return sum, nil
}

// Sum reads the metrics of the server that listens on addr, and returns the sum of one.
func Sum(addr, name string) (float64, error) {
	families, err := Read(addr)
	if err != nil {
		return 0, err
	}
	return families.Sum(name)
}
