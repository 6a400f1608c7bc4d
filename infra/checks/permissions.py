"""What the roles may do, and who may take them."""

import re

from checks.stack import NEEDED, VARIANT, check, every, unless

# API Gateway's policy for the whole account, and CodeDeploy's.
# Actions on what has no name in advance.
UNNAMED = re.compile("xray:Put|ec2:.*(NetworkInterface|PrivateIpAddresse|DescribeSubnet)s?")
MANAGED_POLICIES = {"AmazonAPIGatewayPushToCloudWatchLogs", "AWSCodeDeployRoleForLambda"}


@check({
    "IngestRole.Policies.0.PolicyDocument.Statement.0.Action": "s3:*",
    "IngestRole.Policies.0.PolicyDocument.Statement.2.Resource": "*",
    "IngestRole.Policies.0.PolicyDocument.Statement.1.Condition": {"StringLike": {"s3:prefix": "book/*"}},
    "ReaderRole.Policies.0.PolicyDocument.Statement.0.Action.1": "s3:GetObject", "Health.Role": None,
    "DocsRole.PermissionsBoundary": None, "Globals.Function.DeploymentPreference.Role": None,
    "ReaderRole.Policies.2.Fn::If.1.PolicyDocument.Statement.0.Action": "ec2:RunInstances",
    "ReaderRole.Policies.1.Fn::If.1.PolicyDocument.Statement.0.Resource": "*", "HealthCheckRole.Policies.0.PolicyDocument.Statement.0.Resource": "*",
})  # fmt: skip
def permissions(stack):
    """Nothing may do everything, or do something to everything; X-Ray and network interfaces that Lambda creates have no names, and a key's policy is
    about the key."""
    for name, statement in [*stack.statements(), *stack.statements(parameters=VARIANT)]:
        if statement["Effect"] == "Deny" or stack.resources[name]["Type"] == "AWS::KMS::Key":
            continue
        actions = every(statement["Action"])
        yield from (f"{name} allows {action}" for action in actions if "*" in action)
        bounded = "*" not in every(statement["Resource"]) or all(UNNAMED.match(action) for action in actions)
        yield from unless(bounded, f"{name} allows {actions} on everything")
    for name, role in stack.of_type("IAM::Role").items():
        bounds = [stack.properties(name, parameters).get("PermissionsBoundary") for parameters in (NEEDED, VARIANT)]
        yield from unless(bounds == [None, VARIANT["PermissionsBoundary"]], f"{name} does not take PermissionsBoundary")
        arns = [arn if isinstance(arn, str) else arn["Fn::Sub"] for arn in role["Properties"].get("ManagedPolicyArns", [])]
        yield from (f"{name} has {arn}" for arn in arns if arn.rsplit("/", 1)[-1] not in MANAGED_POLICIES)
    for name in ("Query", "Search", "Health"):
        yield from unless(stack.properties(name)["Role"] == {"Fn::GetAtt": ["ReaderRole", "Arn"]}, f"{name} has a role of its own")
    allowed = {action for _, it in stack.statements("ReaderRole") for action in every(it["Action"])}
    observing = {"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTraceSegments", "xray:PutTelemetryRecords"}
    yield from unless(allowed == observing, f"ReaderRole allows {sorted(allowed)}")
    listing = [it for _, it in stack.statements("IngestRole") if "s3:ListBucket" in every(it["Action"])]
    yield from unless(len(listing) == 1 and "Condition" not in listing[0], "deleted pages may be answered with 403")


def part(parameter, place):
    return {"Fn::Select": [place, {"Fn::Split": ["/", parameter]}]}


@check({
    "DocsRole.AssumeRolePolicyDocument.Statement.0.Condition.StringLike": {"token.actions.githubusercontent.com:sub": "repo:a/b:*"},
    "DocsRole.AssumeRolePolicyDocument.Statement.0.Condition.StringEquals": None,
    "DocsRole.AssumeRolePolicyDocument.Statement.0.Condition.StringLike.token\\.actions\\.githubusercontent\\.com:sub.Fn::If.2.1": None,
    "DocsRole.AssumeRolePolicyDocument.Statement.0.Condition.StringLike.token\\.actions\\.githubusercontent\\.com:sub.Fn::If.1":
        [{"Fn::Sub": "repo:${DocsRepository}:ref:refs/heads/${DocsBranch}"}],
    "Parameters.DocsRepository.AllowedPattern": ".*/.*", "Parameters.DocsBranch.AllowedPattern": "^.+$",
})  # fmt: skip
def trust(stack):
    """One branch of one repository may take DocsRole, by either form of GitHub's subjects: with ids, and without."""
    owner, name = part("owner/name", 0), part("owner/name", 1)
    plain = {"Fn::Sub": "repo:${DocsRepository}:ref:refs/heads/${DocsBranch}"}
    any_ids = ["repo:${Owner}@*/${Name}@*:ref:refs/heads/${DocsBranch}", {"Owner": owner, "Name": name}]
    ids = {"OwnerId": part("1/2", 0), "Id": part("1/2", 1)}
    those_ids = ["repo:${Owner}@${OwnerId}/${Name}@${Id}:ref:refs/heads/${DocsBranch}", {"Owner": owner, "Name": name} | ids]
    wanted = {"": [plain, {"Fn::Sub": any_ids}], "1/2": [{"Fn::Sub": those_ids}]}
    for given, subjects in wanted.items():
        role = stack.properties("DocsRole", VARIANT | {"DocsRepositoryIds": given})
        condition = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]
        audience = condition.get("StringEquals", {}).get("token.actions.githubusercontent.com:aud")
        yield from unless(audience == "sts.amazonaws.com", "tokens for others may take DocsRole")
        found = condition.get("StringLike", {}).get("token.actions.githubusercontent.com:sub")
        yield from unless(found == subjects, f"others may take DocsRole, or its branch may not, with ids `{given}`")
    # In a pattern, * and ? match anything, and a name with an @ could match another owner with an id.
    for parameter, value in (("DocsRepository", "owner/na*e"), ("DocsRepository", "owner@1/name"), ("DocsBranch", "ma?n"), ("DocsBranch", "*")):
        pattern = stack.source["Parameters"][parameter]["AllowedPattern"]
        yield from unless(not re.fullmatch(pattern, value), f"{parameter} takes {value}")
