"""The functions: logs, deployments, environment."""

import re

from checks.stack import FUNCTIONS, NEEDED, ROOT, VARIANT, check, unless

# Variables that are not part of the configuration: lambda_http's, and the one that ties a version to Settings.
OTHER_VARIABLES = {
    "AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "SETTINGS", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_TRACES_SAMPLER",
}  # fmt: skip
SECRET_VARIABLE = re.compile(r"((?<!PUBLIC_)KEY|SALT|SECRET|PASSWORD|TOKEN|HEADERS)$|^DATABASE_URL")


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
    "Globals.Function.Environment.Variables.BOOKRAG_EMBEDER": "openai",
    "Globals.Function.Environment.Variables.BOOKRAG_SALT": {"Ref": "Secret"},
    "Globals.Function.Environment.Variables.OPENAI_API_KEY": "a key in the template",
    "Globals.Function.Environment.Variables.COHERE_API_KEY.Fn::If.0": "UsesOpenAi",
    "Globals.Function.Environment.Variables.BOOKRAG_MODELS": None, "Ingest.Environment.Variables.DATABASE_URL": None,
    "Globals.Function.Environment.Variables.AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH": None,
})  # fmt: skip
def environment(stack):
    """Variables that the configuration knows, and secrets only as references to the secret."""
    text = (ROOT / "shared/src/config/variables.rs").read_text()
    known = set(re.findall(r'variable\(\s*"([A-Z_]+)"', text)) | OTHER_VARIABLES
    for name in FUNCTIONS:
        written = stack.resources[name]["Properties"]["Environment"]["Variables"]
        yield from (f"{name}: {variable} is not known" for variable in sorted(set(written) - known))
        yield from unless("AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH" in written, f"{name}: the stage would stay in the path")
        for parameters in (NEEDED, VARIANT, NEEDED | {"Embedder": "openai"}, NEEDED | {"Embedder": "cohere"}):
            variables = stack.resolve(written, parameters)
            for variable in filter(SECRET_VARIABLE.search, variables):
                key = "${ReaderDatabaseUrl}" if variable == "DATABASE_URL" and name != "Ingest" else variable
                reference = {"Fn::Sub": f"{{{{resolve:secretsmanager:${{Secret}}:SecretString:{key}}}}}"}
                yield from unless(variables[variable] in ("", reference), f"{name}: {variable} is not a reference to the secret")
            choices = {variables.get(f"BOOKRAG_{it}") for it in ("EMBEDDER", "RERANKER", "GENERATOR")}
            for provider in ("openai", "cohere"):
                has_key = bool(variables.get(f"{provider.upper()}_API_KEY"))
                yield from unless(has_key == (provider in choices), f"{name}: {provider}'s key is missing, or not needed")
            is_local = bool(choices & {"bge-small", "minilm", "cross-encoder"})
            yield from unless(bool(variables.get("BOOKRAG_MODELS")) == is_local, f"{name} is not told where local models are")


# The most bytes of all variables together.
LAMBDA_LIMIT = 4096
# The longest values that are no parameters: secrets by their names, and what AWS numbers.
LONGEST = {"DATABASE_URL": 250, "DATABASE_URL_DIRECT": 250, "QDRANT_API_KEY": 200, "OPENAI_API_KEY": 200, "COHERE_API_KEY": 60, "BOOKRAG_SALT": 64,
           "OTEL_EXPORTER_OTLP_HEADERS": 160}  # fmt: skip
NUMBER = 10
# Parameters that only their patterns limit.
UNBOUNDED = {"ChatPrice": 15, "AnswerTokens": 6, "DailyBudgetUsd": 12, "QuestionsBudgetUsd": 12, "BookPrefix": 60, "Secret": 100}
STACK_NAME = 28
# Of several books readers sign in by a key set, by the rule SeveralBooksSignInByAKeySet, and the stack's origins are not used. Of one book only one key
# is set, by the rule OneKindOfKey.
OF_SEVERAL_BOOKS = ("BOOKRAG_BOOKS", "BOOKRAG_AUTH_JWKS_URL")
OF_ONE_BOOK = ("BOOKRAG_ORIGINS", "BOOKRAG_AUTH_PUBLIC_KEY")


def longest(stack, value):
    """The most characters that a variable's value can have."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, dict):
        return len(str(value))
    ((function, given),) = value.items()
    if function == "Ref":
        it = stack.source["Parameters"].get(given)
        if it is None or it["Type"] == "Number":
            return STACK_NAME if given == "AWS::StackName" else NUMBER
        if "AllowedValues" in it:
            return max(len(str(one)) for one in it["AllowedValues"])
        bounded = re.search(r"\{1,(\d+)\}\$$", it.get("AllowedPattern", ""))
        return it.get("MaxLength") or (int(bounded[1]) if bounded else UNBOUNDED[given])
    if function == "Fn::If":
        return max(longest(stack, branch) for branch in given[1:])
    if function != "Fn::Sub":
        return 150  # An ARN or an address that AWS makes.
    if secret := re.search(r"SecretString:(\w+|\$\{ReaderDatabaseUrl\})\}\}$", given):
        return LONGEST.get(secret[1], LONGEST["DATABASE_URL"])
    names = re.findall(r"\$\{([\w:]+)\}", given)
    return len(re.sub(r"\$\{[\w:]+\}", "", given)) + sum(longest(stack, {"Ref": name}) for name in names)


@check({
    "Parameters.AuthPublicKey.MaxLength": 2200, "Parameters.SiteOrigins.MaxLength": 1400,
})  # fmt: skip
def size(stack):
    """Lambda takes the environment of each function, whatever the parameters are."""
    for name in FUNCTIONS:
        variables = stack.resources[name]["Properties"]["Environment"]["Variables"]
        # As JSON: quotes, a colon and a comma for each.
        lengths = {variable: longest(stack, value) for variable, value in variables.items()}
        most = 2 + sum(len(variable) + length + 6 for variable, length in lengths.items())
        most -= min(sum(lengths.get(variable, 0) for variable in group) for group in (OF_SEVERAL_BOOKS, OF_ONE_BOOK))
        yield from unless(most <= LAMBDA_LIMIT, f"{name}'s environment may have {most} bytes, Lambda takes {LAMBDA_LIMIT}")
