"""The API: its routes, what it answers by itself, its firewall."""

import json
import re

from checks.stack import NEEDED, ROOT, VARIANT, check, unless


# What precedes the path of a route of one book of several.
BOOK = "/books/{book}"
# The path of the metadata that says where readers sign in.
METADATA = "/.well-known/oauth-protected-resource"


@check({
    "Query.Events.Chat.ResponseTransferMode": "STREAM", "Query.Events.Conversation.ResponseTransferMode": None,
    "Query.Events.Chat.TimeoutInMillis": None, "Query.Events.Feedback": None, "Query.Events.Mcp": None, "Query.Events.BookMcp": None, "Search.Timeout": 60,
    "Search.Events.Search.ResponseTransferMode": "RESPONSE_STREAM", "Search.Events.Search.Method": "GET",
    "Search.Events.FeedbackPreflight": None, "Search.Events.McpMetadata": None, "Search.Events.McpPreflight": None, "Search.Events.ChatPreflight.ResponseTransferMode": "RESPONSE_STREAM",
})  # fmt: skip
def routes(stack):
    """The documented paths, streaming where the query function answers, for as long as it may run; preflights of them do not stream, since
    a stream without a byte may never end."""
    documented = set(json.loads((ROOT / "docs/openapi.json").read_text())["paths"])
    # The Model Context Protocol has its own description.
    documented.add("/mcp")
    paths = stack.properties("Api")["Body"]["paths"]
    # All but the list of the books is there for each book, too.
    documented |= {BOOK + path for path in documented - {"/api/v1/books"}}
    # RFC 9728 puts the path of a resource behind that of its metadata.
    documented |= {METADATA + path for path in ("", "/mcp", f"{BOOK}/mcp")}
    yield from (f"{path} is documented or in the API alone" for path in sorted(documented ^ set(paths)))
    for path, methods in paths.items():
        any_method = "x-amazon-apigateway-any-method"
        yield from unless(any_method in methods, f"{path} does not take every method: the router refuses wrong ones itself")
        for name, method in methods.items():
            integration = method["x-amazon-apigateway-integration"]
            uri = integration["uri"]["Fn::Sub"]
            function = re.search(r"\$\{(\w+)Aliaslive\}", uri)[1]
            streams = uri.endswith("/response-streaming-invocations") and integration.get("responseTransferMode") == "STREAM"
            yield from unless(streams == (function == "Query"), f"{name} {path} {'streams' if streams else 'does not stream'}")
            preflight = methods.get("options", methods[any_method])["x-amazon-apigateway-integration"]
            yield from unless(preflight.get("responseTransferMode") != "STREAM", f"a preflight of {path} is a stream without a byte")
            waits_ms = integration.get("timeoutInMillis", 29_000)
            runs_ms = stack.properties(function)["Timeout"] * 1000
            yield from unless(runs_ms <= waits_ms, f"{path}: {function} may run for {runs_ms} ms, API Gateway waits for {waits_ms}")


@check({
    "Api.SecurityPolicy": "TLS_1_0", "Domain.SecurityPolicy": None, "Api.MethodSettings": None, "Api.TracingEnabled": True,
    "Api.EndpointConfiguration.Type": "EDGE", "Api.GatewayResponses.DEFAULT_5XX": None,
    "Api.GatewayResponses.DEFAULT_4XX.ResponseParameters": None,
    "Api.GatewayResponses.THROTTLED.ResponseTemplates.application/json": '{"message":"slow down"}',
    "Api.AccessLogSetting.Fn::If.1.Format": '{"address":"$context.identity.sourceIp"}', "Api.DisableExecuteApiEndpoint": None,
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
    extension = "x-amazon-apigateway-endpoint-configuration"
    servers = [stack.properties("Api", parameters)["Body"].get("servers", [{}])[0] for parameters in (NEEDED, VARIANT)]
    hidden = [server.get(extension, {}).get("disableExecuteApiEndpoint") for server in servers]
    yield from unless(hidden == [False, True], "the default address does not do as DefaultAddress says")
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
        # $context.error.messageString is the only variable that inserts a quoted text.
        envelope = json.loads(text.replace("$context.error.messageString", '"Forbidden"'))
        lacks = {"success", "data", "error", "meta"} ^ set(envelope)
        lacks |= set(schemas["Meta"]["required"]) - set(envelope.get("meta", {}))
        lacks |= set(schemas["ErrorBody"]["required"]) - set(envelope.get("error", {}))
        yield from unless(not lacks, f"{name} is not the envelope: {sorted(lacks)}")


@check({
    "Firewall.Rules.0": None, "Firewall.Rules.0.Fn::If.2": None, "Firewall.Rules.0.Fn::If.1.Statement.NotStatement.Statement.ByteMatchStatement.SearchString": "x",
    "Firewall.Rules.1.Statement.ManagedRuleGroupStatement.RuleActionOverrides.0": None,
})  # fmt: skip
def firewall(stack):
    """Bodies of 64 KiB and questions about code pass. Behind a proxy, its secret is required, and its address has no limit."""
    statements = {it["Name"]: it["Statement"] for it in stack.properties("Firewall")["Rules"]}
    yield from unless("RateBasedStatement" in statements.get("rate", {}), "one address may ask without end")
    behind = {it["Name"]: it["Statement"] for it in stack.properties("Firewall", VARIANT)["Rules"]}
    yield from unless("rate" not in behind and "proxy" not in statements, "the proxy's address is limited, or its secret always required")
    matched = behind["proxy"]["NotStatement"]["Statement"]["ByteMatchStatement"]
    secret = {"Fn::Sub": "{{resolve:secretsmanager:${Secret}:SecretString:PROXY_SECRET}}"}
    required = matched["SearchString"] == secret and matched["PositionalConstraint"] == "EXACTLY"
    yield from unless(required, "the proxy's secret is not required")
    overrides = statements["common"]["ManagedRuleGroupStatement"].get("RuleActionOverrides", [])
    counted = {it["Name"] for it in overrides if it["ActionToUse"] == {"Count": {}}}
    for name in ("SizeRestrictions", "GenericLFI", "GenericRFI", "CrossSiteScripting", "EC2MetaDataSSRF"):
        yield from unless(f"{name}_BODY" in counted, f"{name}_BODY would block readers")
