"""The parameters, and what samconfig.toml sets."""

import re
import tomllib

from checks.stack import NEEDED, ROOT, check, unless
from samconfig import overrides as samconfig_of


@check({
    "Parameters.Generator.Description": None, "Parameters.SiteName.MaxLength": None, "Parameters.Secret.NoEcho": True,
    "Parameters.QdrantUrl.ConstraintDescription": None, "Parameters.DocsBranch.Default": "a branch",
    "Parameters.Unused": {"Type": "Number", "Description": "Nothing."}, "Parameters.Book": {"Type": "Number", "Description": "A bucket."},
})  # fmt: skip
def parameters(stack):
    """Described, constrained, grouped, used; no secret among them, and no name that a resource has."""
    yield from (f"{name} is a parameter and a resource" for name in set(stack.source["Parameters"]) & set(stack.resources))
    groups = stack.source["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]
    yield from unless(sorted(grouped) == sorted(stack.source["Parameters"]), "not each is in one group")
    # The translator replaces references to DeploymentStrategy by its value.
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
    "Parameters.DeploymentStrategy": None, "Parameters.Collection.Default": None, "Parameters.QdrantUrl.AllowedPattern": "^.+$",
})  # fmt: skip
def samconfig(stack):
    """The parameters that samconfig.toml overrides are there, all that have no default among them, and what the template needs is allowed.
    What must be filled in is refused as it stands."""
    needed = {name for name, it in stack.source["Parameters"].items() if "Default" not in it}
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    for name in set(config) - {"version"}:
        deploy = config[name]["deploy"]["parameters"]
        overridden = samconfig_of(deploy)
        strangers = set(overridden) - set(stack.source["Parameters"])
        yield from unless(not strangers, f"{name} overrides {sorted(strangers)}, which are no parameters")
        yield from unless(needed <= set(overridden), f"{name} lacks {sorted(needed - set(overridden))}")
        for parameter in (parameter for parameter, value in overridden.items() if value == "FILL-IN"):
            pattern = stack.source["Parameters"][parameter]["AllowedPattern"]
            yield from unless(not re.search(pattern, "FILL-IN"), f"{name} would be deployed with {parameter}=FILL-IN")
        allowed = {"CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"} <= set(deploy["capabilities"].split())
        yield from unless(allowed, f"{name} does not allow what the template makes")


@check({
    "Rules.ProxiesAreTrustedIfTheyCannotBeBypassed": None, "Rules.TheDefaultAddressIsNeededWithoutADomain": None,
    "Rules.AnIssuerOrAudienceNeedsAKey": None, "Rules.ABudgetNeedsAnAddress": None, "Rules.ADomainNeedsItsCertificate": None,
    "Rules.ADocsRepositoryNeedsTheProvider": None, "Rules.AProxysSecretNeedsTheFirewall": None, "Rules.SubnetsAndSecurityGroupsGoTogether": None,
    "Rules.ACollectorNeedsItsEndpoint": None, "Rules.SeveralBooksSignInByAKeySet": None,
    "Parameters.SiteOrigins.AllowedPattern": "^https://.*$",
    "Parameters.AuthPublicKey.AllowedPattern": "^-----BEGIN .*$",
    "Parameters.Embedder.Default": "openai", "Parameters.RequestsPerSecond.Default": 50,
})  # fmt: skip
def choices(stack):
    """Choices that do not go together are refused before anything is made; a first deployment needs no account for models."""
    refused = [
        {"TrustedProxies": "1"}, {"DefaultAddress": "off"}, {"AuthIssuer": "https://id.example.org"}, {"AuthAudience": "book"},
        {"ProxySecret": "on"}, {"OtlpHeaders": "on"}, {"CollectorLayer": "arn"}, {"Books": "guide", "AuthPublicKey": "pem"}, {"SubnetIds": "subnet-1"}, {"SecurityGroupIds": "sg-1"}, {"MonthlyBudgetUsd": "50"}, {"DomainName": "ask.example.org"}, {"DocsRepository": "owner/name"},
    ]  # fmt: skip
    for choice in refused:
        yield from unless(broken_rules(stack, NEEDED | choice), f"{choice} alone is taken")
    whole = {"DomainName": "ask.example.org", "CertificateArn": "arn", "DefaultAddress": "off", "TrustedProxies": "1"}
    whole |= {"AuthPublicKey": "pem", "AuthIssuer": "https://id.example.org", "AlarmEmail": "a@example.org", "MonthlyBudgetUsd": "50"}
    whole |= {"EnableWaf": "true", "ProxySecret": "on", "SubnetIds": "subnet-1", "SecurityGroupIds": "sg-1"}
    whole |= {"OtlpEndpoint": "http://localhost:4318", "OtlpHeaders": "on", "CollectorLayer": "arn"}
    for taken in (NEEDED, NEEDED | whole):
        yield from (f"{rule} refuses {taken}" for rule in broken_rules(stack, taken))
    pem = stack.source["Parameters"]["AuthPublicKey"]["AllowedPattern"]
    lines = ["-----BEGIN PUBLIC KEY-----", "MCowBQYDK2VwAyEA+/=", "-----END PUBLIC KEY-----", ""]
    taken = [bool(re.search(pem, it)) for it in ("\\n".join(lines), "\n".join(lines), "-----BEGIN PRIVATE KEY-----\\n")]
    yield from unless(taken == [True, False, False], "AuthPublicKey takes something else than a public key on one line")
    origins = stack.source["Parameters"]["SiteOrigins"]["AllowedPattern"]
    yield from unless(not re.search(origins, "https://*.example.org"), "SiteOrigins takes a pattern, which matches no origin")
    yield from unless(stack.source["Parameters"]["Embedder"]["Default"] == "bge-small", "a first deployment needs an account for models")
    yield from unless(stack.source["Parameters"]["RequestsPerSecond"]["Default"] <= 10, "a flood costs much before anybody chose so")


def broken_rules(stack, parameters):
    """The names of the rules that these parameters break."""
    parameters = {name: str(it.get("Default", "")) for name, it in stack.source["Parameters"].items()} | parameters
    return [
        name
        for name, rule in stack.source["Rules"].items()
        if stack.holds(rule["RuleCondition"], parameters)
        and not all(stack.holds(it["Assert"], parameters) for it in rule["Assertions"])
    ]
