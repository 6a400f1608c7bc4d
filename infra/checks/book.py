"""The book's bucket, the queue that it feeds, and the schedules."""

import json

from checks.stack import NEEDED, VARIANT, check, every, unless


@check({
    "Book.PublicAccessBlockConfiguration.BlockPublicPolicy": False, "Book.OwnershipControls": None, "Book.BucketEncryption": None,
    "Book.VersioningConfiguration.Status": "Suspended", "Book.LifecycleConfiguration": None, "Book.DeletionPolicy": "Delete",
    "Book.NotificationConfiguration.QueueConfigurations.1": None, "Book.DependsOn": None,
    "Book.NotificationConfiguration.QueueConfigurations.0.Filter.S3Key.Rules.0.Value": {"Ref": "BookPrefix"},
})  # fmt: skip
def bucket(stack):
    """Private, versioned, encrypted, kept; its events go to the queue."""
    book = stack.properties("Book")
    access = book.get("PublicAccessBlockConfiguration", {})
    for name in ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"):
        yield from unless(access.get(name) is True, f"{name} is not set")
    owner = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    yield from unless(book.get("OwnershipControls") == owner, "it takes ACLs")
    yield from unless(book.get("VersioningConfiguration") == {"Status": "Enabled"}, "it is not versioned")
    yield from unless(book.get("BucketEncryption"), "it is not encrypted")
    former = book.get("LifecycleConfiguration", {}).get("Rules", [{}])[0].get("NoncurrentVersionExpiration")
    yield from unless(former, "former versions stay forever")
    yield from unless(stack.resources["Book"].get("DeletionPolicy", "").startswith("Retain"), "it goes with the stack")
    yield from unless("QueuePolicy" in stack.needs("Book"), "it does not wait for the queue's policy")
    events = {it["Event"]: it["Filter"]["S3Key"]["Rules"] for it in book["NotificationConfiguration"]["QueueConfigurations"]}
    below = [{"Name": "prefix", "Value": {"Fn::Sub": "${BookPrefix}/"}}]
    for event in ("s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:LifecycleExpiration:*"):
        yield from unless(events.get(event) == below, f"{event} below the prefix does not come to the queue")


@check({
    "BookPolicy": None, "QueuePolicy.PolicyDocument.Statement.1": None, "AlarmsPolicy.PolicyDocument.Statement.1.Condition": None,
})  # fmt: skip
def tls(stack):
    """The bucket, the queues and the topic refuse what comes without TLS."""
    denied = set()
    for _, statement in stack.statements():
        plain = statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
        if statement["Effect"] == "Deny" and statement.get("Principal") == "*" and plain:
            denied |= stack.names(statement["Resource"])
    yield from (f"{name} takes requests without TLS" for name in ("Book", "Queue", "DeadLetters", "Alarms", "UrgentAlarms") if name not in denied)


@check({
    "Queue.VisibilityTimeout": 1802, "Ingest.Timeout": 60, "Queue.RedrivePolicy": None, "DeadLetters.MessageRetentionPeriod": None,
    "DeadLetters.SqsManagedSseEnabled": None, "Ingest.Events.Queue.FunctionResponseTypes": None,
    "Ingest.Events.Queue.ScalingConfig": None, "Ingest.RecursiveLoop": None,
    "IngestRole.Policies.0.PolicyDocument.Statement.2.Action": ["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"],
})  # fmt: skip
def queue(stack):
    """Six times the function's timeout and the batching window; failed messages alone come again, five times, and are kept."""
    for parameters in (NEEDED, VARIANT):
        visibility = stack.properties("Queue", parameters).get("VisibilityTimeout")
        timeout = stack.properties("Ingest", parameters)["Timeout"]
        window = stack.properties("IngestQueue")["MaximumBatchingWindowInSeconds"]
        enough = visibility == 6 * timeout + window
        yield from unless(enough, f"messages are invisible for {visibility} s, the function runs for {timeout} and waits for {window}")
    redrive = stack.properties("Queue").get("RedrivePolicy", {})
    given_up = redrive.get("maxReceiveCount") == 5 and stack.names(redrive) == {"DeadLetters"}
    yield from unless(given_up, "messages are not given up after five times")
    kept = stack.properties("DeadLetters").get("MessageRetentionPeriod") == 14 * 24 * 3600
    yield from unless(kept, "dead letters are not kept for 14 days")
    for name in ("Queue", "DeadLetters"):
        yield from unless(stack.properties(name).get("SqsManagedSseEnabled") is True, f"{name} is not encrypted")
    source, concurrency = stack.properties("IngestQueue"), stack.template["Parameters"]["IngestConcurrency"]
    reports = source.get("FunctionResponseTypes") == ["ReportBatchItemFailures"]
    yield from unless(reports, "failed messages would be lost, or done ones come again")
    yield from unless(stack.names(source["FunctionName"]) == {"IngestAliaslive"}, "it does not feed the alias")
    bounded = source.get("ScalingConfig") == {"MaximumConcurrency": concurrency["Default"]} and concurrency["MinValue"] == 2
    yield from unless(bounded, "the concurrency is not a parameter, or may be less than Lambda takes")
    yield from unless(stack.properties("Ingest").get("RecursiveLoop") == "Allow", "Lambda would stop a reindex")
    granted = [statement for _, statement in stack.statements("IngestRole") if "Queue" in stack.names(statement["Resource"])]
    soon = any("sqs:ChangeMessageVisibility" in every(statement["Action"]) for statement in granted)
    yield from unless(soon, "failed messages come again only after the visibility timeout")


@check({
    "Ingest.Events.Sweep": None, "Ingest.Events.Reconcile.DeadLetterConfig": None, "Ingest.Events.Reconcile.OmitName": None,
    "Ingest.Events.Sweep.RetryPolicy": None, "Ingest.DeadLetterQueue": None, "HealthCheck.Target.Arn": {"Fn::GetAtt": ["Health", "Arn"]},
    "HealthCheck.Condition": None, "HealthCheck.Name": "check",
})  # fmt: skip
def schedules(stack):
    """The commands of the ingest function, at an alias, tried again, and kept when they failed; and the check of the components, unless it is off."""
    found = stack.of_type("Scheduler::Schedule")
    targets = {json.loads(it["Properties"]["Target"]["Input"])["command"]: it["Properties"]["Target"] for it in found.values()}
    for command in ("reconcile", "sweep"):
        target = targets.get(command, {})
        kept = target.get("RetryPolicy") and stack.names(target.get("DeadLetterConfig")) == {"DeadLetters"}
        yield from unless(kept, f"a failed {command} is lost")
        yield from unless(target.get("Arn") == {"Ref": "IngestAliaslive"}, f"{command} is not sent to the alias")
    checked = targets.get("check", {}).get("Arn") == {"Ref": "HealthAliaslive"}
    yield from unless(checked, "the health function's alias checks nothing")
    off = {stack.resources[name].get("Condition") for name in ("HealthCheck", "HealthCheckRole")} == {"ChecksHealth"}
    off = off and [stack.holds({"Condition": "ChecksHealth"}, parameters) for parameters in (NEEDED, VARIANT)] == [True, False]
    yield from unless(off, "HealthCheckMinutes=0 does not switch the check off")
    kept = stack.names(stack.properties("Ingest").get("DeadLetterConfig")) == {"DeadLetters"}
    yield from unless(kept, "a failed asynchronous invocation is lost")
    yield from (f"{name} has a fixed name: no second stack could be made" for name, it in found.items() if "Name" in it["Properties"])
