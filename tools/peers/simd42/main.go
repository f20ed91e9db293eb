// Command simd42 is the reference application of release v0.42.11. PEER_PREFIX sets the bech32 prefix of its network.
package main

import (
	"fmt"
	"os"

	servercmd "github.com/cosmos/cosmos-sdk/server/cmd"
	"github.com/cosmos/cosmos-sdk/simapp"
	simd "github.com/cosmos/cosmos-sdk/simapp/simd/cmd"
	"github.com/cosmos/cosmos-sdk/types"
)

func main() {
	if p := os.Getenv("PEER_PREFIX"); p != "" {
		config := types.GetConfig()
		config.SetBech32PrefixForAccount(p, p+"pub")
		config.SetBech32PrefixForValidator(p+"valoper", p+"valoperpub")
		config.SetBech32PrefixForConsensusNode(p+"valcons", p+"valconspub")
	}
	root, _ := simd.NewRootCmd()
	if err := servercmd.Execute(root, simapp.DefaultNodeHome); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
