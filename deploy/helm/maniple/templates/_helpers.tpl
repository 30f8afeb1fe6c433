{{- /* The release's name in all names: `maniple` for a release of that name, `gold-maniple` for one named `gold`. */ -}}
{{- define "maniple.name" -}}
{{- /* Names of Services have no dots and at most 63 bytes: "-metrics-reader" and the like come behind it. */}}
{{- $name := contains "maniple" .Release.Name | ternary .Release.Name (printf "%s-maniple" .Release.Name) }}
{{- $name | replace "." "-" | trunc 45 | trimSuffix "-" }}
{{- end }}

{{- define "maniple.scheduler" -}}
{{ include "maniple.name" . }}-scheduler
{{- end }}

{{- /* Never change: a Deployment's selector cannot be. */ -}}
{{- define "maniple.selector" -}}
app.kubernetes.io/name: maniple
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: scheduler
{{- end }}

{{- define "maniple.common" -}}
app.kubernetes.io/part-of: maniple
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- /* Build metadata begins with a plus, which no label takes. */}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "maniple.labels" -}}
app.kubernetes.io/name: maniple
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{ include "maniple.common" . }}
{{- end }}

{{- define "maniple.schedulerLabels" -}}
{{ include "maniple.selector" . }}
{{ include "maniple.common" . }}
{{- end }}

{{- define "maniple.image" -}}
{{ .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* off, dryRun or on. YAML 1.1 reads a bare on or off as a boolean. */ -}}
{{- define "maniple.mig" -}}
{{- $said := dig "gpu" "mig" "reconfigure" "off" .Values.configuration -}}
{{- if kindIs "bool" $said }}{{ ternary "on" "off" $said }}{{ else }}{{ $said }}{{ end }}
{{- end }}

{{- /* Every kind of producer that the scheduler knows (api/producers/kinds.cc; client_role_test compares). */ -}}
{{- define "maniple.knownProducerKinds" -}}
{{- toJson (list
    "podgroups.scheduling.x-k8s.io" "podgroups.scheduling.volcano.sh" "jobs.batch" "podgroups.scheduling.k8s.io"
    "podgroups.scheduling.run.ai" "podgangs.scheduler.grove.io" "podgroups.scheduling.sigs.k8s.io" "statefulsets.apps"
    "jobsets.jobset.x-k8s.io" "leaderworkersets.leaderworkerset.x-k8s.io" "rayclusters.ray.io"
    "pytorchjobs.kubeflow.org" "tfjobs.kubeflow.org" "xgboostjobs.kubeflow.org" "paddlejobs.kubeflow.org"
    "jaxjobs.kubeflow.org" "mpijobs.kubeflow.org" "trainjobs.trainer.kubeflow.org"
    "compositepodgroups.scheduling.k8s.io" "hypernodes.topology.volcano.sh") -}}
{{- end }}

{{- /* Those that are watched. */ -}}
{{- define "maniple.producerKinds" -}}
{{- $kinds := .Values.producers.kinds | default (include "maniple.knownProducerKinds" . | fromJsonArray) -}}
{{- range dig "producers" "rules" list .Values.configuration -}}
{{- $kinds = append $kinds (printf "%s.%s" .resource .group) -}}
{{- end -}}
{{- toJson $kinds -}}
{{- end }}

{{- define "maniple.configuration" -}}
{{- $ours := dict "apiVersion" "config.maniple.dev/v1alpha1" "kind" "SchedulerConfiguration"
    "schedulerNames" .Values.schedulerNames "withoutQueue" .Values.withoutQueue
    "leaderElection" (dict "leaseName" (include "maniple.scheduler" .) "leaseNamespace" .Release.Namespace) -}}
{{- $given := deepCopy .Values.configuration -}}
{{- if dig "gpu" "mig" "reconfigure" nil $given | kindIs "bool" -}}
{{- $_ := set $given.gpu.mig "reconfigure" (include "maniple.mig" .) -}}
{{- end -}}
{{- if not .Values.producers.enabled -}}
{{- if dig "producers" "rules" nil $given -}}
{{- fail "configuration.producers.rules needs producers.enabled: the scheduler is to watch what they name" -}}
{{- end -}}
{{- $_ := set $given "producers" (set ($given.producers | default dict) "kinds" list) -}}
{{- else if .Values.producers.kinds -}}
{{- $_ := set $given "producers" (set ($given.producers | default dict) "kinds" .Values.producers.kinds) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $given $ours) -}}
{{- end }}

{{- /* Who removes the installation would otherwise delete every object of the kind: by helm, Argo CD or Flux. */ -}}
{{- define "maniple.kept" -}}
{{- if .Values.crds.keep -}}
annotations:
  helm.sh/resource-policy: keep
  argocd.argoproj.io/sync-options: Prune=false,Delete=false
  kustomize.toolkit.fluxcd.io/prune: disabled
{{- end -}}
{{- end }}

{{- /* Who may write what is the scheduler's alone. */ -}}
{{- define "maniple.accounts" -}}
{{- $own := printf "system:serviceaccount:%s:%s" .Release.Namespace (include "maniple.scheduler" .) -}}
{{- toJson (prepend .Values.policies.otherSchedulers $own) -}}
{{- end }}

{{- define "maniple.tlsSecret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" (include "maniple.scheduler" .)) }}
{{- end }}
