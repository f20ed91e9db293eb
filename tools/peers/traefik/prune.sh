#!/bin/sh
# usage: prune.sh TRAEFIK LEGO. Takes out of copies of two modules what no test on a cluster uses and most of the time of a build goes
# to: finders of services on other systems than Kubernetes, the interpreters of plugins, and the companies whose name servers an
# ACME client can change. What answers for clusters stays as it was released.
set -eu
traefik=$1 lego=$2
others='consulcatalog|docker|ecs|etcd|consul|redis|zk|nomad|knative'
fields='Docker|Swarm|Ecs|ConsulCatalog|Nomad|Consul|Etcd|ZooKeeper|Redis|Knative'
providers=$traefik/pkg/provider

sed -i -E -e "/\/pkg\/provider\/(kubernetes\/|kv\/)?($others)\"/d" \
  -e "/^\t($others)\.[A-Za-z]*Name,/d" -e "/ +\*($others)\./d" \
  -e "/^\tif c\.Providers\.($fields) != nil \{/,/^\t\}/d" -e "/^\tif .* c\.Providers\.Knative != nil \{/,/^\t\}/d" \
  "$traefik/pkg/config/static/static_config.go"
sed -i -E "/^\tif conf\.($fields) != nil \{/,/^\t\}/d" "$providers/aggregator/aggregator.go"
rm -r "$providers/consulcatalog" "$providers/docker" "$providers/ecs" "$providers/kv" "$providers/nomad" "$providers/kubernetes/knative"

plugins=$traefik/pkg/plugins
rm "$plugins"/middleware*.go "$plugins"/wasip*.go "$plugins"/providers.go
cat > "$plugins/builder.go" << 'GO'
package plugins

import (
	"context"
	"errors"
	"net/http"

	"github.com/traefik/traefik/v3/pkg/provider"
)

var errNone = errors.New("there are no plugins")

type Constructor func(context.Context, http.Handler) (http.Handler, error)

type Builder struct{}

func NewBuilder(*Manager, map[string]Descriptor, map[string]LocalDescriptor) (*Builder, error) {
	return &Builder{}, nil
}

func (Builder) Build(string, map[string]any, string) (Constructor, error) { return nil, errNone }

func (Builder) BuildProvider(string, map[string]any) (provider.Provider, error) { return nil, errNone }
GO

# A module of its own in the same repository, which no proxy has. It adds nothing.
mkdir "$traefik/pkg/config/dynamic/ext"
cat > "$traefik/pkg/config/dynamic/ext/ext.go" << 'GO'
package ext

type HTTP struct{}

type Router struct{}
GO
echo 'module github.com/traefik/traefik/dynamic/ext' > "$traefik/pkg/config/dynamic/ext/go.mod"

find "$lego/providers/dns" -mindepth 1 -delete
cat > "$lego/providers/dns/dns.go" << 'GO'
package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

func NewDNSChallengeProviderByName(string) (challenge.Provider, error) {
	return nil, errors.New("there are no name servers")
}
GO
