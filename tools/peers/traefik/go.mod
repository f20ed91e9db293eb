module svc-peers/traefik

go 1.26

require (
	github.com/go-acme/lego/v5 v5.3.1
	github.com/traefik/traefik/v3 v3.7.11
)

// Copies that are pruned before the build.
replace (
	github.com/go-acme/lego/v5 => ./lego
	github.com/traefik/traefik/dynamic/ext => ./source/pkg/config/dynamic/ext
	github.com/traefik/traefik/v3 => ./source
)

// Replacements of that release, which count only where it is built itself. The first is the last commit that a proxy has.
replace (
	github.com/abbot/go-http-auth => github.com/containous/go-http-auth v0.4.1-0.20200324110947-a37a7636d23e
	github.com/gorilla/mux => github.com/containous/mux v0.0.0-20250523120546-41b6ec3aed59
)
