#!/usr/bin/env bash
# From a bare Debian 12 to GPU gangs placed all-or-nothing, in one command:
#
#   deploy/quickstart.sh                       set up, build, start an embedded cluster and the scheduler, submit gangs, show
#                                              what happened
#   deploy/quickstart.sh --no-build            the same with what is built already
#   deploy/quickstart.sh --no-build --cluster FILE
#                                              the same with the objects of FILE in place of its own cluster and gangs
#   deploy/quickstart.sh --stop                stop what it started
#   deploy/quickstart.sh --gang NAME PODS GPUS [QUEUE [SPEC]]
#                                              print the manifest of a gang of PODS pods with GPUS GPUs each; GPUS may be
#                                              MIG devices (mig-1g.10gb=1), SPEC is more of the PodGroup's spec, and the
#                                              variable IMAGE is what its containers run
#
# Starts maniple-devcluster (32 simulated nodes of 8 GPUs) and maniple-scheduler on loopback; both keep running, so that
# the commands it prints can be tried. Everything it writes is below build/. Safe to run again: it starts afresh.
# PRESET (release) names whose binaries run, QUICKSTART (build/quickstart) a folder of its own, new or of an earlier run,
# for pids, logs and the kubeconfig.
set -euo pipefail
readonly caller=$PWD
cd "$(dirname "$0")/.."

readonly preset=${PRESET:-release}
readonly bin=build/$preset/bin
readonly state=${QUICKSTART:-build/quickstart}
readonly admin=unix:$state/admin.sock # relative: a socket's path may have 107 characters, a checkout's any number
readonly nodes=32
readonly waiting=world-model # the gang that will not fit at first
cluster=                     # a file that says what is in the cluster, in place of manifests

fail() {
  echo "quickstart: $1" >&2
  exit 1
}

# alive NAME: the program that an earlier run started still runs. A pid is reused sooner or later: only ours counts.
alive() {
  local runs
  [[ -f $state/$1.pid ]] || return 1
  runs=$(readlink "/proc/$(<"$state/$1.pid")/exe") || return 1
  # Of whichever preset.
  [[ ${runs% (deleted)} == "$(pwd -P)"/build/*/bin/maniple-$1 ]]
}

stop() {
  local name tries
  for name in scheduler devcluster; do
    if alive $name; then
      kill "$(<"$state/$name.pid")"
      for ((tries = 0; tries < 600; tries++)); do
        alive $name || break
        sleep 0.05
      done
      ! alive $name || kill -9 "$(<"$state/$name.pid")"
    fi
    rm -f "$state/$name.pid"
  done
}

build() {
  local log=build/$preset-configure.log
  deploy/setup.sh
  mkdir -p build
  [[ -f build/$preset/build.ninja ]] || cmake --preset "$preset" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "cmake failed; all it said is in $log"
  }
  cmake --build --preset "$preset" --target maniple-devcluster maniple-scheduler maniple
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

# gang NAME PODS GPUS QUEUE SPEC
gang() {
  local resource=gpu
  [[ $3 != *=* ]] || resource=${3%%=*}
  cat <<EOF
---
apiVersion: scheduling.maniple.dev/v1alpha1
kind: PodGroup
metadata: {name: $1, namespace: default}
spec: {minMember: $2, queue: $4${5:+, $5}}
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
    image: ${IMAGE:-registry.example/train:1}
    resources: {limits: {cpu: "8", nvidia.com/$resource: "${3##*=}"}}
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
spec: {cohort: company, quotas: [{resources: [{name: nvidia.com/gpu, nominal: 160}]}]}
EOF
  done
  # Served in this order: by age, and by name among those of one second.
  gang evaluation 4 1 research
  gang llama-pretrain 16 8 research
  gang rlhf-actors 12 2 production
  gang vision-finetune 8 8 production
  gang $waiting 12 8 production
}

start() {
  [[ ! -e $state || -e $state/cluster.yaml || -z $(ls -A "$state") ]] ||
    fail "$state holds what is not of an earlier run: QUICKSTART must name a folder of its own"
  rm -rf "$state"
  mkdir -p -m 700 "$state" # nobody else may put a socket there
  if [[ -n $cluster ]]; then cp "$cluster" "$state/cluster.yaml"; else manifests >"$state/cluster.yaml"; fi
  run devcluster --listen 127.0.0.1:0 --port-file "$state/port" --kubeconfig-out "$state/kubeconfig" \
    --load deploy/crds --load "$state/cluster.yaml"
  wait_for devcluster "the embedded API server to listen" test -s "$state/port"
  run scheduler --kubeconfig "$state/kubeconfig" --leader-elect=false --admin "$admin" --http 127.0.0.1:0
  wait_for scheduler "the first gangs to be bound" settled
}

# run NAME FLAG…: in the background, in a session of its own, so that it outlives this script and its terminal.
run() {
  local name=$1
  shift
  setsid "$bin/maniple-$name" "$@" >"$state/$name.log" 2>&1 </dev/null &
  echo $! >"$state/$name.pid"
}

maniple() { "$bin/maniple" --admin "$admin" "$@"; }

# Four gangs fit and run; the fifth waits.
settled() {
  local gangs
  if [[ -n $cluster ]]; then maniple nodes >/dev/null 2>&1; return; fi
  gangs=$(maniple gangs 2>/dev/null) && (($(grep -c ' Running ' <<<"$gangs") == 4)) && grep -q "$waiting .* NoFit " <<<"$gangs"
}

# wait_for NAME WHAT COMMAND…: at most 20 s and only as long as the program runs; then the end of its log.
wait_for() {
  local name=$1 what=$2 tries=200
  shift 2
  until "$@"; do
    if ! kill -0 "$(<"$state/$name.pid")" 2>/dev/null || ! ((tries--)); then
      tail -n 5 "$state/$name.log" >&2
      stop
      fail "gave up waiting for $what; the log of maniple-$name is $state/$name.log"
    fi
    sleep 0.1
  done
}

# The two commands that speak to the API server, with a kubectl where there is one.
api_commands() {
  local kubectl server label=scheduling.maniple.dev/pod-group=llama-pretrain
  kubectl=$(command -v kubectl || compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/maniple/controlplane/*/kubectl" | tail -n 1) || true
  if [[ -n $kubectl ]]; then
    [[ $(command -v kubectl) != "$kubectl" ]] || kubectl=kubectl
    cat <<EOF
  $kubectl --kubeconfig $state/kubeconfig get podgroups -o wide
  $kubectl --kubeconfig $state/kubeconfig delete pods -l $label   # room for $waiting
EOF
  else
    server=http://127.0.0.1:$(<"$state/port")
    cat <<EOF
  curl $server/apis/scheduling.maniple.dev/v1alpha1/podgroups   # no kubectl here; test/controlplane/build.sh builds one
  curl -s -o /dev/null -X DELETE "$server/api/v1/namespaces/default/pods?labelSelector=$label"   # room for $waiting
EOF
  fi
}

show() {
  local page
  echo
  if [[ -n $cluster ]]; then
    maniple nodes --map
    return
  fi
  echo "$nodes nodes of 8 GPUs, five gangs submitted:"
  echo
  maniple gangs
  echo
  maniple explain $waiting
  echo
  if [[ $caller == "$PWD" ]]; then echo "Both programs keep running. Next:"; else echo "Both programs keep running. Next, in $PWD:"; fi
  api_commands
  page=$(sed -n 's/.*serving HTTP on port \([0-9]*\).*/\1/p' "$state/scheduler.log" | tail -n 1)
  cat <<EOF
  http://127.0.0.1:$page/   # the page: who runs where, who waits and why, live
  $bin/maniple --admin $admin gangs
Stop both with: deploy/quickstart.sh --stop
EOF
}

start_afresh() {
  trap 'stop; exit 130' INT TERM
  start
  trap - INT TERM
  show
}

built() {
  [[ -x $bin/maniple-scheduler ]] || fail "nothing is built in $bin: run deploy/quickstart.sh without --no-build first"
}

usage() {
  echo "usage: deploy/quickstart.sh [--no-build [--cluster FILE] | --stop | --gang NAME PODS GPUS [QUEUE [SPEC]]]" >&2
  exit 2
}

case "$#:${1:-}" in
  0:)
    stop
    build
    start_afresh
    ;;
  1:--no-build)
    built
    stop
    start_afresh
    ;;
  3:--no-build)
    [[ $2 == --cluster ]] || usage
    cluster=$(cd "$caller" && readlink -f "$3") && [[ -r $cluster ]] || fail "$3 cannot be read"
    built
    stop
    start_afresh
    ;;
  1:--stop) stop ;;
  4:--gang | 5:--gang | 6:--gang) gang "$2" "$3" "$4" "${5:-research}" "${6:-}" ;;
  *) usage ;;
esac
