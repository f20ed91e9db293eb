// What the tests of the Kubernetes client run against, in one program: the storage and the API server of Kubernetes, and a
// node whose containers are processes of this machine. Its first word chooses the part.
package main

import (
	"fmt"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	part := os.Args[1]
	os.Args = os.Args[1:]
	switch part {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "node":
		if len(os.Args) != 3 {
			usage()
		}
		fmt.Fprintln(os.Stderr, serveNode(os.Args[1], os.Args[2]))
		os.Exit(1)
	default:
		usage()
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: kubernetes etcd|kube-apiserver FLAGS | kubernetes node HOST:PORT FOLDER")
	os.Exit(2)
}
