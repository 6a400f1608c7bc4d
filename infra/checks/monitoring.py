"""Alarms, dashboard and budget."""

from samtranslator.yaml_helper import yaml_parse

from checks.stack import NEEDED, ROOT, VARIANT, check, unless

# Alarms for every operator: errors that readers see, lost work, money, and the nightly repair.
ESSENTIAL = {"ApiServerErrors", "DeadLetters", "DailySpend", "ReconcileMissing"}


@check({
    "Monitoring.Parameters.QueryLogs": None, "Monitoring.Parameters.Color": "red", "Alarms.KmsMasterKeyId": None,
    "Monitoring.Parameters.Size": "full", "Outputs.DashboardUrl.Condition": None,
})  # fmt: skip
def monitoring(stack):
    """Each parameter of the nested stack is passed, and alarms reach a topic that is encrypted. Essential are four alarms alone."""
    nested = yaml_parse((ROOT / "infra/monitoring.yaml").read_text())
    charged = {name: it for name, it in nested["Resources"].items() if it["Type"] != "AWS::Logs::QueryDefinition"}
    always = {name for name, it in charged.items() if "Condition" not in it}
    yield from unless(always == ESSENTIAL, f"essential is {sorted(always)}")
    sizes = [stack.properties("Monitoring", parameters)["Parameters"].get("Size") for parameters in (NEEDED, VARIANT)]
    yield from unless(sizes == ["full", "essential"], "the size is not passed on")
    condition = stack.source["Outputs"]["DashboardUrl"].get("Condition")
    yield from unless(condition == "HasDashboard", "without a dashboard its address is asked for")
    wanted = set(nested["Parameters"])
    passed = set(stack.properties("Monitoring").get("Parameters", {}))
    yield from (f"{name} is passed or wanted alone" for name in sorted(wanted ^ passed))
    yield from unless(stack.properties("Alarms").get("KmsMasterKeyId"), "the topic is not encrypted")


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
