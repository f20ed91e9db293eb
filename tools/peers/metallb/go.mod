module svc-peers/metallb

go 1.25

require (
	go.universe.tf/metallb v0.15.2
)
