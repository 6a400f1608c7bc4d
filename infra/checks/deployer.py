"""The rights of infra/deployer.yaml are those that a deployment of the template needs."""

from samtranslator.yaml_helper import yaml_parse

from checks.stack import ROOT, check, every, unless


@check({
    "Resources.Table": {"Type": "AWS::DynamoDB::Table", "Properties": {}},
})  # fmt: skip
def deployer(stack):
    """Of each service whose resources the templates have, something is allowed."""
    roles = yaml_parse((ROOT / "infra/deployer.yaml").read_text())["Resources"]
    (policy,) = roles["Execution"]["Properties"]["Policies"]
    allowed = {action.split(":")[0] for it in policy["PolicyDocument"]["Statement"] for action in every(it["Action"])}
    nested = yaml_parse((ROOT / "infra/monitoring.yaml").read_text())["Resources"]
    services = {it["Type"].split("::")[1].lower() for it in [*stack.resources.values(), *nested.values()]}
    yield from (f"infra/deployer.yaml allows nothing of {service}" for service in sorted(services - allowed))
    linked = any("iam:CreateServiceLinkedRole" in every(it["Action"]) for it in policy["PolicyDocument"]["Statement"])
    domains = [name for name, it in stack.resources.items() if it["Type"] == "AWS::ApiGateway::DomainName"]
    yield from unless(linked or not domains, "infra/deployer.yaml does not allow API Gateway's own role, which a domain name needs")
