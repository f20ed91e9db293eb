module svc-peers/simd53

go 1.25

require (
	cosmossdk.io/client/v2 v2.0.0-beta.11
	cosmossdk.io/core v0.11.3
	cosmossdk.io/depinject v1.2.1
	cosmossdk.io/log v1.6.0
	cosmossdk.io/x/evidence v0.2.0
	cosmossdk.io/x/feegrant v0.2.0
	github.com/cometbft/cometbft v0.38.21
	github.com/cosmos/cosmos-db v1.1.1
	github.com/cosmos/cosmos-sdk v0.53.4
	github.com/spf13/cobra v1.9.1
)

replace (
	github.com/99designs/keyring => github.com/cosmos/keyring v1.2.0
	// Older versions do not build with today's Go.
	github.com/bytedance/sonic => github.com/bytedance/sonic v1.15.0
	github.com/syndtr/goleveldb => github.com/syndtr/goleveldb v1.0.1-0.20210819022825-2ae1ddf74ef7
)
