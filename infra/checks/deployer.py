"""The rights of infra/deployer.yaml are those that a deployment of the template needs."""

import re

from samtranslator.yaml_helper import yaml_parse

from checks.stack import ROOT, check, every, unless


# What would reach beyond the stack if it were allowed on everything.
HARMFUL = re.compile(
    r"(kms:(PutKeyPolicy|ScheduleKeyDeletion|CreateGrant|Decrypt)|route53:Change|iam:|wafv2:|apigateway:|secretsmanager:|lambda:(Create|Delete|Update)|s3:|\*)"
)


@check({
    "Resources.Table": {"Type": "AWS::DynamoDB::Table", "Properties": {}}, "Firewall.Name": "bookrag",
})  # fmt: skip
def deployer(stack):
    """Of each service whose resources the templates have, something is allowed; what could harm others, on the stack's own alone."""
    roles = yaml_parse((ROOT / "infra/deployer.yaml").read_text())["Resources"]
    (policy,) = roles["Execution"]["Properties"]["Policies"]
    statements = [it["Fn::If"][1] if "Fn::If" in it else it for it in policy["PolicyDocument"]["Statement"]]
    allowed = {action.split(":")[0] for it in statements for action in every(it["Action"])}
    for it in statements:
        anything = "*" in every(it["Resource"]) and "Condition" not in it
        yield from (f"infra/deployer.yaml allows {action} on everything" for action in every(it["Action"]) if anything and HARMFUL.match(action))
    named = stack.properties("Firewall").get("Name") == {"Fn::Sub": "${AWS::StackName}-firewall"}
    yield from unless(named, "infra/deployer.yaml does not allow the firewall's name")
    nested = yaml_parse((ROOT / "infra/monitoring.yaml").read_text())["Resources"]
    services = {it["Type"].split("::")[1].lower() for it in [*stack.resources.values(), *nested.values()]}
    yield from (f"infra/deployer.yaml allows nothing of {service}" for service in sorted(services - allowed))
    linked = any("iam:CreateServiceLinkedRole" in every(it["Action"]) for it in statements)
    domains = [name for name, it in stack.resources.items() if it["Type"] == "AWS::ApiGateway::DomainName"]
    yield from unless(linked or not domains, "infra/deployer.yaml does not allow API Gateway's own role, which a domain name needs")
