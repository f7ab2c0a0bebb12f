// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	sharding "github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/shardrules"
)

// ruleFlags are serve's flags about shard rules.
type ruleFlags struct {
	ShardRules        string `placeholder:"FILE" help:"YAML file with rules that shard tables whose CREATE TABLE or CreateTable says nothing of it, such as 'tracker.blogs: {shards: 200}'. They are kept in the store, and doors without this flag go by them, too."`
	ShardRulesReplace bool   `help:"Let the rules of --shard-rules take the place of others that are in the store of a cluster or endpoint."`

	rules *shardrules.Set // nil: no file
}

// checkRules reads the file, and says what is wrong with the flags.
func (s *serveCmd) checkRules() error {
	if err := s.readRules(); err != nil {
		return err
	}
	if s.DynamoDBSharding == "off" && s.dynamoDBRules().Len() > 0 {
		return withHint(fmt.Errorf("--shard-rules: %s has rules for DynamoDB tables, and --dynamodb-sharding is off", s.ShardRules), "leave the one or the other out")
	}
	return nil
}

// readRules reads the file.
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
	if f.rules, err = shardrules.Parse(f.ShardRules, text); err != nil {
		return withHint(fmt.Errorf("--shard-rules: %w", err), "a rule is a line such as tracker.blogs: {shards: 200}")
	}
	if err := sharding.CheckRules(&f.rules.DynamoDB); err != nil {
		return withHint(fmt.Errorf("--shard-rules: %w", err), "a rule for a DynamoDB table is a line such as Invoices: {shards: 5}, below dynamodb")
	}
	return nil
}

// otherRules is the way out for a door whose rules are not those of the others.
const otherRules = "give all doors one file, or start this one without --shard-rules; --shard-rules-replace lets these rules take the place of those, for all doors at once"

// doorName is how this door is called in the store of its rules.
func (s *serveCmd) doorName() string {
	name, err := os.Hostname()
	if err != nil {
		name = "?"
	}
	return name + " " + s.ListenDynamoDB
}

// cqlRules are those about CQL tables; nil where there is no file.
func (f *ruleFlags) cqlRules() *shardrules.Rules {
	if f.rules == nil {
		return nil
	}
	return &f.rules.CQL
}

// dynamoDBRules are those about DynamoDB tables; nil where there is no file.
func (f *ruleFlags) dynamoDBRules() *shardrules.Rules {
	if f.rules == nil {
		return nil
	}
	return &f.rules.DynamoDB
}
