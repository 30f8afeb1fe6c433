"""Plays the requests of requests/*.yaml to one server and writes down what it answered.

A request is a mapping:
  id:      its name in the transcript, unique within the file
  send:    METHOD path[?query]
  body:    an object (sent as JSON) or a text (sent as it is)
  as:      content type: json (default), json-patch, merge, strategic, apply, or any other in full
  accept:  json (default), table, or any other in full
  save:    {variable: path}: remembers a part of the reply; ${variable} stands for it in later requests
  compare: [path, …]: only these parts of the body are compared, for replies that describe the whole server
  watch:   {events: N}: reads N events of the stream that the request opens
  until:   a status code, or {path: value}: sent again, for a few seconds, until the answer is so (for what servers do in the
           background)
"""

import json
import re
import time
from pathlib import Path

import yaml

from differential import transcript

CONTENT_TYPES = {
    "json": "application/json",
    "json-patch": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
}
WATCH_SECONDS = 5
BACKGROUND_SECONDS = 8
VARIABLE = re.compile(r"\$\{(\w+)\}")


def load(folder):
    """{topic: [request, …]} in order of the file names; a name used twice is refused."""
    topics = {}
    for file in sorted(Path(folder).glob("*.yaml")):
        document = yaml.safe_load(file.read_text())
        requests = document["requests"]
        names = [request["id"] for request in requests]
        doubled = {name for name in names if names.count(name) > 1}
        if doubled:
            raise ValueError(f"{file}: id used twice: {', '.join(sorted(doubled))}")
        topics[file.stem] = requests
    return topics


def play(topics, api):
    """{topic/id: answer} of one server."""
    answers = {}
    for topic, requests in topics.items():
        variables = {}
        for request in requests:
            answers[f"{topic}/{request['id']}"] = _answer(request, api, variables)
    return answers


def _answer(request, api, variables):
    method, path = _substitute(request["send"], variables).split(" ", 1)
    accept = CONTENT_TYPES.get(request.get("accept", "json"), request.get("accept"))
    if "watch" in request:
        reply, events = api.watch(path, request["watch"]["events"], WATCH_SECONDS, accept)
    else:
        body = _body(request.get("body"), variables)
        content_type = CONTENT_TYPES.get(request.get("as", "json"), request.get("as"))
        reply, events = _send(request, api, (method, path, body, content_type, accept)), None
    for variable, place in request.get("save", {}).items():
        variables[variable] = transcript.pick(reply.body, place) or ""
    answer = {"code": reply.status, "contentType": reply.headers.get("content-type", "").split(";")[0]}
    if events is not None:
        answer["events"] = transcript.normalise(events)
    if reply.body is not None:
        answer["body"] = _comparable(reply.body, request.get("compare"))
    return answer


def _send(request, api, arguments):
    until = time.monotonic() + BACKGROUND_SECONDS
    while True:
        reply = api.request(*arguments)
        if _as_awaited(reply, request.get("until")) or time.monotonic() > until:
            return reply
        time.sleep(0.05)


def _as_awaited(reply, wanted):
    if isinstance(wanted, dict):
        return all(transcript.pick(reply.body, place) == value for place, value in wanted.items())
    return wanted is None or reply.status == wanted


def _comparable(body, places):
    if places is None:
        return transcript.normalise(body)
    return {place: transcript.normalise(transcript.pick(body, place)) for place in places}


def _body(body, variables):
    if body is None:
        return None
    return _substitute(body if isinstance(body, str) else json.dumps(body), variables)


def _substitute(text, variables):
    return VARIABLE.sub(lambda found: str(variables.get(found[1], found[0])), text)
