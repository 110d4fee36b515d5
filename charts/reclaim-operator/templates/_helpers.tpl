{{- /* SPDX-License-Identifier: Apache-2.0 */}}
{{- /* Names that both programs know: common/agent_api.h, operator/options.h. */}}
{{- define "reclaim.operator.name" -}}reclaim-operator{{- end }}
{{- define "reclaim.agent.name" -}}reclaim-node-agent{{- end }}
{{- define "reclaim.agent.audience" -}}reclaim-operator.kswapd.dev{{- end }}

{{- /* Labels that select the pods of a component; they never change. Argument: (dict "root" $ "component" NAME). */}}
{{- define "reclaim.selector" -}}
app.kubernetes.io/name: reclaim-operator
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- /* Labels of every object, beside its selector. Argument: the root. */}}
{{- define "reclaim.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: reclaim-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Both together. Argument: (dict "root" $ "component" NAME). */}}
{{- define "reclaim.allLabels" -}}
{{ include "reclaim.selector" . }}
{{ include "reclaim.labels" .root }}
{{- end }}

{{- /* Argument: (dict "root" $ "image" VALUES). */}}
{{- define "reclaim.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- /* What every container of ours gives up. */}}
{{- define "reclaim.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
