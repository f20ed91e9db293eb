module svc-peers/light

go 1.25

require github.com/cometbft/cometbft v0.38.26
