package schema

import (
	"slices"
	"strings"
	"unicode"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Limits of tags.
const (
	MaxTags     = 50
	MaxTagKey   = 128 // characters
	MaxTagValue = 256
)

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
		return nil, exception.Invalid("Too many tags: The maximum number of tags that can be assigned to a resource is %d", MaxTags)
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

// CheckTags says whether keys and values are such as tags may have: letters,
// digits, spaces and + - = . _ : / @, not too long, not beginning with aws:.
func CheckTags(tags []Tag) error {
	for i, tag := range tags {
		switch {
		case tag.Key == "" || len([]rune(tag.Key)) > MaxTagKey:
			return exception.InvalidParameters("Tag key %q must have from 1 to %d characters", tag.Key, MaxTagKey)
		case len([]rune(tag.Value)) > MaxTagValue:
			return exception.InvalidParameters("The value of tag %q must have at most %d characters", tag.Key, MaxTagValue)
		case strings.HasPrefix(tag.Key, "aws:"):
			return exception.InvalidParameters("Tag key %q begins with aws:, which is reserved", tag.Key)
		case strings.ContainsFunc(tag.Key+tag.Value, notInTag):
			return exception.InvalidParameters("Tag %q has a character that tags may not have: letters, digits, spaces and + - = . _ : / @ are allowed", tag.Key)
		case slices.ContainsFunc(tags[:i], func(e Tag) bool { return e.Key == tag.Key }):
			return exception.InvalidParameters("Duplicate tag key: %s", tag.Key)
		}
	}
	return nil
}

func notInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && !strings.ContainsRune("+-=._:/@", r)
}
