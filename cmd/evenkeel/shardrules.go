// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/evenkeel/evenkeel/dynamodoor/definitions"
	"github.com/evenkeel/evenkeel/shardrules"
)

// ruleFlags are the flags of serve for shard rules.
type ruleFlags struct {
	ShardRules        string `placeholder:"FILE" help:"YAML file with rules that shard tables whose CREATE TABLE or CreateTable does not mention sharding, such as 'tracker.blogs: {shards: 200}'. The store keeps the rules, and doors without this flag use them, too."`
	ShardRulesReplace bool   `help:"Let the rules of --shard-rules replace the rules that are in the cluster or at the endpoint."`

	rules *shardrules.Set // nil: no file is given
}

// checkRules reads the file and returns an error if the flags are wrong.
func (s *serveCmd) checkRules() error {
	if err := s.readRules(); err != nil {
		return err
	}
	if s.DynamoDBSharding == "off" && s.dynamoDBRules().Len() > 0 {
		return withHint(fmt.Errorf("--shard-rules: %s has rules for DynamoDB tables, and --dynamodb-sharding is off", s.ShardRules), "leave the one or the other out")
	}
	return nil
}

// readRules reads the file of shard rules.
func (f *ruleFlags) readRules() error {
	if f.ShardRules == "" {
		if f.ShardRulesReplace {
			return withHint(errors.New("--shard-rules-replace is given without --shard-rules"), "--shard-rules FILE says which rules; an empty file has none")
		}
		return nil
	}
	text, err := os.ReadFile(f.ShardRules)
	if err != nil {
		return fmt.Errorf("--shard-rules: %w", err)
	}
	f.rules, err = shardrules.Parse(f.ShardRules, text)
	if more := definitions.CheckRules(f.dynamoDBRules()); more != nil {
		err = errors.Join(err, more)
	}
	if err != nil {
		return withHint(fmt.Errorf("--shard-rules: %w", err), "a rule is a line such as tracker.blogs: {shards: 200}, or, below dynamodb, Invoices: {shards: 5}")
	}
	return nil
}

// otherRules is the hint for a door whose rules differ from those of the other doors.
const otherRules = "give all doors one file, or start this one without --shard-rules; --shard-rules-replace lets these rules take the place of those, for all doors at once"

// doorName returns the name under which the store lists this door's rules.
func (s *serveCmd) doorName() string {
	name, err := os.Hostname()
	if err != nil {
		name = "?"
	}
	return name + " " + s.ListenDynamoDB
}

// cqlRules returns the rules for CQL tables, or nil if no file is given.
func (f *ruleFlags) cqlRules() *shardrules.Rules {
	if f.rules == nil {
		return nil
	}
	return &f.rules.CQL
}

// dynamoDBRules returns the rules for DynamoDB tables, or nil if no file is given.
func (f *ruleFlags) dynamoDBRules() *shardrules.Rules {
	if f.rules == nil {
		return nil
	}
	return &f.rules.DynamoDB
}
