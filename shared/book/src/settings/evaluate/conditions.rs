//! Values that depend on a condition, and on variables of the environment.

use oxc_ast::ast::{
    BinaryExpression, BinaryOperator, ConditionalExpression, Expression, LogicalExpression,
    LogicalOperator,
};

use oxc_span::GetSpan;

use super::super::value::{ConfigValue, Decision};
use super::Evaluator;
use super::calls::is_named;

impl<'a> Evaluator<'_, 'a> {
    pub(super) fn conditional(
        &self,
        condition: &'a ConditionalExpression<'a>,
        depth: usize,
    ) -> ConfigValue {
        let branch = |truth: bool| {
            let chosen = if truth {
                &condition.consequent
            } else {
                &condition.alternate
            };
            self.value(chosen, depth + 1)
        };
        match self.value(&condition.test, depth + 1).truth() {
            Some(truth) => branch(truth),
            None => {
                let usual = self.usual_truth(&condition.test, depth);
                let decision = Decision {
                    line: self.line(condition.span),
                    usual_first: usual.is_some(),
                };
                let first = usual.unwrap_or(true);
                branch(first).or(branch(!first), decision)
            }
        }
    }

    pub(super) fn logical(&self, logical: &'a LogicalExpression<'a>, depth: usize) -> ConfigValue {
        let takes_right = |left: &ConfigValue| match logical.operator {
            LogicalOperator::And => left.truth(),
            LogicalOperator::Or => left.truth().map(|truth| !truth),
            LogicalOperator::Coalesce => left.truth().map(|_| *left == ConfigValue::Absent),
        };
        let right = || self.value(&logical.right, depth + 1);
        let left = self.value(&logical.left, depth + 1);
        match (takes_right(&left), logical.operator) {
            (Some(true), _) => right(),
            (Some(false), _) => left,
            // A variable of the environment with a default.
            (None, LogicalOperator::Or | LogicalOperator::Coalesce)
                if self.variable_name(&logical.left).is_some() =>
            {
                right()
            }
            (None, LogicalOperator::And) => {
                let usual = self.usual_truth(&logical.left, depth);
                let decision = Decision {
                    line: self.line(logical.span),
                    usual_first: usual.is_some(),
                };
                if usual == Some(true) {
                    right().or(ConfigValue::Absent, decision)
                } else {
                    ConfigValue::Absent.or(right(), decision)
                }
            }
            (None, _) => self.computed(logical.span),
        }
    }

    /// `expression` is the one that is `binary`.
    pub(super) fn binary(
        &self,
        expression: &'a Expression<'a>,
        binary: &'a BinaryExpression<'a>,
        depth: usize,
    ) -> ConfigValue {
        let operands = || {
            let left = self.value(&binary.left, depth + 1);
            (left, self.value(&binary.right, depth + 1))
        };
        let is_equal = match binary.operator {
            BinaryOperator::Addition => {
                return match operands() {
                    (ConfigValue::Text(left), ConfigValue::Text(right)) => {
                        self.owned(&(left + &right), binary.span)
                    }
                    _ => self.computed(binary.span),
                };
            }
            BinaryOperator::StrictEquality | BinaryOperator::Equality => true,
            BinaryOperator::StrictInequality | BinaryOperator::Inequality => false,
            _ => return self.computed(binary.span),
        };
        match operands() {
            (left, right) if left.is_scalar() && right.is_scalar() => {
                ConfigValue::Bool((left == right) == is_equal)
            }
            _ => self.true_or_false(expression, depth),
        }
    }

    /// The value of a condition that depends on the environment.
    pub(super) fn true_or_false(&self, condition: &'a Expression<'a>, depth: usize) -> ConfigValue {
        let is_fixed = self.without_environment.get();
        let usual = (!is_fixed).then(|| self.usual_truth(condition, depth));
        let Some(usual) = usual.flatten() else {
            return self.computed(condition.span());
        };
        let decision = Decision {
            line: self.line(condition.span()),
            usual_first: true,
        };
        ConfigValue::Bool(usual).or(ConfigValue::Bool(!usual), decision)
    }

    /// The truth of a condition if no variable of the environment is set.
    fn usual_truth(&self, condition: &'a Expression<'a>, depth: usize) -> Option<bool> {
        let before = self.without_environment.replace(true);
        let truth = self.value(condition, depth + 1).truth();
        self.without_environment.set(before);
        truth
    }

    /// The value of a variable of the environment, for an expression that reads one.
    pub(super) fn variable(&self, expression: &'a Expression<'a>) -> Option<ConfigValue> {
        match self.variable_name(expression)? {
            // `docusaurus build` sets it.
            "NODE_ENV" => Some(ConfigValue::Text("production".to_owned())),
            _ if self.without_environment.get() => Some(ConfigValue::Absent),
            _ => None,
        }
    }

    /// The name in `process.env.NAME`.
    fn variable_name(&self, expression: &'a Expression<'a>) -> Option<&'a str> {
        let member = expression.get_inner_expression().as_member_expression()?;
        let environment = member.object().get_inner_expression();
        let environment = match environment {
            Expression::Identifier(name) => self.initial_value(name)?,
            other => other,
        };
        let environment = environment.get_inner_expression().as_member_expression()?;
        let is_it = is_named(environment.object(), "process")
            && environment.static_property_name() == Some("env");
        member.static_property_name().filter(|_| is_it)
    }
}
