// Helm at its release, with the parts of Kubernetes of which the other tools are made.
module helm

go 1.24.0

tool helm.sh/helm/v3/cmd/helm

require (
	helm.sh/helm/v3 v3.19.5
	k8s.io/api v0.34.4
	k8s.io/apiextensions-apiserver v0.34.4
	k8s.io/apimachinery v0.34.4
	k8s.io/apiserver v0.34.4
	k8s.io/cli-runtime v0.34.4
	k8s.io/client-go v0.34.4
	k8s.io/kubectl v0.34.4
)
