#!/usr/bin/env bash
# From a bare Debian 12 to GPU gangs placed all-or-nothing, in one command:
#
#   deploy/quickstart.sh           set up, build, start an embedded cluster and the scheduler, submit gangs, show what happened
#   deploy/quickstart.sh --stop    stop what it started
#
# Starts maniple-devcluster (32 simulated nodes of 8 GPUs) and maniple-scheduler on loopback; both keep running, so that
# the commands it prints can be tried. Everything it writes is below build/. Safe to run again: it starts afresh.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly bin=build/release/bin
readonly state=build/quickstart
readonly nodes=32

stop() {
  local name pid
  for name in scheduler devcluster; do
    [ -f "$state/$name.pid" ] || continue
    pid=$(cat "$state/$name.pid")
    # A pid is reused sooner or later: only end what is still ours.
    if [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$(readlink -f "$bin/maniple-$name")" ]; then
      kill "$pid"
      while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    fi
    rm -f "$state/$name.pid"
  done
}

build() {
  deploy/setup.sh
  [ -f build/release/build.ninja ] || cmake --preset release >build/release-configure.log 2>&1 || {
    tail -20 build/release-configure.log >&2
    exit 1
  }
  cmake --build --preset release --target maniple-devcluster maniple-scheduler maniple
}

# node NAME RACK
node() {
  cat <<EOF
---
apiVersion: v1
kind: Node
metadata:
  name: $1
  labels: {kubernetes.io/hostname: $1, example.com/rack: $2, nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
status:
  capacity: &capacity {cpu: "96", memory: 1Ti, pods: "110", nvidia.com/gpu: "8"}
  allocatable: *capacity
EOF
}

# gang NAME MEMBERS GPUS_EACH QUEUE
gang() {
  cat <<EOF
---
apiVersion: scheduling.maniple.dev/v1alpha1
kind: PodGroup
metadata: {name: $1, namespace: default}
spec: {minMember: $2, queue: $4}
EOF
  local i
  for ((i = 0; i < $2; i++)); do
    cat <<EOF
---
apiVersion: v1
kind: Pod
metadata:
  name: $1-$i
  namespace: default
  labels: {scheduling.maniple.dev/pod-group: $1, batch.kubernetes.io/job-completion-index: "$i"}
spec:
  schedulerName: maniple
  containers:
  - name: train
    image: registry.example/train:1
    resources: {limits: {cpu: "8", nvidia.com/gpu: "$3"}}
EOF
  done
}

manifests() {
  local i
  for ((i = 0; i < nodes; i++)); do
    node "$(printf 'gpu-%02d' "$i")" "rack-$((i / 8))"
  done
  for team in research production; do
    cat <<EOF
---
apiVersion: scheduling.maniple.dev/v1alpha1
kind: Queue
metadata: {name: $team}
spec: {cohort: company, quotas: [{resources: [{name: nvidia.com/gpu, nominal: 128}]}]}
EOF
  done
  gang llama-pretrain 16 8 research
  gang vision-finetune 8 8 production
  gang rlhf-actors 12 2 production
  gang evaluation 4 1 research
  gang moe-pretrain 12 8 production
}

start() {
  rm -rf "$state"
  mkdir -p "$state"
  manifests >"$state/cluster.yaml"
  setsid "$bin/maniple-devcluster" --listen 127.0.0.1:0 --port-file "$state/port" --kubeconfig-out "$state/kubeconfig" \
    --load deploy/crds --load "$state/cluster.yaml" >"$state/devcluster.log" 2>&1 </dev/null &
  echo $! >"$state/devcluster.pid"
  wait_for "the embedded API server" "$state/devcluster.log" test -s "$state/port"
  setsid "$bin/maniple-scheduler" --kubeconfig "$state/kubeconfig" --leader-elect=false \
    --admin "unix:$PWD/$state/admin.sock" --http 127.0.0.1:0 >"$state/scheduler.log" 2>&1 </dev/null &
  echo $! >"$state/scheduler.pid"
  wait_for "the first gangs to be bound" "$state/scheduler.log" settled
}

maniple() { "$bin/maniple" --admin "unix:$PWD/$state/admin.sock" "$@"; }

# Four gangs fit and run; the fifth waits.
settled() { [ "$(maniple gangs 2>/dev/null | grep -c ' Running ')" -eq 4 ] && maniple gangs | grep -q ' Pending '; }

# wait_for WHAT LOG COMMAND…: at most 20 s, then the end of the log.
wait_for() {
  local what=$1 log=$2 tries=200
  shift 2
  until "$@" 2>/dev/null; do
    if ! ((tries--)); then
      echo "quickstart: gave up waiting for $what; the end of $log:" >&2
      tail -5 "$log" >&2
      exit 1
    fi
    sleep 0.1
  done
}

show() {
  echo
  echo "$nodes nodes of 8 GPUs, five gangs submitted:"
  echo
  maniple gangs
  echo
  maniple nodes
  echo
  maniple explain moe-pretrain
  cat <<EOF

Both programs keep running. Next:
  kubectl --kubeconfig $state/kubeconfig get podgroups -o wide
  kubectl --kubeconfig $state/kubeconfig delete pods -l scheduling.maniple.dev/pod-group=llama-pretrain   # room for the one that waits
  $bin/maniple --admin unix:$state/admin.sock gangs
Stop both with: deploy/quickstart.sh --stop
EOF
}

case "${1:-}" in
  --stop) stop ;;
  "")
    mkdir -p build
    stop
    build
    start
    show
    ;;
  *)
    echo "usage: deploy/quickstart.sh [--stop]" >&2
    exit 2
    ;;
esac
