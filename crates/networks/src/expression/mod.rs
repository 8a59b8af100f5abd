//! Expressions: rates, rules, observables and triggers as they are written.

pub(crate) mod bounds;
mod display;
mod function;
pub(crate) mod program;

pub(crate) use display::number;
pub use function::Function;

/// What a name in an expression stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A species, by its place in [`Network::species`](crate::Network::species).
    Species(usize),
    /// A parameter, by its place in [`Network::parameters`](crate::Network::parameters).
    Parameter(usize),
    /// The value of a rule, by its place in [`Network::rules`](crate::Network::rules).
    Rule(usize),
    /// The simulated time.
    Time,
}

/// A tree of functions over numbers and symbols. Truth is any number but 0; comparisons give 1 or 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A named quantity.
    Symbol(Symbol),
    /// A function of as many arguments as [`Function::arity`] says.
    Call(Function, Vec<Expression>),
}

impl Expression {
    /// A function of some arguments.
    #[must_use]
    pub fn call(function: Function, arguments: impl Into<Vec<Self>>) -> Self {
        Self::Call(function, arguments.into())
    }

    /// A species.
    #[must_use]
    pub const fn species(index: usize) -> Self {
        Self::Symbol(Symbol::Species(index))
    }

    /// A parameter.
    #[must_use]
    pub const fn parameter(index: usize) -> Self {
        Self::Symbol(Symbol::Parameter(index))
    }

    /// Whether it is made of numbers and parameters alone.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let mut constant = true;
        self.symbols(&mut |symbol| constant &= matches!(symbol, Symbol::Parameter(_)));
        constant
    }

    /// How many functions it calls.
    #[must_use]
    pub fn operations(&self) -> usize {
        match self {
            Self::Number(_) | Self::Symbol(_) => 0,
            Self::Call(_, arguments) => 1 + arguments.iter().map(Self::operations).sum::<usize>(),
        }
    }

    /// Calls `visit` with every symbol, as often as it occurs.
    pub fn symbols(&self, visit: &mut dyn FnMut(Symbol)) {
        match self {
            Self::Number(_) => {}
            Self::Symbol(symbol) => visit(*symbol),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.symbols(visit)),
        }
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}
