// Enforces the network policies of a cluster on one node, as the firewall of kube-router does, and nothing else of it: its
// controller as it is, and the few lines that start it.
package main

import (
	"flag"
	"os"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	config := options.NewKubeRouterConfig()
	path := flag.String("kubeconfig", "", "file that leads to the cluster")
	flag.StringVar(&config.HostnameOverride, "hostname-override", "", "name of the node")
	services := flag.String("service-cluster-ip-range", "", "addresses of services")
	flag.Parse()
	config.EnableIPv4, config.EnableIPv6 = true, false
	config.ClusterIPCIDRs = []string{*services}
	config.IPTablesSyncPeriod = time.Minute
	if err := run(config, *path); err != nil {
		klog.Error(err)
		os.Exit(1)
	}
}

func run(config *options.KubeRouterConfig, path string) error {
	access, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return err
	}
	iptables, ipsets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	spaces := factory.Core().V1().Namespaces().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	controller, err := netpol.NewNetworkPolicyController(client, config, pods, policies, spaces, &sync.Mutex{}, iptables, ipsets)
	if err != nil {
		return err
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: controller.PodEventHandler, policies: controller.NetworkPolicyEventHandler, spaces: controller.NamespaceEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	beats := make(chan *healthcheck.ControllerHeartbeat, 10)
	go func() {
		for range beats {
		}
	}()
	var group sync.WaitGroup
	group.Add(1)
	controller.Run(beats, stop, &group)
	return nil
}
