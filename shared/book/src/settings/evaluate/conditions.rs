//! Values that depend on a condition, and on variables of the environment.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    BinaryExpression, BinaryOperator, ConditionalExpression, Expression, LogicalExpression,
    LogicalOperator, MemberExpression,
};
use oxc_span::{GetSpan, Span};

use super::super::budget::{ALTERNATIVE_COPIES, KEY_COST, MAP_COST, Paid, VALUE_COST};
use super::super::value::{ConfigMap, ConfigValue, Decision};
use super::calls::is_named;
use super::{Evaluator, MAX_DEPTH};

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
                let decision = self.decision(condition.span, usual);
                self.unless_set(first, second, decision, depth)
            }
        }
    }

    /// Returns a value that the environment or something unknown may replace by that of an expression. If this is made of a variable that need not be
    /// set, the value is its default.
    fn unless_set(
        &self,
        value: ConfigValue,
        other: &'a Expression<'a>,
        decision: Decision,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let span = other.span();
        match self.value(other, depth + 1)? {
            ConfigValue::Computed(_) if decision.usual_first => {
                if self.is_of_environment(other, depth)? {
                    return Ok(value);
                }
                self.budget.pay_for(ALTERNATIVE_COPIES, &value, span)?;
                Ok(value.unless_replaced(decision.line))
            }
            other => self.either(value, other, decision, span),
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
        match (takes_right(&left, logical.operator), logical.operator) {
            (Some(true), _) => self.value(&logical.right, depth + 1),
            (Some(false), _) => Ok(left),
            (None, LogicalOperator::Or | LogicalOperator::Coalesce) => {
                let usual = self.usual_value(&logical.left, depth)?;
                if takes_right(&usual, logical.operator) != Some(true)
                    || !matches!(left, ConfigValue::Computed(_))
                {
                    return Ok(self.computed(logical.span));
                }
                let right = self.value(&logical.right, depth + 1)?;
                let decision = self.decision(logical.span, Some(true));
                self.unless_set(right, &logical.left, decision, depth)
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
    pub(super) fn usual_truth(
        &self,
        condition: &'a Expression<'a>,
        depth: usize,
    ) -> Paid<Option<bool>> {
        Ok(self.usual_value(condition, depth)?.truth())
    }

    /// Returns the value of an expression if no variable of the environment is set.
    pub(super) fn usual_value(
        &self,
        expression: &'a Expression<'a>,
        depth: usize,
    ) -> Paid<ConfigValue> {
        let before = self.without_environment.replace(true);
        let value = self.value(expression, depth + 1)?;
        self.without_environment.set(before);
        Ok(value)
    }

    /// Returns the variables of the environment, which are unset while that is assumed, and otherwise unknown.
    pub(super) fn environment(&self, at: Span) -> Paid<ConfigValue> {
        self.budget.pay(MAP_COST + KEY_COST + VALUE_COST, at)?;
        let mut variables = ConfigMap::new();
        if !self.without_environment.get() {
            variables.spread(self.computed(at));
        }
        // `docusaurus build` sets it.
        let mode = ConfigValue::Text("production".to_owned());
        variables.insert("NODE_ENV".to_owned(), mode);
        Ok(ConfigValue::Map(variables))
    }

    /// True for an expression that only changes the form of a variable of the environment, such as `process.env.BASE + '/'`, also by another name.
    pub(super) fn is_of_environment(
        &self,
        expression: &'a Expression<'a>,
        depth: usize,
    ) -> Paid<bool> {
        let expression = self.inner(expression)?;
        self.budget.pay(VALUE_COST, expression.span())?;
        if depth > MAX_DEPTH {
            return Ok(false);
        }
        let parts: [Option<&'a Expression<'a>>; 2] = match expression {
            Expression::Identifier(name) => match self.declaration(name) {
                Some((_, AstKind::VariableDeclarator(variable))) => [variable.init.as_ref(), None],
                _ => [None, None],
            },
            Expression::CallExpression(call) => [Some(&call.callee), None],
            Expression::BinaryExpression(binary) => [Some(&binary.left), Some(&binary.right)],
            Expression::ConditionalExpression(condition) => {
                [Some(&condition.consequent), Some(&condition.alternate)]
            }
            Expression::TemplateLiteral(template) => [template.expressions.first(), None],
            other if is_environment(other) => return Ok(true),
            other => {
                let member = other.as_member_expression();
                [member.map(MemberExpression::object), None]
            }
        };
        for part in parts.into_iter().flatten() {
            if self.is_of_environment(part, depth + 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns whether `left || right`, or another operation, has the value of its right side; `None` if that is unknown.
fn takes_right(left: &ConfigValue, operator: LogicalOperator) -> Option<bool> {
    let truth = left.truth()?;
    Some(match operator {
        LogicalOperator::And => truth,
        LogicalOperator::Or => !truth,
        LogicalOperator::Coalesce => *left == ConfigValue::Absent,
    })
}

/// True for `process.env`.
pub(super) fn is_environment(expression: &Expression) -> bool {
    expression.as_member_expression().is_some_and(|member| {
        is_named(member.object(), "process") && member.static_property_name() == Some("env")
    })
}
