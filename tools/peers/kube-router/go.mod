module svc-peers/kube-router

go 1.25

require (
	github.com/cloudnativelabs/kube-router/v2 v2.1.0
	k8s.io/api v0.34.4
	k8s.io/apimachinery v0.34.4
	k8s.io/client-go v0.34.4
	k8s.io/klog/v2 v2.130.1
)
