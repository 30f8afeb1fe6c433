#!/usr/bin/env python3
"""Asks a real kube-apiserver that has deploy/crds whether it takes good/ and refuses bad/ at the same fields as we do.

    check.py KUBECONFIG        # with client certificates; nothing is stored
"""
import glob, http.client, json, os, re, ssl, sys, urllib.parse
import yaml

here = os.path.dirname(os.path.abspath(__file__))
config = yaml.safe_load(open(sys.argv[1]))
cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
url = urllib.parse.urlsplit(cluster["server"])
context = ssl.create_default_context(cafile=cluster["certificate-authority"])
context.load_cert_chain(user["client-certificate"], user["client-key"])
PATHS = {"PodGroup": "namespaces/default/podgroups", "Queue": "queues", "Cohort": "cohorts", "ResourceFlavor": "resourceflavors", "Topology": "topologies"}
BLOCKED = "some validation rules were not checked"


def fields(manifest):
    connection = http.client.HTTPSConnection(url.hostname, url.port, context=context)
    path = f"/apis/scheduling.maniple.dev/v1alpha1/{PATHS[manifest['kind']]}?dryRun=All&fieldValidation=Strict"
    connection.request("POST", path, json.dumps(manifest), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    body = json.loads(reply.read())
    if reply.status == 201:
        return []
    if reply.status == 400:
        return ["unknown " + f for f in re.findall(r'unknown field "([^"]*)"', body["message"])]
    return [c["field"] for c in body["details"]["causes"] if BLOCKED not in c["message"]]


failed = total = 0
for file in sorted(glob.glob(os.path.join(here, "*", "*.yaml"))):
    text = open(file).read()
    expected = re.findall(r"^# refused: (.*)$", text, re.M)
    found = fields(yaml.safe_load(text))
    total += 1
    if sorted(found) != sorted(expected):
        failed += 1
        print(f"{os.path.relpath(file, here)}: expected {sorted(expected)}, the server says {sorted(found)}")
print(f"{total - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
