module svc-peers/simd42

go 1.16

require github.com/cosmos/cosmos-sdk v0.42.11

// Older versions do not build with today's Go.
require golang.org/x/sys v0.15.0 // indirect

replace (
	github.com/99designs/keyring => github.com/cosmos/keyring v1.1.7-0.20210622111912-ef00f8ac3d76
	github.com/gogo/protobuf => github.com/regen-network/protobuf v1.3.3-alpha.regen.1
	google.golang.org/grpc => google.golang.org/grpc v1.33.2
)
