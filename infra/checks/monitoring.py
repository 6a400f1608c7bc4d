"""Alarms, dashboard and budget."""

from samtranslator.yaml_helper import yaml_parse

from checks.stack import NEEDED, ROOT, VARIANT, check, unless

# Alarms for every operator: errors that readers see, answers that lack something, components, lost work, money, and the nightly repair.
ESSENTIAL = {
    "ApiServerErrors", "AnswersMostlyDegraded", "ComponentsDown", "HealthCheckMissing", "DeadLetters", "DailySpend", "ReconcileMissing",
}  # fmt: skip
# Alarms that should wake somebody up, by their sections in the runbook.
URGENT = {"ApiServerErrors": "API server errors", "QueryErrorRate": "Query error rate", "SearchErrorRate": "Search error rate", "DailySpend": "Daily spend"}


@check({
    "Monitoring.Parameters.QueryLogs": None, "Monitoring.Parameters.Color": "red", "Alarms.KmsMasterKeyId": None,
    "Monitoring.Parameters.Size": "full", "Outputs.DashboardUrl.Condition": None, "Monitoring.Parameters.UrgentAlarmTopicArn": {"Ref": "Alarms"},
    "UrgentAlarms.KmsMasterKeyId": None, "AlarmsKey.KeyPolicy.Statement.1.Condition": None,
})  # fmt: skip
def monitoring(stack):
    """Each parameter of the nested stack is passed, and alarms reach topics that are encrypted: an urgent one and another."""
    nested = yaml_parse((ROOT / "infra/monitoring.yaml").read_text())
    charged = {name: it for name, it in nested["Resources"].items() if it["Type"] != "AWS::Logs::QueryDefinition"}
    always = {name for name, it in charged.items() if it.get("Condition") in (None, "ChecksComponents")}
    yield from unless(always == ESSENTIAL, f"essential is {sorted(always)}")
    sizes = [stack.properties("Monitoring", parameters)["Parameters"].get("Size") for parameters in (NEEDED, VARIANT)]
    yield from unless(sizes == ["full", "essential"], "the size is not passed on")
    condition = stack.source["Outputs"]["DashboardUrl"].get("Condition")
    yield from unless(condition == "HasDashboard", "without a dashboard its address is asked for")
    wanted = set(nested["Parameters"])
    passed = set(stack.properties("Monitoring").get("Parameters", {}))
    yield from (f"{name} is passed or wanted alone" for name in sorted(wanted ^ passed))
    for name in ("Alarms", "UrgentAlarms"):
        yield from unless(stack.properties(name).get("KmsMasterKeyId"), f"{name} is not encrypted")
    used = stack.properties("AlarmsKey")["KeyPolicy"]["Statement"][1].get("Condition")
    yield from unless(used == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}, "alarms of any account may use the topics' key")
    topics = {name: stack.properties("Monitoring")["Parameters"][name] for name in ("AlarmTopicArn", "UrgentAlarmTopicArn")}
    wanted = {"AlarmTopicArn": {"Ref": "Alarms"}, "UrgentAlarmTopicArn": {"Ref": "UrgentAlarms"}}
    yield from unless(topics == wanted, "alarms go to the wrong topics")
    alarms = {name: it["Properties"] for name, it in nested["Resources"].items() if it["Type"] == "AWS::CloudWatch::Alarm"}
    told = {name: {action["Fn::If"][1]["Ref"] for action in it["AlarmActions"] + it["OKActions"]} for name, it in alarms.items()}
    urgent = {name for name, topics in told.items() if topics == {"UrgentAlarmTopicArn"}}
    yield from (f"{name} goes to {sorted(topics)}" for name, topics in told.items() if len(topics) != 1)
    yield from unless(urgent == set(URGENT), f"urgent is {sorted(urgent)}")
    runbook = (ROOT / "infra/runbook.md").read_text().split("## Before anything")[0]
    yield from (f"the runbook does not say that {section} is urgent" for section in URGENT.values() if section not in " ".join(runbook.split()))


@check({
    "Budget.NotificationsWithSubscribers.1": None, "Budget.NotificationsWithSubscribers.0.Subscribers": [], "Budget.Condition": None,
    "Budget.Budget.BudgetLimit.Amount": "20",
})  # fmt: skip
def budget(stack):
    """A limit that is set is told of twice: when most of it is spent, and when AWS forecasts more."""
    yield from unless(stack.resources["Budget"].get("Condition") == "HasBudget", "a budget without a limit cannot be made")
    given = NEEDED | {"MonthlyBudgetUsd": "50", "AlarmEmail": "a@example.org"}
    found = stack.properties("Budget", given)
    yield from unless(found["Budget"]["BudgetLimit"] == {"Amount": "50", "Unit": "USD"}, "the limit is not MonthlyBudgetUsd")
    told = {it["Notification"]["NotificationType"]: it["Subscribers"] for it in found["NotificationsWithSubscribers"]}
    reader = [{"SubscriptionType": "EMAIL", "Address": "a@example.org"}]
    yield from unless(told == {"ACTUAL": reader, "FORECASTED": reader}, f"AlarmEmail is told of {sorted(told)}")
