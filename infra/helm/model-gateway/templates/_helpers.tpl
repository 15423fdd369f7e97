{{/* The first part of every name, so that two releases fit into one namespace. */}}
{{- define "model-gateway.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels of every object. */}}
{{- define "model-gateway.labels" -}}
app.kubernetes.io/part-of: model-gateway, app.kubernetes.io/instance: '{{ .Release.Name }}', app.kubernetes.io/managed-by: '{{ .Release.Service }}'
{{- end -}}

{{/* The labels of the pods of one app of this release: (list $ "gateway"). */}}
{{- define "model-gateway.pods" -}}
app.kubernetes.io/name: {{ index . 1 }}, app.kubernetes.io/instance: '{{ (index . 0).Release.Name }}'
{{- end -}}

{{/* The selector of the pods of several apps of this release: (list $ "gateway, rpc"). */}}
{{- define "model-gateway.podsOf" -}}
matchLabels: { app.kubernetes.io/instance: '{{ (index . 0).Release.Name }}' }, matchExpressions: [{ key: app.kubernetes.io/name, operator: In, values: [{{ index . 1 }}] }]
{{- end -}}
