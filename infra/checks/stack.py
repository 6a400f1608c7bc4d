"""The template as CloudFormation gets it, and what checks of it are made of."""

import copy
import re
from pathlib import Path
from types import SimpleNamespace

from samtranslator.translator.transform import transform

ROOT = Path(__file__).resolve().parent.parent.parent
FUNCTIONS = ["Query", "Search", "Health", "Ingest"]
# The required parameters, and a variant that changes every switch.
NEEDED = {"QdrantUrl": "https://qdrant.example.org:6334", "Secret": "bookrag", "SiteOrigins": "https://book.example.org"}
VARIANT = NEEDED | {
    "Embedder": "openai", "Reranker": "cohere", "Generator": "openai", "Tracing": "PassThrough", "MonitoringSize": "essential",
    "PermissionsBoundary": "arn:aws:iam::123456789012:policy/boundary",
    "DefaultAddress": "off", "DocsRepository": "owner/name", "DocsRepositoryIds": "1/2", "ReaderDatabaseUrl": "READER_DATABASE_URL",
    "KmsKeyArn": "arn:aws:kms:eu-central-1:123456789012:key/1", "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1",
    "EnableWaf": "true", "ProxySecret": "on", "ReservedConcurrency": "20", "HealthCheckMinutes": 0,
    "OtlpEndpoint": "http://localhost:4318", "OtlpHeaders": "on",
    "CollectorLayer": "arn:aws:lambda:eu-central-1:123456789012:layer:collector:1",
}  # fmt: skip
CHECKS, BREAKAGES = {}, []


class Stack:
    """The template as written (`source`) and as CloudFormation gets it (`template`, `resources`)."""

    def __init__(self, source):
        self.source = source
        packaged = copy.deepcopy(source)
        for resource in packaged["Resources"].values():
            # Like `sam package`, which uploads local files.
            properties = resource.get("Properties", {})
            if "CodeUri" in properties:
                properties["CodeUri"] = "s3://packages/" + properties["CodeUri"]
            if isinstance(properties.get("Code"), str):
                properties["Code"] = {"S3Bucket": "packages", "S3Key": properties["Code"]}
            if "TemplateURL" in properties:
                properties["TemplateURL"] = "https://s3.amazonaws.com/packages/" + Path(properties["TemplateURL"]).name
        # The translator would ask AWS for the names of managed policies; the template uses none.
        no_policies = SimpleNamespace(load=dict)
        self.template = transform(packaged, dict(NEEDED), no_policies)
        self.resources = self.template["Resources"]
        self.needed = {}

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
        if name not in self.needed:
            direct = self.names(self.resources[name]) & set(self.resources)
            self.needed[name] = direct.union(*(self.needs(other, (*path, name)) for other in direct))
        return self.needed[name]

    def version(self, function):
        """The name of a function's version."""
        versions = self.of_type("Lambda::Version").items()
        return next(name for name, it in versions if it["Properties"]["FunctionName"] == {"Ref": function})

    def statements(self, of=None, parameters=NEEDED):
        """The statements of policies, all or a resource's, each with the name of the resource that has it."""
        for name in self.resources:
            properties = self.properties(name, parameters)
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
