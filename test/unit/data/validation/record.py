#!/usr/bin/env python3
"""Asks a real kube-apiserver what it says to each case of thing_cases.yaml and writes the answers into the file.

    record.py KUBECONFIG        # with client certificates, as the tests' control plane writes it

Replaces thing_crd.yaml on that server. Only for a throw-away server.
"""
import http.client, json, os, ssl, sys, time, urllib.parse
import yaml

here = os.path.dirname(os.path.abspath(__file__))
config = yaml.safe_load(open(sys.argv[1]))
cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
url = urllib.parse.urlsplit(cluster["server"])
context = ssl.create_default_context(cafile=cluster["certificate-authority"])
context.load_cert_chain(user["client-certificate"], user["client-key"])


def call(method, path, body=None):
    connection = http.client.HTTPSConnection(url.hostname, url.port, context=context)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    data = reply.read()
    return reply.status, json.loads(data) if data.startswith(b"{") else {"message": data.decode()}


def put_crd():
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    crd = yaml.safe_load(open(os.path.join(here, "thing_crd.yaml")))
    name = crd["metadata"]["name"]
    call("DELETE", f"{crds}/{name}")
    while call("GET", f"{crds}/{name}")[0] != 404:
        time.sleep(0.2)
    code, reply = call("POST", crds, crd)
    if code != 201:
        sys.exit(reply["message"])
    while call("POST", THINGS + "?dryRun=All", thing({"need": "a"}))[0] != 201:
        time.sleep(0.2)


THINGS = "/apis/example.com/v1/things"


def thing(spec, version=None):
    meta = {"name": "x"} | ({"resourceVersion": version} if version else {})
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta, "spec": spec}


def ask(case):
    options = "?dryRun=All&fieldValidation=Strict"
    if "old" not in case:
        return call("POST", THINGS + options, thing(case["spec"]))
    call("DELETE", THINGS + "/x")
    code, old = call("POST", THINGS, thing(case["old"]))
    if code != 201:
        sys.exit(f"{case}: {old['message']}")
    return call("PUT", THINGS + "/x" + options, thing(case["spec"], old["metadata"]["resourceVersion"]))


def line(value):
    return json.dumps(value, ensure_ascii=False)


put_crd()
path = os.path.join(here, "thing_cases.yaml")
out = ["# What kube-apiserver %s says to each spec; written by record.py.\n" % call("GET", "/version")[1]["gitVersion"]]
for case in yaml.safe_load(open(path)):
    code, reply = ask(case)
    out.append("- ")
    if "old" in case:
        out.append(f"old: {line(case['old'])}\n  ")
    out.append(f"spec: {line(case['spec'])}\n")
    if code < 300:
        out.append(f"  stored: {line(reply['spec'])}\n")
    elif code == 422:
        out.append("  causes:\n" + "".join(f"  - {line([c['field'], c['reason'], c['message']])}\n" for c in reply["details"]["causes"]))
    else:
        out.append(f"  refused: {line(reply['message'])}\n")
open(path, "w").write("".join(out))
