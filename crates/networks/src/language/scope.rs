//! What names mean where an expression stands.

use crate::{Expression, Symbol};

type Resolve<'a> = Box<dyn Fn(&str) -> Option<Expression> + 'a>;

/// Turns names into what they stand for.
pub struct Scope<'a> {
    resolve: Resolve<'a>,
    names: Vec<String>,
    unknown: Option<String>,
    constant: Option<(String, Option<String>)>,
}

impl<'a> Scope<'a> {
    /// Names that `resolve` knows; `names` are those worth suggesting in place of an unknown one.
    pub fn new(resolve: impl Fn(&str) -> Option<Expression> + 'a, names: Vec<String>) -> Self {
        Self { resolve: Box::new(resolve), names, unknown: None, constant: None }
    }

    /// The same with a hint for unknown names that no known one is near to.
    #[must_use]
    pub fn unknown(self, hint: impl Into<String>) -> Self {
        Self { unknown: Some(hint.into()), ..self }
    }

    /// The same for `what` ("an initial amount"), which must not change in time, with a hint for where it does.
    #[must_use]
    pub fn constant(self, what: impl Into<String>, hint: Option<&str>) -> Self {
        Self { constant: Some((what.into(), hint.map(str::to_owned))), ..self }
    }

    /// What a name stands for; unless something else is called so, `time` is the time.
    pub(super) fn resolve(&self, name: &str) -> Option<Expression> {
        (self.resolve)(name).or_else(|| (name == "time").then_some(Expression::Symbol(Symbol::Time)))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn unknown_hint(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// What must not change and a hint, if `value` changes in time and must not.
    pub(super) fn refusal(&self, value: &Expression) -> Option<(&str, Option<&str>)> {
        let (what, hint) = self.constant.as_ref()?;
        (!value.is_constant()).then_some((what.as_str(), hint.as_deref()))
    }
}
