"""Asks new versions of the functions query, search and health for answers, before readers do.

CloudFormation invokes it as the resource `Tried` of template.yaml, once the versions are published and before their aliases move. A version
that does not start, breaks off, or answers with a 5xx other than 503 fails the deployment, with the reason in the stack's events. 503 passes:
it is the answer while a store is down or no index is live yet.
"""

import base64
import json
import time
import urllib.request

PHYSICAL_ID = "bookrag-tried"
# CloudFormation limits responses to 4 KiB.
MAX_REASON_CHARACTERS = 1_500
# Above the longest timeout of the three functions.
READ_TIMEOUT_SECONDS = 70
# A new policy or version takes a while to be visible everywhere.
PATIENCE_SECONDS = 60
RETRY_SECONDS = 5
TRANSIENT = {"AccessDeniedException", "ResourceConflictException", "TooManyRequestsException", "ServiceException"}

HOST, STAGE = "deployment.invalid", "live"
# By the property of the resource that names the version.
REQUESTS = {
    "Health": ("GET", "/api/v1/health", None),
    "Search": ("POST", "/api/v1/search", {"query": "What is this book about?"}),
    "Query": ("POST", "/api/v1/chat", {"query": "What is this book about?"}),
}


def event(method, path, body):
    """A request as a REST API passes it on (payload 1.0)."""
    headers = {"Host": HOST, "Content-Type": "application/json", "Accept": "application/json"}
    return {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "accountId": "",
            "apiId": "",
            "domainName": HOST,
            "domainPrefix": "deployment",
            "extendedRequestId": "deployment",
            "httpMethod": method,
            # A documentation address (RFC 5737), counted by limits like any other client.
            "identity": {"sourceIp": "192.0.2.1", "userAgent": "bookrag deployment"},
            "path": f"/{STAGE}{path}",
            "protocol": "HTTP/1.1",
            "requestId": "deployment",
            "requestTime": "02/Jan/2026:03:04:05 +0000",
            "requestTimeEpoch": 1_767_323_045_678,
            "resourceId": "",
            "resourcePath": path,
            "stage": STAGE,
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def status(payload):
    """The HTTP status of an answer: of a JSON object, or of the one before eight NULs that begins a streamed answer. `None` if there is
    none: how Lambda hands out a streamed answer that was not asked for as a stream is not documented, so that fails nothing."""
    try:
        answer, _ = json.JSONDecoder().raw_decode(payload.split(b"\0" * 8, 1)[0].decode())
        return int(answer["statusCode"])
    except (ValueError, KeyError, TypeError):
        return None


def problem(client, name, version):
    """What is wrong with a version; `None` if it answers."""
    method, path, body = REQUESTS[name]
    request = json.dumps(event(method, path, body))
    answer = client.invoke(FunctionName=version, Payload=request, LogType="Tail")
    payload = answer["Payload"].read()
    asked = f"the new version of {name.lower()}, asked for {method} {path},"
    if answer.get("FunctionError"):
        log = base64.b64decode(answer.get("LogResult", "")).decode(errors="replace")
        return f"{asked} failed: {payload.decode(errors='replace')[:300]}; the end of its log: {log[-900:]}"
    code = status(payload)
    print(json.dumps({"function": name, "path": path, "status": code}))
    if code is not None and code >= 500 and code != 503:
        return f"{asked} answered {code}: {payload.decode(errors='replace')[-600:]}"
    return None


def patiently(ask, transient, sleep=time.sleep, now=time.monotonic):
    """Asks again while AWS itself refuses."""
    deadline = now() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except transient as error:
            code = error.response["Error"]["Code"]
            if code not in TRANSIENT or now() >= deadline:
                raise
            sleep(RETRY_SECONDS)


def try_all(client, transient, properties):
    """Raises `ValueError` with the first version that fails."""
    for name in REQUESTS:
        found = patiently(lambda name=name: problem(client, name, properties[name]), transient)
        if found:
            raise ValueError(found)


def answer(request, failure):
    """What CloudFormation wants to know."""
    told = {
        "Status": "FAILED" if failure else "SUCCESS",
        "PhysicalResourceId": request.get("PhysicalResourceId") or PHYSICAL_ID,
        "StackId": request["StackId"],
        "RequestId": request["RequestId"],
        "LogicalResourceId": request["LogicalResourceId"],
    }
    if failure:
        told["Reason"] = failure[:MAX_REASON_CHARACTERS]
    return told


def handle(request, _context):
    failure = None
    # Deleting the resource deletes nothing else.
    if request["RequestType"] != "Delete":
        # Part of Lambda's Python; tests do not need it.
        import boto3
        from botocore.config import Config
        from botocore.exceptions import ClientError

        client = boto3.client("lambda", config=Config(read_timeout=READ_TIMEOUT_SECONDS, retries={"total_max_attempts": 1}))
        try:
            try_all(client, ClientError, request["ResourceProperties"])
        # Any error must be reported: without a response, CloudFormation waits until ServiceTimeout.
        except Exception as error:
            failure = str(error) or type(error).__name__
    told = answer(request, failure)
    print(json.dumps(told))
    put = urllib.request.Request(request["ResponseURL"], json.dumps(told).encode(), {"Content-Type": ""}, method="PUT")
    urllib.request.urlopen(put, timeout=20).close()
