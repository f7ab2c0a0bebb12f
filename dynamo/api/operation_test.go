// SPDX-License-Identifier: Apache-2.0

package api

import "testing"

// The different descriptions of an operation must agree.
func TestOperations(t *testing.T) {
	seen := make(map[string]bool)
	for _, o := range Operations {
		if seen[o.Name] {
			t.Errorf("%s is there twice", o.Name)
		}
		seen[o.Name] = true
		q, ok := New(o.Name)
		if !ok || q.Operation() != o.Name {
			t.Fatalf("the request of %s is of %s", o.Name, q.Operation())
		}
		if _, items := q.(ItemRequest); items != (o.About == Items) {
			t.Errorf("%s is about items: its request says %v", o.Name, items)
		}
		if (o.About == Items || o.About == Statements || o.About == Layouts) && o.Names == Nowhere {
			t.Errorf("%s: where it names tables is not known", o.Name)
		}
		if name, ok := Targeted(Target(o.Name)); name != o.Name || !ok {
			t.Errorf("the target of %s names %s, %v", o.Name, name, ok)
		}
	}
	for target, known := range map[string]bool{
		"DynamoDB_20120810.ImportTable": true, "DynamoDB_20120810.ListStreams": false, "DynamoDB_20120810.Reshard": false,
		"DynamoDBStreams_20120810.GetItem": false, "DynamoDBStreams_20120810.None": false, "Evenkeel_20260101.None": false, "GetItem": false, "": false,
	} {
		if _, ok := Targeted(target); ok != known {
			t.Errorf("%q: %v", target, ok)
		}
	}
}
