"""The functions: logs, deployments, environment."""

import re

from checks.stack import FUNCTIONS, NEEDED, ROOT, VARIANT, check, unless

# Variables that are not part of the configuration: lambda_http's, and the one that ties a version to Settings.
OTHER_VARIABLES = {"AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "SETTINGS"}
SECRET_VARIABLE = re.compile(r"((?<!PUBLIC_)KEY|SALT|SECRET|PASSWORD|TOKEN)$|^DATABASE_URL")


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
    "Globals.Function.Environment.Variables.BOOKRAG_MODELS": None,
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
                reference = {"Fn::Sub": f"{{{{resolve:secretsmanager:${{Secret}}:SecretString:{variable}}}}}"}
                yield from unless(variables[variable] in ("", reference), f"{name}: {variable} is not a reference to the secret")
            choices = {variables.get(f"BOOKRAG_{it}") for it in ("EMBEDDER", "RERANKER", "GENERATOR")}
            for provider in ("openai", "cohere"):
                has_key = bool(variables.get(f"{provider.upper()}_API_KEY"))
                yield from unless(has_key == (provider in choices), f"{name}: {provider}'s key is missing, or not needed")
            is_local = bool(choices & {"bge-small", "minilm", "cross-encoder"})
            yield from unless(bool(variables.get("BOOKRAG_MODELS")) == is_local, f"{name} is not told where local models are")
