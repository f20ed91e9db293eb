// Command ics23 verifies proofs of stores with the reference library. Each line of standard input is a claim, as JSON with
// base64; each line of standard output says whether the proof shows it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	ics23 "github.com/cosmos/ics23/go"
)

type claim struct {
	AppHash []byte `json:"app_hash"`
	Store   string `json:"store"`
	Key     []byte `json:"key"`
	// Nothing: the key is said not to be there.
	Value   []byte `json:"value"`
	InStore []byte `json:"in_store"`
	InApp   []byte `json:"in_app"`
}

func (c claim) holds() (bool, error) {
	var inStore, inApp ics23.CommitmentProof
	if err := inStore.Unmarshal(c.InStore); err != nil {
		return false, err
	}
	if err := inApp.Unmarshal(c.InApp); err != nil {
		return false, err
	}
	exist := inApp.GetExist()
	if exist == nil {
		return false, nil
	}
	root := exist.Value
	if !ics23.VerifyMembership(ics23.TendermintSpec, c.AppHash, &inApp, []byte(c.Store), root) {
		return false, nil
	}
	if c.Value == nil {
		return ics23.VerifyNonMembership(ics23.SmtSpec, root, &inStore, c.Key), nil
	}
	return ics23.VerifyMembership(ics23.SmtSpec, root, &inStore, c.Key, c.Value), nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c claim
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		holds, err := c.holds()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(holds)
	}
}
