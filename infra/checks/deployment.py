"""What a deployment does, and in which order."""

import re

from checks.stack import FUNCTIONS, ROOT, check, unless

READERS = ["Query", "Search", "Health"]
# The timeout of a migration (`catalog/postgres.rs`).
MIGRATION_SECONDS = 300


@check({
    "Settings.Content.Fn::Sub": "${SecretRevision} ${Generator}", "Globals.Function.Environment.Variables.SETTINGS": {"Ref": "Settings"},
    "Search.VersionDescription": None,
})  # fmt: skip
def settings(stack):
    """A changed parameter makes a new version of every function: all that they read stands in Settings."""
    written = stack.names(stack.resources["Settings"]["Properties"]["Content"])
    yield from unless("SecretRevision" in written, "a changed secret is not read again")
    for name in FUNCTIONS:
        properties = stack.resources[name]["Properties"]
        read = stack.names(properties) & set(stack.template["Parameters"])
        yield from unless(read <= written, f"{name} reads {sorted(read - written)}, which Settings has not")
        variable = properties["Environment"]["Variables"].get("SETTINGS")
        yield from unless(variable == {"Fn::Sub": "${Settings}-${SecretRevision}"}, f"{name} does not change with Settings, or not again")
        described = stack.names(stack.properties(stack.version(name)).get("Description"))
        yield from unless("Settings" in described, f"{name} gets no new version with Settings")


@check({
    "Search.DependsOn": None, "IngestCrashes.DependsOn": None, "Ingest.DependsOn": "Prepared", "AccessLog.Metadata": None,
    "Prepared.ServiceToken": {"Ref": "Ingest.Version"}, "Prepared.Version": "1", "Prepared.ServiceTimeout": 120, "LogAccount.DependsOn": None,
    "QueuePolicy.PolicyDocument.Statement.0.Condition": {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["Book", "Arn"]}}},
})  # fmt: skip
def order(stack):
    """No circle, and no new code before the tables are there."""
    needs = {name: stack.needs(name) for name in stack.resources}
    prepared = stack.properties("Prepared")
    token = {"Fn::GetAtt": ["Ingest", "Arn"]}
    yield from unless(prepared["ServiceToken"] == token, "Prepared's ServiceToken would change, which CloudFormation refuses")
    yield from unless(prepared.get("Version") == {"Ref": stack.version("Ingest")}, "Prepared does not run with each version")
    longest = MIGRATION_SECONDS < prepared.get("ServiceTimeout", 0)
    yield from unless(longest, "Prepared is given up while a migration goes on")
    for name in ("Query", "Search", "Health", "IngestAliaslive"):
        yield from unless("Prepared" in needs[name], f"{name} does not wait for the tables")
    yield from unless("LogAccount" in needs["ApiliveStage"], "the stage does not wait for the account's role")
    yield from unless("Api" in needs["LogAccount"], "an account without an API takes no role for logs")


@check({
    "QueryCrashes.DependsOn": None, "HealthCrashes.DependsOn": "Prepared", "Tried.Search": {"Ref": "Search"}, "Tried.ServiceTimeout": None,
    "TryVersions.Timeout": 60, "TryVersionsRole.Policies.0.PolicyDocument.Statement.0.Resource.1": None,
    "TryVersions.Environment": {"Variables": {"DATABASE_URL": "x"}}, "Tried.ServiceToken": {"Fn::GetAtt": ["Ingest", "Arn"]},
})  # fmt: skip
def trial(stack):
    """Each new version for readers answers a request before its alias moves to it."""
    tried, function = stack.properties("Tried"), stack.properties("TryVersions")
    yield from unless(tried["ServiceToken"] == {"Fn::GetAtt": ["TryVersions", "Arn"]}, "Tried asks another function")
    # The module's requests run in sequence, each with its own patience.
    text = (ROOT / "infra/try_versions/try_versions.py").read_text()
    seconds = {name: int(value) for name, value in re.findall(r"^(\w+_SECONDS) = (\d+)$", text, re.M)}
    reader_timeouts = [stack.properties(name)["Timeout"] for name in READERS]
    yield from unless(max(reader_timeouts) < seconds["READ_TIMEOUT_SECONDS"], "an answer is given up while it is made")
    needed = sum(reader_timeouts) + len(READERS) * seconds["PATIENCE_SECONDS"]
    yield from unless(needed < function["Timeout"] < tried.get("ServiceTimeout", 0), f"the trial may take {needed} s")
    yield from unless("Environment" not in function, "the trial has an environment, which may hold secrets")
    (invoke, *_) = [it for _, it in stack.statements("TryVersionsRole") if it["Action"] == "lambda:InvokeFunction"]
    for name in READERS:
        yield from unless(tried.get(name) == {"Ref": stack.version(name)}, f"the new version of {name} is not tried")
        yield from unless("Tried" in stack.needs(f"{name}Aliaslive"), f"{name}'s alias moves before its version was tried")
        yield from unless({"Fn::Sub": f"${{{name}.Arn}}:*"} in invoke["Resource"], f"the trial may not invoke {name}")


@check({
    "Query.UpdateReplacePolicy": None, "Search.UpdateReplacePolicy": "Delete", "Ingest.UpdateReplacePolicy": "Retain",
    "LogAccount.DeletionPolicy": "RetainExceptOnCreate", "LogAccountRole.UpdateReplacePolicy": None,
})  # fmt: skip
def kept(stack):
    """What others still use stays: a version that requests still reach, and the account's role for logs."""
    for name in FUNCTIONS:
        policies = {stack.resources[it].get("UpdateReplacePolicy") for it in (name, stack.version(name))}
        wanted = {"Retain"} if name in READERS else {None}
        yield from unless(policies == wanted, f"what replaces {name}'s version has the policy {policies}")
    # A replaced event source mapping or schedule would run beside the new one.
    for kind in ("Lambda::EventSourceMapping", "Scheduler::Schedule"):
        kept = [name for name, it in stack.of_type(kind).items() if it.get("UpdateReplacePolicy") == "Retain"]
        yield from (f"a replaced {name} would go on" for name in kept)
    for name in ("LogAccount", "LogAccountRole"):
        policies = {stack.resources[name].get(policy) for policy in ("DeletionPolicy", "UpdateReplacePolicy")}
        yield from unless(policies == {"Retain"}, f"{name} goes with a stack, and with it the log of others")
