// Command light verifies blocks with the light client of the ecosystem's engine. Each line of standard input has a trusted
// block and another one; each line of standard output is the verdict on the other one.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	cmtjson "github.com/cometbft/cometbft/libs/json"
	"github.com/cometbft/cometbft/light"
	"github.com/cometbft/cometbft/types"
)

// block is a block in the form of the answers of a node: `commit` without its wrapper, and `validators`.
type block struct {
	SignedHeader json.RawMessage `json:"signed_header"`
	Validators   json.RawMessage `json:"validators"`
}

type question struct {
	Trusted block     `json:"trusted"`
	Block   block     `json:"block"`
	Now     time.Time `json:"now"`
	// Nanoseconds.
	Period int64 `json:"period"`
	Drift  int64 `json:"drift"`
}

func (b block) read() (*types.LightBlock, error) {
	var header types.SignedHeader
	if err := cmtjson.Unmarshal(b.SignedHeader, &header); err != nil {
		return nil, err
	}
	var validators []*types.Validator
	if err := cmtjson.Unmarshal(b.Validators, &validators); err != nil {
		return nil, err
	}
	set := &types.ValidatorSet{Validators: validators}
	if len(validators) > 0 {
		set.Proposer = validators[0]
	}
	// The way over the wire form tells the set that its keys are of one type, so that votes are verified in a batch.
	wire, err := set.ToProto()
	if err != nil {
		return nil, err
	}
	if set, err = types.ValidatorSetFromProto(wire); err != nil {
		return nil, err
	}
	return &types.LightBlock{SignedHeader: &header, ValidatorSet: set}, nil
}

func (q question) verdict() (verdict string) {
	// The engine panics where a set has too much power.
	defer func() {
		if recover() != nil {
			verdict = "refused"
		}
	}()
	trusted, err := q.Trusted.read()
	if err != nil {
		return "unreadable trusted block: " + err.Error()
	}
	other, err := q.Block.read()
	if err != nil {
		return "refused"
	}
	if err := other.ValidateBasic(trusted.ChainID); err != nil {
		return "refused"
	}
	err = light.Verify(trusted.SignedHeader, trusted.ValidatorSet, other.SignedHeader, other.ValidatorSet,
		time.Duration(q.Period), q.Now, time.Duration(q.Drift), light.DefaultTrustLevel)
	var expired light.ErrOldHeaderExpired
	var untrusted light.ErrNewValSetCantBeTrusted
	switch {
	case err == nil:
		return "good"
	case errors.As(err, &expired):
		return "expired"
	case errors.As(err, &untrusted):
		return "not enough trust"
	}
	return "refused"
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(q.verdict())
	}
}
