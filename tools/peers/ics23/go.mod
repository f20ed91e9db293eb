module svc-peers/ics23

go 1.25

require github.com/cosmos/ics23/go v0.11.0
