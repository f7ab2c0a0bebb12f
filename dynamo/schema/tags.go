// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// These are limits of tags.
const (
	MaxTags     = 50
	MaxTagKey   = 128 // characters
	MaxTagValue = 256
)

var errManyTags = exception.Invalid("Number of Tags exceed the current limit for the provided ResourceArn")

// setTag sets one tag in tags sorted by key, which may be changed.
func setTag(tags []Tag, tag Tag) []Tag {
	i, found := slices.BinarySearchFunc(tags, tag.Key, func(t Tag, key string) int { return strings.Compare(t.Key, key) })
	if found {
		tags[i] = tag
		return tags
	}
	return slices.Insert(tags, i, tag)
}

// WithTags returns the table with tags set, or AWS's error.
func (t *Table) WithTags(tags []Tag) (*Table, error) {
	n := *t
	n.Tags = slices.Clone(t.Tags)
	for _, tag := range tags {
		n.Tags = setTag(n.Tags, tag)
	}
	if len(n.Tags) > MaxTags {
		return nil, errManyTags
	}
	return &n, nil
}

// WithoutTags returns the table without the tags with these keys.
func (t *Table) WithoutTags(keys []string) *Table {
	n := *t
	n.Tags = slices.DeleteFunc(slices.Clone(t.Tags), func(tag Tag) bool { return slices.Contains(keys, tag.Key) })
	return &n
}

// Tag returns the value of the tag with a key.
func (t *Table) Tag(key string) (string, bool) {
	for _, tag := range t.Tags {
		if tag.Key == key {
			return tag.Value, true
		}
	}
	return "", false
}

// CheckTags returns an error if keys or values are not allowed. Allowed are letters, digits,
// spaces and + - = . _ : / @, up to a length. A key must not begin with aws:, and no key may
// appear twice.
func CheckTags(tags []Tag) error {
	for i, tag := range tags {
		if err := checkTagKey(tag.Key); err != nil {
			return err
		}
		switch {
		case utf8.RuneCountInString(tag.Value) > MaxTagValue || strings.ContainsFunc(tag.Value, notInTag):
			return exception.Invalid("The Tag Value provided is invalid, Value: %s", tag.Value)
		case strings.HasPrefix(tag.Key, "aws:"):
			return exception.Invalid("Tag Key cannot be prefixed with aws:, Key: %s", tag.Key)
		case slices.ContainsFunc(tags[:i], func(e Tag) bool { return e.Key == tag.Key }):
			return exception.Invalid("Duplicate Tag Keys provided as input: Duplicate Tag Key found %s", tag.Key)
		}
	}
	return nil
}

// CheckTagKeys returns an error if no tag can have one of these keys.
func CheckTagKeys(keys []string) error {
	for _, key := range keys {
		if err := checkTagKey(key); err != nil {
			return err
		}
	}
	if len(keys) > MaxTags {
		return errManyTags
	}
	return nil
}

func checkTagKey(key string) error {
	if key == "" || utf8.RuneCountInString(key) > MaxTagKey || strings.ContainsFunc(key, notInTag) {
		return exception.Invalid("The Tag Key provided is invalid, Key: %s", key)
	}
	return nil
}

func notInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && !strings.ContainsRune("+-=._:/@", r)
}
