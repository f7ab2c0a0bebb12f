// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// properties are the WITH options of a statement by name. Each is a string or a map.
type properties struct {
	order  []string
	values map[string]property
	custom Custom // of Amazon Keyspaces; nil if the statement has none
}

type property struct {
	text  string
	isMap bool
	pairs map[string]string
}

// readProperties reads the options as written. It refuses an option that is given twice.
func readProperties(with syntax.Properties) (*properties, error) {
	p := &properties{values: make(map[string]property, len(with))}
	for _, w := range with {
		if _, twice := p.values[w.Name]; twice {
			return nil, syntaxError("Multiple definitions for property '%s'", w.Name)
		}
		v, err := readProperty(w)
		if err != nil {
			return nil, err
		}
		p.order = append(p.order, w.Name)
		p.values[w.Name] = v
	}
	return p, nil
}

func readProperty(w syntax.Property) (property, error) {
	switch v := w.Value.(type) {
	case *syntax.Constant:
		return property{text: constantText(v)}, nil
	case *syntax.Column:
		return property{text: v.Name}, nil
	case *syntax.Set:
		if len(v.Elems) == 0 {
			return property{isMap: true}, nil
		}
	case *syntax.Map:
		pairs := make(map[string]string, len(v.Entries))
		for _, e := range v.Entries {
			key, ok := e.Key.(*syntax.Constant)
			if !ok {
				return property{}, syntaxError("Invalid property name: %s", "it must be a constant")
			}
			val, ok := e.Value.(*syntax.Constant)
			if !ok {
				return property{}, syntaxError("Invalid property value for property: %s", key.Text)
			}
			pairs[key.Text] = constantText(val)
		}
		return property{isMap: true, pairs: pairs}, nil
	}
	return property{}, syntaxError("Invalid value for property '%s'", w.Name)
}

func constantText(c *syntax.Constant) string {
	if c.Kind == syntax.ConstHex {
		return "0x" + c.Text
	}
	return c.Text
}

func (p *properties) has(name string) bool {
	_, ok := p.values[name]
	return ok
}

// known refuses the options for whose name is returns false.
func (p *properties) known(is func(name string) bool) error {
	for _, name := range p.order {
		if !is(name) {
			return syntaxError("Unknown property '%s'", name)
		}
	}
	return nil
}

func (p *properties) string(name string) (string, bool, error) {
	v, ok := p.values[name]
	if ok && v.isMap {
		return "", false, syntaxError("Invalid value for property '%s'. It should be a string", name)
	}
	return v.text, ok, nil
}

func (p *properties) pairs(name string) (map[string]string, bool, error) {
	v, ok := p.values[name]
	if ok && !v.isMap {
		return nil, false, syntaxError("Invalid value for property '%s'. It should be a map.", name)
	}
	return v.pairs, ok, nil
}

func (p *properties) int(name string) (int, bool, error) {
	s, ok, err := p.string(name)
	if err != nil || !ok {
		return 0, false, err
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, false, syntaxError("Invalid integer value %s for '%s'", s, name)
	}
	return int(n), true, nil
}

func (p *properties) double(name string) (float64, bool, error) {
	s, ok, err := p.string(name)
	if err != nil || !ok {
		return 0, false, err
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false, syntaxError("Invalid double value %s for '%s'", s, name)
	}
	return f, true, nil
}

func (p *properties) bool(name string) (value, ok bool, err error) {
	s, ok, err := p.string(name)
	if err != nil || !ok {
		return false, false, err
	}
	switch strings.ToLower(s) {
	case "1", "true", "yes":
		return true, true, nil
	case "0", "false", "no":
		return false, true, nil
	}
	return false, false, syntaxError("Invalid boolean value %s for '%s'. "+
		"Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'.", s, name)
}
