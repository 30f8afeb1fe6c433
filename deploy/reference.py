#!/usr/bin/env python3
"""Prints the reference page of the custom resources, made of their definitions: reference.py CRD_FILE… > deploy/api.md.

`deploy/render.sh` runs it. What a field means stands in one place, the description in deploy/helm/maniple/templates/crds, where
`kubectl explain` finds it too.
"""

import sys

import yaml

HEAD = """# Labels, annotations and custom resources

<!-- Made by deploy/reference.py of deploy/helm/maniple/templates/crds, at deploy/render.sh: change it there. -->

`kubectl explain podgroup.spec --api-version scheduling.maniple.dev/v1alpha1` tells the same. What the words mean: the glossary of
[ARCHITECTURE.md](../ARCHITECTURE.md). How resources work together: the [tour](README.md) and [tenants](tenants.md).

## What users write on other objects

| On | Label or annotation | Meaning |
|---|---|---|
| pod | `spec.schedulerName: maniple` | Maniple places the pod; the names are those of `schedulerNames`. |
| pod | label `scheduling.maniple.dev/pod-group` | The PodGroup of its namespace whose member the pod is; without it the pod is a gang of its own. |
| pod | label `scheduling.maniple.dev/sub-group` | The part of the PodGroup, by its name in `spec.subGroups`. |
| pod without a PodGroup, or its owner | label `scheduling.maniple.dev/queue` | The Queue to be charged. |
| pod | index labels of Jobs, StatefulSets, Kubeflow, JobSet, LeaderWorkerSet, Volcano, Ray, Kueue's pod groups | The rank, of which slices are made. |
| node | annotation `scheduling.maniple.dev/mig-reconfigure: "never"` | Maniple never divides its GPUs anew. |
| pod | annotation `scheduling.maniple.dev/require-nvlink: "true"` | Only nodes whose GPUs are linked by NVLink. |
| pod, or its owner | annotation `scheduling.maniple.dev/min-member` | The quorum of a gang that another controller declares; 0 or 1: no gang. |
| namespace | label `scheduling.maniple.dev/default-queue` | The Queue of gangs that name none. |
| PodGroup, pod without one | annotation `scheduling.maniple.dev/hold: "true"` | Nothing of the gang starts; its running pods go on. `maniple hold` writes it. |

In quotas the resource `scheduling.maniple.dev/gpu-milli` counts GPUs in thousandths, slices by MIG included.

## Reasons

`status.reason` of a PodGroup, and the reason of the condition `PodScheduled` of a pod that waits. There `Unschedulable` stands for
NoFit, TopologyNoFit and NeverFits: autoscalers know that word. While one is asked for the nodes of the whole gang
(`autoscaling.provisioningRequests`), `WaitingForNodes` stands for NoFit and NeverFits. `status.message` says the same in one sentence, with numbers.
Ten seconds later at the earliest it also says which single setting would let the gang start, if one would: a node let in again, quota, a wider level.

| Reason | Meaning | What to look at |
|---|---|---|
| `WaitingForMembers` | Fewer pods exist than the quorum needs. | The controller that makes them, or the PodGroup that the pods name. |
| `SchedulingGated` | Members have scheduling gates, or the gang is on hold. | Whoever takes the gates away; `maniple release`. |
| `InvalidSpec` | The PodGroup, or what declares the gang, cannot be read. | The field that the message names. |
| `QueueNotFound` | The Queue does not exist, or none is named where one is needed. | `kubectl get queues.scheduling.maniple.dev` |
| `QueueInactive` | The Queue is broken, or the Cohorts above it form a cycle. | The condition `Active` of the Queue. |
| `QueueStopped` | `spec.stopPolicy` of the Queue holds new gangs back. | The platform team. |
| `NamespaceNotAllowed` | `spec.namespaceSelector` of the Queue leaves the namespace out. | The labels of the namespace. |
| `QuotaExceeded` | What is left of the quota is too little now. | `maniple queues --why` |
| `ExceedsMaxQuota` | Not even the whole quota, all borrowing included, would be enough. | A smaller gang, or more quota. |
| `NoFit` | Nodes have too little room now. | `maniple explain`, `maniple capacity` |
| `TopologyNoFit` | No single domain of the level that is required has room now. | `maniple explain`; `preferred` instead of `required`. |
| `NeverFits` | The gang would not fit even if nothing ran. | Requests, selectors, tolerations, the topology that is required. |
| `SearchLimitReached` | The search gave up; it proves nothing, and is tried again. | `maniple explain` |
| `VolumesNotReady` | Claims of the members wait for volumes or provisioners. | `kubectl get pvc` |
| `WaitingForPreemption` | Others are leaving for it. | Pods that take long to end. |
| `HeldByReservation` | The room it would need is held for a gang that starts later, or its StrictFIFO queue waits for the first. | `maniple gangs --start` |
| `BackingOff` | Its binding was undone, and is tried again a little later. | The message, which says why. |
| `Binding` | Members are being bound. | |
| `Bound` | The quorum is bound. | |
| `QuorumLost` | Members were lost after the start, and the quorum is missing. | The controller that replaces them; `spec.quorumLoss`. |
| `Preempted` | The gang had to leave for another, and waits for its pods to be made again. | `status.preemptedBy` |

Conditions of a PodGroup bear these reasons, too: `MembersReady` (as many pods exist as the quorum needs), `QuotaReserved` (its quota is charged),
`Scheduled` (the quorum is bound), `Disrupted` (it has lost its quorum, or had to leave).

## Events

| Reason | About | Meaning |
|---|---|---|
| `Bound` | PodGroup, pod without one | The quorum is bound, to so many nodes. |
| `Scheduled` | pod | It was assigned to a node, as kube-scheduler says it. |
| `Undone` | PodGroup | Not all of the quorum, or of its next stage, could be bound; what was bound was deleted. |
| `QuorumLost` | PodGroup | Members were lost, and the quorum is missing. |
| `Evicted` | PodGroup | The quorum was not restored in time; the rest was deleted. |
| `Preempting` | PodGroup, pod without one | Others are evicted to make room for it. |
| `Preempted` | PodGroup, pod without one | It is evicted, and for whom. |
| `PodGroupNotFound` | pod | It names a PodGroup that does not exist, and waits for it. |
| `MarksPassedOver` | PodGroup | Marks on its pods, or its owner, say something else; they are passed over. |
| `PodGroupRefused` | what declares the gang, or a pod | The API server takes no PodGroup that stands for it, and why. The gang starts all the same. |
| `PriorityUnclear` | PodGroup | Its PriorityClass does not exist, or its pods differ in priority without one; the highest among them counts. |
| `MigConfigProposed`, `MigConfigChanged`, `MigConfigOverdue` | node | Its GPUs would be divided anew, are to be, or were not in time. |
| `InvalidSpec`, `QueueNotFound`, `QueueInactive`, `QueueStopped`, `NamespaceNotAllowed`, `ExceedsMaxQuota`, `NeverFits` | PodGroup, pod without one | The gang cannot start before somebody changes something. |
"""


def type_of(schema):
    if schema.get("x-kubernetes-int-or-string"):
        return "quantity" if "pattern" in schema else "integer or string"
    if schema.get("type") == "array":
        return f"list of {type_of(schema['items'])}s"
    if schema.get("type") == "object":
        return "map of strings" if "additionalProperties" in schema else "map"
    return {"date-time": "time"}.get(schema.get("format"), schema.get("type", "any"))


def bounds_of(schema, required):
    parts = ["required"] if required else []
    if "enum" in schema:
        parts.append(", ".join(f"`{value}`" if value != "" else '`""`' for value in schema["enum"]))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        parts.append(f"{low} to {high}")
    elif low is not None:
        parts.append(f"at least {low}")
    elif high is not None:
        parts.append(f"at most {high}")
    if "maxItems" in schema:
        parts.append(f"at most {schema['maxItems']} entries")
    return "; ".join(parts)


def default_of(schema):
    if "default" not in schema or schema["default"] in ({}, []):
        return ""
    value = schema["default"]
    return '`""`' if value == "" else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def rows(schema, path):
    """(path, schema, whether it is required) of each field below, in the order of the definition."""
    if "items" in schema:
        yield from rows(schema["items"], path + "[]")
    for name, field in schema.get("properties", {}).items():
        at = f"{path}.{name}".lstrip(".")
        yield at, field, name in schema.get("required", [])
        yield from rows(field, at)


def rules(schema, path):
    for rule in schema.get("x-kubernetes-validations", []):
        yield (path + rule.get("fieldPath", "")).lstrip("."), rule["message"]
    if "items" in schema:
        yield from rules(schema["items"], path + "[]")
    for name, field in schema.get("properties", {}).items():
        yield from rules(field, f"{path}.{name}")


def table(schema, title):
    print(f"\n### {title}\n")
    print("| Field | Type | Default | Bounds | Meaning |\n|---|---|---|---|---|")
    for path, field, required in rows(schema, ""):
        meaning = " ".join(field.get("description", "").split())
        cells = (f"`{path}`", type_of(field), default_of(field), bounds_of(field, required), meaning.replace("|", "\\|"))
        print("| " + " | ".join(cells) + " |")


def section(crd):
    spec, version = crd["spec"], crd["spec"]["versions"][0]
    names, schema = spec["names"], version["schema"]["openAPIV3Schema"]
    short = names.get("shortNames", [])
    print(f"\n## {names['kind']}\n")
    print(f"`apiVersion: {spec['group']}/{version['name']}`, {'in a namespace' if spec['scope'] == 'Namespaced' else 'cluster-wide'}"
          + (f", short `{short[0]}`" if short else "") + f". {' '.join(schema['description'].split())}")
    for part in ("spec", "status"):
        if schema["properties"].get(part, {}).get("properties"):
            table(schema["properties"][part], part)
    told = list(rules(schema, ""))
    if told:
        print("\nBeyond types and bounds, the API server holds to these rules:\n")
        for path, message in told:
            print(f"- `{path}`: {message}.")


def main():
    print(HEAD, end="")
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as text:
            for crd in yaml.safe_load_all(text):
                section(crd)


if __name__ == "__main__":
    main()
