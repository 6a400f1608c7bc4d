#!/usr/bin/env python3
"""Translates template.yaml to CloudFormation, offline, and holds it to what its comments promise.

usage: check_template.py [--self-test] [OUT.json]

Prints what is broken and ends with 1. OUT.json gets the translated template. With --self-test each check must also catch what a list of
breakages does to the template: a check that cannot fail proves nothing.
"""

import copy
import json
import logging
import os
import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = ["Query", "Search", "Health", "Ingest"]
# What an operator must say, and one variant that moves every switch.
NEEDED = {"QdrantUrl": "https://qdrant.example.org:6334", "Secret": "bookrag", "SiteOrigins": "https://book.example.org"}
VARIANT = NEEDED | {"Embedder": "minilm", "Reranker": "cohere", "Generator": "openai", "Tracing": "PassThrough"}
# Environment that is not the configuration's: lambda_http's, and what ties a version to Settings.
OTHER_VARIABLES = {"AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "SETTINGS"}
SECRET_VARIABLE = re.compile(r"(KEY|SALT|SECRET|PASSWORD|TOKEN)$|^DATABASE_URL")
# API Gateway's for the whole account, and CodeDeploy's that SAM adds.
MANAGED_POLICIES = {"AmazonAPIGatewayPushToCloudWatchLogs", "AWSCodeDeployRoleForLambda"}
CHECKS, BREAKAGES = {}, []
ATTRIBUTES = {"DependsOn", "DeletionPolicy", "Metadata"}


class Stack:
    """The template as written (`source`) and as CloudFormation gets it (`template`, `resources`)."""

    def __init__(self, source):
        self.source = source
        packaged = copy.deepcopy(source)
        for resource in packaged["Resources"].values():
            # As `sam package` does: what is local is uploaded.
            properties = resource.get("Properties", {})
            if "CodeUri" in properties:
                properties["CodeUri"] = "s3://packages/" + properties["CodeUri"]
            if "TemplateURL" in properties:
                properties["TemplateURL"] = "https://s3.amazonaws.com/packages/" + Path(properties["TemplateURL"]).name
        # The translator would ask AWS for the names of its policies; the template names none.
        no_policies = SimpleNamespace(load=dict)
        self.template = transform(packaged, dict(NEEDED), no_policies)
        self.resources = self.template["Resources"]

    def of_type(self, kind):
        return {name: it for name, it in self.resources.items() if it["Type"] == "AWS::" + kind}

    def properties(self, name, parameters=NEEDED):
        """A resource's, resolved; none if there is no such resource."""
        return self.resolve(self.resources.get(name, {}).get("Properties", {}), parameters)

    def resolve(self, it, parameters):
        """Parameters and conditions replaced by their values; references to resources stay."""
        if isinstance(it, list):
            return [value for value in (self.resolve(item, parameters) for item in it) if value != {"Ref": "AWS::NoValue"}]
        if not isinstance(it, dict):
            return it
        if list(it) == ["Ref"] and it["Ref"] in self.template["Parameters"]:
            return parameters.get(it["Ref"], self.template["Parameters"][it["Ref"]].get("Default"))
        if list(it) == ["Fn::If"]:
            condition, yes, no = it["Fn::If"]
            return self.resolve(yes if self.holds({"Condition": condition}, parameters) else no, parameters)
        values = {key: self.resolve(value, parameters) for key, value in it.items()}
        return {key: value for key, value in values.items() if value != {"Ref": "AWS::NoValue"}}

    def holds(self, it, parameters):
        """Whether a condition does."""
        ((function, arguments),) = it.items()
        match function:
            case "Condition":
                return self.holds(self.template["Conditions"][arguments], parameters)
            case "Fn::Equals":
                left, right = self.resolve(arguments, parameters)
                return left == right
            case "Fn::Not":
                return not self.holds(arguments[0], parameters)
            case "Fn::And":
                return all(self.holds(argument, parameters) for argument in arguments)
            case "Fn::Or":
                return any(self.holds(argument, parameters) for argument in arguments)

    def names(self, it):
        """Everything that it refers to: resources, parameters, and those of its conditions."""
        if isinstance(it, list):
            return set().union(*map(self.names, it))
        if not isinstance(it, dict):
            return set()
        found = set()
        for key, value in it.items():
            match key:
                case "Ref":
                    found.add(value)
                case "Fn::GetAtt":
                    found.add(value[0])
                case "Fn::Sub":
                    text = value if isinstance(value, str) else value[0]
                    found |= {name.split(".")[0] for name in re.findall(r"\$\{([\w.]+)\}", text)}
                case "Fn::If":
                    found |= self.names({"Condition": value[0]})
                case "Condition" if isinstance(value, str):
                    found |= self.names(self.template["Conditions"][value])
                case "DependsOn":
                    found |= set(every(value))
            found |= self.names(value)
        return found

    def needs(self, name, path=()):
        """Every resource that must be there before this one. Raises `ValueError` in a circle."""
        if name in path:
            raise ValueError("a circle: " + " -> ".join([*path[path.index(name) :], name]))
        direct = self.names(self.resources[name]) & set(self.resources)
        return direct.union(*(self.needs(other, (*path, name)) for other in direct))

    def version(self, function):
        """The name of a function's version."""
        versions = self.of_type("Lambda::Version").items()
        return next(name for name, it in versions if it["Properties"]["FunctionName"] == {"Ref": function})

    def statements(self, of=None):
        """The statements of policies, all or a resource's, each with the name of the resource that has it."""
        for name, resource in self.resources.items():
            properties = resource.get("Properties", {})
            documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
            documents += [properties[key] for key in ("PolicyDocument", "KeyPolicy") if key in properties]
            if of in (None, name):
                yield from ((name, statement) for document in documents for statement in document["Statement"])


def every(it):
    return it if isinstance(it, list) else [it]


def unless(holds, problem):
    return [] if holds else [problem]


def check(breakages):
    """A check yields what is broken. It must say so when one of the breakages is done to the template: what is at the path becomes another
    value, or goes with `None`. A path begins with a section or with a resource, whose properties follow its name."""

    def take(function):
        CHECKS[function.__name__] = function
        BREAKAGES.extend((function.__name__, path, value) for path, value in breakages.items())
        return function

    return take


@check({
    "Query.Events.Chat.ResponseTransferMode": "STREAM", "Query.Events.Conversation.ResponseTransferMode": None,
    "Query.Events.Chat.TimeoutInMillis": None, "Query.Events.Feedback": None, "Search.Timeout": 60,
    "Search.Events.Search.ResponseTransferMode": "RESPONSE_STREAM", "Search.Events.Search.Method": "GET",
})  # fmt: skip
def routes(stack):
    """The documented paths, streaming where the query function answers, for as long as it may run."""
    documented = set(json.loads((ROOT / "docs/openapi.json").read_text())["paths"]) - {"/health"}
    paths = stack.properties("Api")["Body"]["paths"]
    yield from (f"{path} is documented or in the API alone" for path in sorted(documented ^ set(paths)))
    for path, methods in paths.items():
        any_method = "x-amazon-apigateway-any-method"
        yield from unless(list(methods) == [any_method], f"{path} does not take every method: the router answers OPTIONS itself")
        for method in methods.values():
            integration = method["x-amazon-apigateway-integration"]
            uri = integration["uri"]["Fn::Sub"]
            function = re.search(r"\$\{(\w+)Aliaslive\}", uri)[1]
            streams = uri.endswith("/response-streaming-invocations") and integration.get("responseTransferMode") == "STREAM"
            yield from unless(streams == (function == "Query"), f"{path} {'streams' if streams else 'does not stream'}")
            waits_ms = integration.get("timeoutInMillis", 29_000)
            runs_ms = stack.properties(function)["Timeout"] * 1000
            yield from unless(runs_ms <= waits_ms, f"{path}: {function} may run for {runs_ms} ms, API Gateway waits for {waits_ms}")


@check({
    "Api.SecurityPolicy": "TLS_1_0", "Domain.SecurityPolicy": None, "Api.MethodSettings": None, "Api.TracingEnabled": True,
    "Api.EndpointConfiguration.Type": "EDGE", "Api.GatewayResponses.DEFAULT_5XX": None,
    "Api.GatewayResponses.DEFAULT_4XX.ResponseParameters": None,
    "Api.GatewayResponses.THROTTLED.ResponseTemplates.application/json": '{"message":"slow down"}',
    "Api.AccessLogSetting.Fn::If.1.Format": '{"address":"$context.identity.sourceIp"}',
})  # fmt: skip
def api(stack):
    """Regional, TLS 1.2 or newer, throttled, traced; what it answers and logs by itself."""
    rest, stage = stack.properties("Api"), stack.properties("ApiliveStage")
    yield from unless(rest["EndpointConfiguration"]["Types"] == ["REGIONAL"], "the API is not regional")
    for name in ("Api", "Domain"):
        policy = stack.properties(name).get("SecurityPolicy", "")
        yield from unless(re.match("SecurityPolicy_TLS1[23]", policy), f"{name} takes old TLS")
    throttle = stage.get("MethodSettings", [{}])[0]
    yield from unless(throttle.get("ThrottlingRateLimit") and throttle.get("ThrottlingBurstLimit"), "the stage has no throttle")
    traces = [stack.properties("ApiliveStage", parameters).get("TracingEnabled") for parameters in (NEEDED, VARIANT)]
    yield from unless(traces == [True, False], "the stage does not trace as Tracing says")
    logged = json.loads(stage["AccessLogSetting"]["Format"])
    forbidden = re.compile(r"\$context\.(identity|path\b|requestOverride|customDomain)|querystring", re.IGNORECASE)
    yield from (f"the access log has {value}" for value in logged.values() if forbidden.search(value))
    schemas = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]
    answers = rest["Body"].get("x-amazon-apigateway-gateway-responses", {})
    for name in ("DEFAULT_4XX", "DEFAULT_5XX", "THROTTLED", "MISSING_AUTHENTICATION_TOKEN"):
        answer = answers.get(name, {})
        origin = answer.get("responseParameters", {}).get("gatewayresponse.header.Access-Control-Allow-Origin")
        yield from unless(origin == "'*'", f"a site cannot read {name}")
        text = answer.get("responseTemplates", {}).get("application/json", "{}")
        # The one variable that stands for a quoted text.
        envelope = json.loads(text.replace("$context.error.messageString", '"Forbidden"'))
        lacks = {"success", "data", "error", "meta"} ^ set(envelope)
        lacks |= set(schemas["Meta"]["required"]) - set(envelope.get("meta", {}))
        lacks |= set(schemas["ErrorBody"]["required"]) - set(envelope.get("error", {}))
        yield from unless(not lacks, f"{name} is not the envelope: {sorted(lacks)}")


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
        if statement["Effect"] == "Deny" and statement["Principal"] == "*" and plain:
            denied |= stack.names(statement["Resource"])
    yield from (f"{name} takes requests without TLS" for name in ("Book", "Queue", "DeadLetters", "Alarms") if name not in denied)


@check({
    "Queue.VisibilityTimeout": 1800, "Ingest.Timeout": 60, "Queue.RedrivePolicy": None, "DeadLetters.MessageRetentionPeriod": None,
    "DeadLetters.SqsManagedSseEnabled": None, "Ingest.Events.Queue.FunctionResponseTypes": None,
    "Ingest.Events.Queue.ScalingConfig": None, "Ingest.RecursiveLoop": None,
})  # fmt: skip
def queue(stack):
    """Six times the function's timeout; failed messages alone come again, five times, and are kept."""
    for parameters in (NEEDED, VARIANT):
        visibility = stack.properties("Queue", parameters).get("VisibilityTimeout")
        timeout = stack.properties("Ingest", parameters)["Timeout"]
        yield from unless(visibility == 6 * timeout, f"messages are invisible for {visibility} s, the function runs for {timeout}")
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


@check({
    "Ingest.Events.Sweep": None, "Ingest.Events.Reconcile.DeadLetterConfig": None, "Ingest.Events.Reconcile.OmitName": None,
    "Ingest.Events.Sweep.RetryPolicy": None, "Ingest.DeadLetterQueue": None,
})  # fmt: skip
def schedules(stack):
    """The commands, at an alias, tried again, and kept when they failed."""
    found = stack.of_type("Scheduler::Schedule")
    targets = {json.loads(it["Properties"]["Target"]["Input"])["command"]: it["Properties"]["Target"] for it in found.values()}
    for command in ("reconcile", "sweep"):
        target = targets.get(command, {})
        kept = target.get("RetryPolicy") and stack.names(target.get("DeadLetterConfig")) == {"DeadLetters"}
        yield from unless(kept, f"a failed {command} is lost")
        yield from unless(target.get("Arn") == {"Ref": "IngestAliaslive"}, f"{command} is not sent to the alias")
    kept = stack.names(stack.properties("Ingest").get("DeadLetterConfig")) == {"DeadLetters"}
    yield from unless(kept, "a failed asynchronous invocation is lost")
    yield from (f"{name} has a fixed name: no second stack could be made" for name, it in found.items() if "Name" in it["Properties"])


@check({
    "Health.LoggingConfig": None, "Globals.Function.LoggingConfig": None, "IngestLogs.RetentionInDays": None,
    "Globals.Function.Tracing": None, "Globals.Function.DeploymentPreference.Enabled": False, "Search.DeploymentPreference": None,
    "Query.DeploymentPreference.Alarms.0": {"Ref": "SearchCrashes"}, "IngestCrashes.Dimensions.2": None,
})  # fmt: skip
def functions(stack):
    """Each with logs of its own that expire, an alias, and a deployment that its alarm takes back."""
    for name in FUNCTIONS:
        logs = stack.properties(name).get("LoggingConfig")
        yield from unless(logs == {"LogFormat": "JSON", "LogGroup": {"Ref": f"{name}Logs"}}, f"{name} does not write JSON to {name}Logs")
        yield from unless(stack.properties(f"{name}Logs").get("RetentionInDays"), f"{name}'s logs are kept forever")
        yield from unless(stack.properties(name).get("TracingConfig") == {"Mode": "Active"}, f"{name} is not traced")
        policy = stack.resources[f"{name}Aliaslive"].get("UpdatePolicy", {}).get("CodeDeployLambdaAliasUpdate", {})
        deployment = stack.properties(policy.get("DeploymentGroupName", {}).get("Ref"))
        yield from unless(deployment.get("AutoRollbackConfiguration", {}).get("Enabled"), f"{name} is deployed at once")
        watched = {}
        for alarm in deployment.get("AlarmConfiguration", {}).get("Alarms", []):
            watched |= {it["Name"]: it["Value"] for it in stack.properties(alarm["Name"]["Ref"])["Dimensions"]}
        version = {"Fn::GetAtt": [stack.version(name), "Version"]}
        new = {"FunctionName": {"Ref": name}, "Resource": {"Fn::Sub": f"${{{name}}}:live"}, "ExecutedVersion": version}
        yield from unless(watched == new, f"no alarm looks at {name}'s new version")


@check({
    "IngestRole.Policies.0.PolicyDocument.Statement.0.Action": "s3:*",
    "IngestRole.Policies.0.PolicyDocument.Statement.2.Resource": "*",
    "IngestRole.Policies.0.PolicyDocument.Statement.1.Condition": {"StringLike": {"s3:prefix": "book/*"}},
    "ReaderRole.Policies.0.PolicyDocument.Statement.0.Action.1": "s3:GetObject", "Health.Role": None,
    "DocsRole.AssumeRolePolicyDocument.Statement.0.Condition": {"StringLike": {"sub": "repo:a/b:*"}},
})  # fmt: skip
def permissions(stack):
    """Nothing may do everything, or do something to everything; X-Ray has no resources, and a key's policy is about the key."""
    for name, statement in stack.statements():
        if statement["Effect"] == "Deny" or stack.resources[name]["Type"] == "AWS::KMS::Key":
            continue
        actions = every(statement["Action"])
        yield from (f"{name} allows {action}" for action in actions if "*" in action)
        bounded = "*" not in every(statement["Resource"]) or all(action.startswith("xray:Put") for action in actions)
        yield from unless(bounded, f"{name} allows {actions} on everything")
    for name, role in stack.of_type("IAM::Role").items():
        arns = [arn if isinstance(arn, str) else arn["Fn::Sub"] for arn in role["Properties"].get("ManagedPolicyArns", [])]
        yield from (f"{name} has {arn}" for arn in arns if arn.rsplit("/", 1)[-1] not in MANAGED_POLICIES)
    for name in ("Query", "Search", "Health"):
        yield from unless(stack.properties(name)["Role"] == {"Fn::GetAtt": ["ReaderRole", "Arn"]}, f"{name} has a role of its own")
    allowed = {action for _, it in stack.statements("ReaderRole") for action in every(it["Action"])}
    observing = {"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords"}
    yield from unless(allowed == observing, f"ReaderRole allows {sorted(allowed)}")
    listing = [it for _, it in stack.statements("IngestRole") if "s3:ListBucket" in every(it["Action"])]
    yield from unless(len(listing) == 1 and "Condition" not in listing[0], "deleted pages may be answered with 403")
    trust = stack.properties("DocsRole")["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]
    subject = trust.get("StringEquals", {}).get("token.actions.githubusercontent.com:sub")
    branch = {"Fn::Sub": "repo:${DocsRepository}:ref:refs/heads/${DocsBranch}"}
    yield from unless(subject == branch, "other branches may take DocsRole")


@check({
    "Globals.Function.Environment.Variables.BOOKRAG_EMBEDER": "openai",
    "Globals.Function.Environment.Variables.BOOKRAG_SALT": {"Ref": "Secret"},
    "Globals.Function.Environment.Variables.OPENAI_API_KEY": "a key in the template",
    "Globals.Function.Environment.Variables.COHERE_API_KEY.Fn::If.0": "UsesOpenAi",
    "Globals.Function.Environment.Variables.BOOKRAG_MODELS": None,
    "Globals.Function.Environment.Variables.AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH": None,
})  # fmt: skip
def environment(stack):
    """Variables that the configuration knows, and secrets only as references to the secret."""
    text = (ROOT / "shared/src/config.rs").read_text()
    known = set(re.findall(r'"(BOOKRAG_\w+)"', re.search(r"const KNOWN.*?\];", text, re.DOTALL)[0]))
    known |= set(re.findall(r'(?:text|secret)\("([A-Z_]+)"\)', text)) | OTHER_VARIABLES
    for name in FUNCTIONS:
        written = stack.resources[name]["Properties"]["Environment"]["Variables"]
        yield from (f"{name}: {variable} is not known" for variable in sorted(set(written) - known))
        yield from unless("AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH" in written, f"{name}: the stage would stay in the path")
        for parameters in (NEEDED, VARIANT):
            variables = stack.resolve(written, parameters)
            for variable in filter(SECRET_VARIABLE.search, variables):
                reference = {"Fn::Sub": f"{{{{resolve:secretsmanager:${{Secret}}:SecretString:{variable}}}}}"}
                yield from unless(variables[variable] in ("", reference), f"{name}: {variable} is not a reference to the secret")
            choices = {variables.get(f"BOOKRAG_{it}") for it in ("EMBEDDER", "RERANKER", "GENERATOR")}
            for provider in ("openai", "cohere"):
                has_key = bool(variables.get(f"{provider.upper()}_API_KEY"))
                yield from unless(has_key == (provider in choices), f"{name}: {provider}'s key is missing, or not needed")
            is_local = bool(choices & {"bge-small", "minilm", "cross-encoder"})
            yield from unless(bool(variables.get("BOOKRAG_MODELS")) == is_local, f"{name} is not told where local models are")


@check({
    "Parameters.Generator.Description": None, "Parameters.SiteName.MaxLength": None, "Parameters.Secret.NoEcho": True,
    "Parameters.QdrantUrl.ConstraintDescription": None, "Parameters.DocsBranch.Default": "a branch",
    "Parameters.Unused": {"Type": "Number", "Description": "Nothing."},
})  # fmt: skip
def parameters(stack):
    """Described, constrained, grouped, used; no secret among them."""
    groups = stack.source["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]
    yield from unless(sorted(grouped) == sorted(stack.source["Parameters"]), "not each is in one group")
    # The translator puts the value of DeploymentStrategy in its place.
    used = stack.names({key: it for key, it in stack.template.items() if key not in ("Parameters", "Rules")}) | {"DeploymentStrategy"}
    for name, it in stack.source["Parameters"].items():
        yield from unless(it.get("Description"), f"{name} has no description")
        yield from unless(name in used and not it.get("NoEcho"), f"{name} is not used, or a secret")
        bounded = it["Type"] == "Number" or {"AllowedPattern", "AllowedValues", "MaxLength"} & set(it)
        yield from unless(bounded, f"{name} takes anything")
        if "AllowedPattern" in it:
            yield from unless(it.get("ConstraintDescription"), f"{name} does not say what it takes")
            value = it.get("Default", NEEDED.get(name))
            yield from unless(re.search(it["AllowedPattern"], value), f"{name} does not take {value}")


@check({
    "Settings.Content.Fn::Sub": "${SecretRevision} ${Generator}", "Globals.Function.Environment.Variables.SETTINGS": None,
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
        yield from unless(variable == {"Ref": "Settings"}, f"{name} does not change with Settings")
        described = stack.names(stack.properties(stack.version(name)).get("Description"))
        yield from unless("Settings" in described, f"{name} gets no new version with Settings")


@check({
    "Search.DependsOn": None, "IngestCrashes.DependsOn": None, "Ingest.DependsOn": "Prepared", "AccessLog.Metadata": None,
    "Prepared.ServiceToken": {"Ref": "Ingest.Version"}, "Prepared.Version": "1",
    "QueuePolicy.PolicyDocument.Statement.0.Condition": {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["Book", "Arn"]}}},
})  # fmt: skip
def order(stack):
    """No circle, and no new code before the tables are there."""
    needs = {name: stack.needs(name) for name in stack.resources}
    prepared = stack.properties("Prepared")
    token = {"Fn::GetAtt": ["Ingest", "Arn"]}
    yield from unless(prepared["ServiceToken"] == token, "Prepared's ServiceToken would change, which CloudFormation refuses")
    yield from unless(prepared.get("Version") == {"Ref": stack.version("Ingest")}, "Prepared does not run with each version")
    for name in ("Query", "Search", "Health", "IngestAliaslive"):
        yield from unless("Prepared" in needs[name], f"{name} does not wait for the tables")
    yield from unless("LogAccount" in needs["ApiliveStage"], "the stage does not wait for the account's role")


@check({
    "Firewall.Rules.0": None, "Firewall.Rules.1.Statement.ManagedRuleGroupStatement.RuleActionOverrides.0": None,
})  # fmt: skip
def firewall(stack):
    """Bodies of 64 KiB and questions about code pass."""
    statements = {it["Name"]: it["Statement"] for it in stack.properties("Firewall")["Rules"]}
    yield from unless("RateBasedStatement" in statements.get("rate", {}), "one address may ask without end")
    overrides = statements["common"]["ManagedRuleGroupStatement"].get("RuleActionOverrides", [])
    counted = {it["Name"] for it in overrides if it["ActionToUse"] == {"Count": {}}}
    for name in ("SizeRestrictions", "GenericLFI", "GenericRFI", "CrossSiteScripting", "EC2MetaDataSSRF"):
        yield from unless(f"{name}_BODY" in counted, f"{name}_BODY would block readers")


@check({
    "Monitoring.Parameters.QueryLogs": None, "Monitoring.Parameters.Color": "red", "Alarms.KmsMasterKeyId": None,
})  # fmt: skip
def monitoring(stack):
    """Each parameter of the nested stack is passed, and alarms reach a topic that is encrypted."""
    wanted = set(yaml_parse((ROOT / "infra/monitoring.yaml").read_text())["Parameters"])
    passed = set(stack.properties("Monitoring").get("Parameters", {}))
    yield from (f"{name} is passed or wanted alone" for name in sorted(wanted ^ passed))
    yield from unless(stack.properties("Alarms").get("KmsMasterKeyId"), "the topic is not encrypted")


@check({
    "Parameters.DeploymentStrategy": None,
})  # fmt: skip
def samconfig(stack):
    """The parameters that samconfig.toml overrides are there, and what the template needs is allowed."""
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    for name in set(config) - {"version"}:
        deploy = config[name]["deploy"]["parameters"]
        overridden = {override.split("=", 1)[0] for override in deploy.get("parameter_overrides", [])}
        strangers = overridden - set(stack.source["Parameters"])
        yield from unless(not strangers, f"{name} overrides {sorted(strangers)}, which are no parameters")
        allowed = {"CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"} <= set(deploy["capabilities"].split())
        yield from unless(allowed, f"{name} does not allow what the template makes")


def broken(source, path, value):
    """A copy of the template with one place changed."""
    # Through JSON: what YAML's anchors share is shared no more.
    place = copied = json.loads(json.dumps(source))
    way = path.split(".")
    if way[0] not in source:
        way = ["Resources", way[0]] + ([] if len(way) == 1 or way[1] in ATTRIBUTES else ["Properties"]) + way[1:]
    if "Events" in way and len(way) > way.index("Events") + 2:
        way.insert(way.index("Events") + 2, "Properties")
    *way, last = (int(step) if step.isdigit() else step for step in way)
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied


def problems(stack):
    """What each check says, with its name; one that does not find what it looks at says so."""
    for name, function in CHECKS.items():
        try:
            yield from ((name, problem) for problem in function(stack))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, StopIteration) as error:
            yield name, f"{type(error).__name__}: {error}"


def self_test(source):
    """The breakages that were not caught."""
    for name, path, value in BREAKAGES:
        caught = {it for it, _ in problems(Stack(broken(source, path, value)))}
        yield from unless(name in caught, f"{name} does not see {path} = {value!r}")


def main():
    arguments = sys.argv[1:]
    # The translator tells of toggles that only the service has.
    logging.disable(logging.WARNING)
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    source = yaml_parse((ROOT / "template.yaml").read_text())
    try:
        stack = Stack(source)
    except InvalidDocumentException as error:
        sys.exit(f"error: template.yaml cannot be translated: {error.message}")
    for argument in arguments:
        if argument != "--self-test":
            Path(argument).write_text(json.dumps(stack.template, indent=1))
    found = [f"{name}: {problem}" for name, problem in problems(stack)]
    if "--self-test" in arguments:
        found += self_test(source)
    for problem in found:
        print(f"error: template.yaml: {problem}", file=sys.stderr)
    if found:
        sys.exit(1)
    caught = f", {len(BREAKAGES)} breakages caught" if "--self-test" in arguments else ""
    print(f"template.yaml: {len(stack.resources)} resources, {len(CHECKS)} checks hold{caught}")


if __name__ == "__main__":
    main()
