//! Values that depend on a condition, and on variables of the environment.

use oxc_ast::ast::{
    BinaryExpression, BinaryOperator, ConditionalExpression, Expression, LogicalExpression,
    LogicalOperator,
};
use oxc_span::{GetSpan, Span};

use super::super::budget::Paid;
use super::super::value::{ConfigValue, Decision};
use super::Evaluator;
use super::calls::is_named;

impl<'a> Evaluator<'_, 'a> {
    pub(super) fn conditional(
        &self,
        condition: &'a ConditionalExpression<'a>,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let (yes, no) = (&condition.consequent, &condition.alternate);
        match self.value(&condition.test, depth + 1)?.truth() {
            Some(true) => self.value(yes, depth + 1),
            Some(false) => self.value(no, depth + 1),
            None => {
                let usual = self.usual_truth(&condition.test, depth)?;
                let (first, second) = if usual == Some(false) {
                    (no, yes)
                } else {
                    (yes, no)
                };
                let first = self.value(first, depth + 1)?;
                let second = self.value(second, depth + 1)?;
                let decision = self.decision(condition.span, usual);
                self.either(first, second, decision, condition.span)
            }
        }
    }

    /// Returns the decision of a condition at `at`, whose truth is `usual` if no variable of the environment is set.
    fn decision(&self, at: Span, usual: Option<bool>) -> Decision {
        Decision {
            line: self.line(at),
            usual_first: usual.is_some(),
        }
    }

    pub(super) fn logical(
        &self,
        logical: &'a LogicalExpression<'a>,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let left = self.value(&logical.left, depth + 1)?;
        let takes_right = match logical.operator {
            LogicalOperator::And => left.truth(),
            LogicalOperator::Or => left.truth().map(|truth| !truth),
            LogicalOperator::Coalesce => left.truth().map(|_| left == ConfigValue::Absent),
        };
        match (takes_right, logical.operator) {
            (Some(true), _) => self.value(&logical.right, depth + 1),
            (Some(false), _) => Ok(left),
            // A variable of the environment with a default.
            (None, LogicalOperator::Or | LogicalOperator::Coalesce)
                if self.variable_name(&logical.left)?.is_some() =>
            {
                self.value(&logical.right, depth + 1)
            }
            (None, LogicalOperator::And) => {
                let usual = self.usual_truth(&logical.left, depth)?;
                let right = self.value(&logical.right, depth + 1)?;
                let (first, second) = if usual == Some(true) {
                    (right, ConfigValue::Absent)
                } else {
                    (ConfigValue::Absent, right)
                };
                let decision = self.decision(logical.span, usual);
                self.either(first, second, decision, logical.span)
            }
            (None, _) => Ok(self.computed(logical.span)),
        }
    }

    /// Evaluates a binary expression. `expression` is the node of `binary`.
    pub(super) fn binary(
        &self,
        expression: &'a Expression<'a>,
        binary: &'a BinaryExpression<'a>,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let is_known = matches!(
            binary.operator,
            BinaryOperator::Addition
                | BinaryOperator::StrictEquality
                | BinaryOperator::Equality
                | BinaryOperator::StrictInequality
                | BinaryOperator::Inequality
        );
        if !is_known {
            return Ok(self.computed(binary.span));
        }
        let left = self.value(&binary.left, depth + 1)?;
        let right = self.value(&binary.right, depth + 1)?;
        let is_equal = match binary.operator {
            BinaryOperator::Addition => {
                return match (&left, &right) {
                    (ConfigValue::Text(left), ConfigValue::Text(right)) => {
                        self.joined(&[left, right], "", binary.span)
                    }
                    _ => Ok(self.computed(binary.span)),
                };
            }
            BinaryOperator::StrictEquality | BinaryOperator::Equality => true,
            _ => false,
        };
        if left.is_scalar() && right.is_scalar() {
            Ok(ConfigValue::Bool((left == right) == is_equal))
        } else {
            self.true_or_false(expression, depth)
        }
    }

    /// Returns the value of a condition that depends on the environment.
    pub(super) fn true_or_false(
        &self,
        condition: &'a Expression<'a>,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let usual = if self.without_environment.get() {
            None
        } else {
            self.usual_truth(condition, depth)?
        };
        let Some(usual) = usual else {
            return Ok(self.computed(condition.span()));
        };
        let decision = self.decision(condition.span(), Some(usual));
        Ok(ConfigValue::Bool(usual).or(ConfigValue::Bool(!usual), decision))
    }

    /// Returns the truth of a condition if no variable of the environment is set.
    fn usual_truth(&self, condition: &'a Expression<'a>, depth: usize) -> Paid<Option<bool>> {
        let before = self.without_environment.replace(true);
        let value = self.value(condition, depth + 1)?;
        self.without_environment.set(before);
        Ok(value.truth())
    }

    /// Returns the value of a variable of the environment, for an expression that reads one.
    pub(super) fn variable(&self, expression: &'a Expression<'a>) -> Paid<Option<ConfigValue>> {
        Ok(match self.variable_name(expression)? {
            // `docusaurus build` sets it.
            Some("NODE_ENV") => Some(ConfigValue::Text("production".to_owned())),
            Some(_) if self.without_environment.get() => Some(ConfigValue::Absent),
            _ => None,
        })
    }

    /// Returns the name in `process.env.NAME`.
    fn variable_name(&self, expression: &'a Expression<'a>) -> Paid<Option<&'a str>> {
        let Some(member) = self.inner(expression)?.as_member_expression() else {
            return Ok(None);
        };
        let object = match self.inner(member.object())? {
            Expression::Identifier(name) => self.initial_value(name),
            other => Some(other),
        };
        let Some(object) = object else {
            return Ok(None);
        };
        let environment = self.inner(object)?.as_member_expression();
        let is_it = environment.is_some_and(|environment| {
            is_named(environment.object(), "process")
                && environment.static_property_name() == Some("env")
        });
        Ok(member.static_property_name().filter(|_| is_it))
    }
}
