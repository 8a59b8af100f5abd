//! Expressions from text: `-a^2 + 3*b/(c - 1)`.

use std::ops::Range;

use super::lexer::{Lexeme, Token, tokens};
use super::operators::{FUNCTIONS, binding, strength};
use super::{Mistake, Scope, near_miss};
use crate::{Expression, Function};

/// Parentheses, signs and powers within one another.
const DEEPEST: usize = 200;
/// Operations of one expression.
const MOST_OPERATIONS: usize = 1_000;

/// The expression that a text is.
///
/// # Errors
/// Every unknown name and wrong function in it, or the first mistake of syntax.
pub fn expression(text: &str, scope: &Scope<'_>) -> Result<Expression, Vec<Mistake>> {
    let found = tokens(text, 0..text.len()).map_err(|mistake| vec![mistake])?;
    parse(&found, text.len(), scope)
}

/// What is observed, and its name: `S1`, or `total = S1 + 2*S2`.
///
/// # Errors
/// As for [`expression`], and if an expression has no name.
pub fn observable(text: &str, scope: &Scope<'_>) -> Result<(String, Expression), Vec<Mistake>> {
    let found = tokens(text, 0..text.len()).map_err(|mistake| vec![mistake])?;
    match &found[..] {
        [Lexeme { token: Token::Name(name), .. }, equals, rest @ ..] if equals.is("=") => {
            Ok(((*name).to_owned(), parse(rest, text.len(), scope)?))
        }
        [Lexeme { token: Token::Name(name), .. }] => {
            Ok(((*name).to_owned(), parse(&found, text.len(), scope)?))
        }
        all => {
            parse(all, text.len(), scope)?;
            let whole = text.trim();
            let begin = text.len() - text.trim_start().len();
            let mistake =
                Mistake::new(begin..begin + whole.len(), "an expression that is observed needs a name");
            Err(vec![mistake.with_hint(format!("name it, as in \"total = {whole}\""))])
        }
    }
}

/// The expression of some tokens of a text, which ends at byte `end`.
pub(super) fn parse(
    tokens: &[Lexeme<'_>],
    end: usize,
    scope: &Scope<'_>,
) -> Result<Expression, Vec<Mistake>> {
    let mut parser = Parser { tokens, end, scope, depth: 0, operations: 0, mistakes: Vec::new() };
    let parsed = parser.operation(0).and_then(|parsed| match parser.tokens.first() {
        None => Ok(parsed),
        Some(lexeme) => Err(parser.misplaced(lexeme)),
    });
    match parsed {
        Ok(parsed) if parser.mistakes.is_empty() => Ok(parsed),
        Ok(_) => Err(parser.mistakes),
        Err(mistake) => {
            parser.mistakes.push(mistake);
            Err(parser.mistakes)
        }
    }
}

struct Parser<'t, 's> {
    /// What is still to be read.
    tokens: &'t [Lexeme<'t>],
    end: usize,
    scope: &'s Scope<'s>,
    depth: usize,
    operations: usize,
    /// What is wrong though the syntax is right.
    mistakes: Vec<Mistake>,
}

impl<'t> Parser<'t, '_> {
    fn next(&mut self) -> Option<&'t Lexeme<'t>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn next_is(&mut self, sign: &str) -> bool {
        let is = self.tokens.first().is_some_and(|lexeme| lexeme.is(sign));
        if is {
            self.next();
        }
        is
    }

    fn call(
        &mut self,
        function: Function,
        arguments: Vec<Expression>,
        span: &Range<usize>,
    ) -> Result<Expression, Mistake> {
        self.count(1, span)?;
        Ok(Expression::Call(function, arguments))
    }

    fn count(&mut self, operations: usize, span: &Range<usize>) -> Result<(), Mistake> {
        self.operations += operations;
        if self.operations <= MOST_OPERATIONS {
            return Ok(());
        }
        let message = format!("an expression may have {MOST_OPERATIONS} operations, this has more");
        Err(Mistake::new(span.clone(), message).with_hint("split it with rules"))
    }

    /// Reads operators that bind at least as tightly as `least`, and what they bind.
    fn operation(&mut self, least: u8) -> Result<Expression, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let span = self.tokens.first().map_or(self.end..self.end, |lexeme| lexeme.span.clone());
            return Err(Mistake::new(span, format!("this is nested more than {DEEPEST} deep")));
        }
        let mut left = self.operand()?;
        while let Some(lexeme) = self.tokens.first()
            && let Token::Sign(sign) = lexeme.token
            && let Some((bound, right_least)) = strength(sign)
            && bound >= least
        {
            self.next();
            let right = self.operation(right_least)?;
            left = self.joined(sign, left, right, &lexeme.span)?;
            self.check_chain(bound)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn joined(
        &mut self,
        sign: &str,
        left: Expression,
        right: Expression,
        span: &Range<usize>,
    ) -> Result<Expression, Mistake> {
        let (function, arguments) = match sign {
            "or" => (Function::Or, vec![left, right]),
            "and" => (Function::And, vec![left, right]),
            "<" => (Function::Less, vec![left, right]),
            "<=" => (Function::LessOrEqual, vec![left, right]),
            ">" => (Function::Less, vec![right, left]),
            ">=" => (Function::LessOrEqual, vec![right, left]),
            "==" => (Function::Equal, vec![left, right]),
            "!=" => {
                let equal = self.call(Function::Equal, vec![left, right], span)?;
                (Function::Not, vec![equal])
            }
            "+" => (Function::Add, vec![left, right]),
            "-" => (Function::Subtract, vec![left, right]),
            "*" => (Function::Multiply, vec![left, right]),
            "/" => (Function::Divide, vec![left, right]),
            _ => (Function::Power, vec![left, right]),
        };
        self.call(function, arguments, span)
    }

    /// `a < b < c` would compare the truth of `a < b` with c, which nobody means.
    fn check_chain(&self, bound: u8) -> Result<(), Mistake> {
        match self.tokens.first() {
            Some(Lexeme { token: Token::Sign(sign), span })
                if bound == binding::COMPARISON && strength(sign).map(|(next, _)| next) == Some(bound) =>
            {
                let mistake = Mistake::new(span.clone(), "comparisons cannot be chained");
                Err(mistake.with_hint("write a < b and b < c"))
            }
            _ => Ok(()),
        }
    }

    fn operand(&mut self) -> Result<Expression, Mistake> {
        let Some(lexeme) = self.next() else {
            return Err(Mistake::new(self.end..self.end, "expected a number or a name, found the end"));
        };
        match lexeme.token {
            Token::Number(number) => Ok(number.into()),
            Token::Name(name) if self.next_is("(") => self.function(name, lexeme),
            Token::Name(name) => self.symbol(name, lexeme),
            Token::Sign("-") => match self.operation(binding::MINUS)? {
                Expression::Number(number) => Ok(Expression::Number(-number)),
                other => self.call(Function::Negate, vec![other], &lexeme.span),
            },
            Token::Sign("not") => {
                let negated = self.operation(binding::NOT)?;
                self.call(Function::Not, vec![negated], &lexeme.span)
            }
            Token::Sign("(") => {
                let inner = self.operation(0)?;
                self.close(lexeme)?;
                Ok(inner)
            }
            Token::Sign(sign) => {
                Err(Mistake::new(lexeme.span.clone(), format!("expected a number or a name, found `{sign}`")))
            }
        }
    }

    fn close(&mut self, open: &Lexeme<'_>) -> Result<(), Mistake> {
        match self.tokens.first() {
            Some(lexeme) if lexeme.is(")") => {
                self.next();
                Ok(())
            }
            Some(lexeme) => Err(self.misplaced(lexeme)),
            None => Err(Mistake::new(open.span.clone(), "this `(` is not closed")),
        }
    }

    /// A token that stands where an operator was expected.
    fn misplaced(&self, lexeme: &Lexeme<'_>) -> Mistake {
        let (found, hint) = match lexeme.token {
            Token::Number(number) => (number.to_string(), Some("a product is written a * b")),
            Token::Name(name) => (name.to_owned(), Some("a product is written a * b")),
            Token::Sign("(") => ("(".to_owned(), Some("a product is written a * b")),
            Token::Sign("=") => ("=".to_owned(), Some("a comparison is written a == b")),
            Token::Sign(sign) => (sign.to_owned(), None),
        };
        let mistake = Mistake::new(lexeme.span.clone(), format!("expected an operator, found `{found}`"));
        Mistake { hint: hint.map(str::to_owned), ..mistake }
    }

    /// What a name stands for. A name that cannot be used is noted, and reading goes on.
    fn symbol(&mut self, name: &str, lexeme: &Lexeme<'_>) -> Result<Expression, Mistake> {
        let Some(meaning) = self.scope.resolve(name) else {
            self.unknown(name, lexeme);
            return Ok(Expression::Number(0.0));
        };
        if let Some((what, hint)) = self.scope.refusal(&meaning) {
            let message = format!("`{name}` changes in time, and {what} must not");
            let mistake = Mistake::new(lexeme.span.clone(), message);
            self.mistakes.push(Mistake { hint: hint.map(str::to_owned), ..mistake });
        }
        self.count(meaning.operations(), &lexeme.span)?;
        Ok(meaning)
    }

    fn unknown(&mut self, name: &str, lexeme: &Lexeme<'_>) {
        let mistake = Mistake::new(lexeme.span.clone(), format!("`{name}` is not known"));
        let near = near_miss(name, self.scope.names());
        let hint = if FUNCTIONS.iter().any(|(function, _)| *function == name) {
            Some(format!("the function is written {name}(...)"))
        } else if let Some(near) = near {
            Some(format!("did you mean `{near}`?"))
        } else {
            self.scope.unknown_hint().map(str::to_owned)
        };
        self.mistakes.push(Mistake { hint, ..mistake });
    }

    /// A function, whose name and opening parenthesis are read.
    fn function(&mut self, name: &str, lexeme: &Lexeme<'_>) -> Result<Expression, Mistake> {
        let mut arguments = Vec::new();
        if !self.next_is(")") {
            arguments.push(self.operation(0)?);
            while self.next_is(",") {
                arguments.push(self.operation(0)?);
            }
            self.close(lexeme).map_err(|mistake| match mistake.span == lexeme.span {
                true => Mistake { message: format!("the `(` of `{name}` is not closed"), ..mistake },
                false => mistake,
            })?;
        }
        let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            self.no_function(name, lexeme);
            return Ok(Expression::Number(0.0));
        };
        if arguments.len() != function.arity() {
            let plural = if function.arity() == 1 { "" } else { "s" };
            let message =
                format!("`{name}` takes {} argument{plural}, found {}", function.arity(), arguments.len());
            self.mistakes.push(Mistake::new(lexeme.span.clone(), message));
            return Ok(Expression::Number(0.0));
        }
        self.call(*function, arguments, &lexeme.span)
    }

    fn no_function(&mut self, name: &str, lexeme: &Lexeme<'_>) {
        let known = FUNCTIONS.iter().map(|(known, _)| *known);
        let (message, hint) = if name == "log" {
            (
                "`log` has two meanings".to_owned(),
                "write ln for the natural logarithm, log10 for the one to base 10".to_owned(),
            )
        } else if self.scope.resolve(name).is_some() {
            (format!("`{name}` is not a function"), format!("a product is written {name} * (...)"))
        } else {
            let hint = match near_miss(name, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("functions: {}", known.collect::<Vec<_>>().join(", ")),
            };
            (format!("there is no function `{name}`"), hint)
        };
        self.mistakes.push(Mistake::new(lexeme.span.clone(), message).with_hint(hint));
    }
}
