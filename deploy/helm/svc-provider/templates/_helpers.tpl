{{- define "svc-provider.name" -}}
{{- printf "%s-svc-provider" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc-provider.selector" -}}
app.kubernetes.io/name: svc-provider
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc-provider.labels" -}}
{{ include "svc-provider.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "svc-provider.claim" -}}
{{- .Values.home.existingClaim | default (printf "%s-home" (include "svc-provider.name" .)) -}}
{{- end -}}
