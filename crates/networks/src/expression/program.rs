//! Expressions compiled to a flat list of operations on registers.

use std::collections::{BTreeMap, BTreeSet};

use super::{Expression, Function, Symbol};

/// Which number of the register file.
pub(crate) type Register = u32;

/// The register that holds 1.
pub(crate) const ONE: Register = 0;

/// One operation; a function takes as many registers as it has arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) function: Function,
    pub(crate) to: Register,
    pub(crate) from: [Register; 3],
}

/// When a register's value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// Always.
    Always,
    /// Once the parameters are.
    WithParameters,
    /// Once the state is.
    WithState,
    /// Only at a moment: it changes although the state does not.
    InTime,
}

/// Builds a register file and the operations that fill it. Equal expressions share a register.
///
/// Registers in order: 1, the parameters, the species, the time, then numbers and results as they come.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    parameters: usize,
    species: usize,
    rules: Vec<Register>,
    known: Vec<Known>,
    values: Vec<f64>,
    numbers: BTreeMap<u64, Register>,
    results: BTreeMap<(Function, [Register; 3]), Register>,
    operations: Vec<Operation>,
    /// Which operation makes each register, where one does.
    makers: Vec<Option<u32>>,
}

impl Compiler {
    pub(crate) fn new(parameters: usize, species: usize) -> Self {
        let mut known = vec![Known::Always];
        known.extend(std::iter::repeat_n(Known::WithParameters, parameters));
        known.extend(std::iter::repeat_n(Known::WithState, species));
        known.push(Known::InTime);
        let mut values = vec![0.0; known.len()];
        values[ONE as usize] = 1.0;
        let numbers = BTreeMap::from([(1f64.to_bits(), ONE)]);
        let (rules, results, operations) = (Vec::new(), BTreeMap::new(), Vec::new());
        let makers = vec![None; known.len()];
        Self { parameters, species, rules, known, values, numbers, results, operations, makers }
    }

    /// The register of the first parameter.
    pub(crate) const FIRST_PARAMETER: Register = 1;

    /// The register of a species.
    pub(crate) fn species(&self, index: usize) -> Register {
        (1 + self.parameters + index) as Register
    }

    /// The register of the time.
    pub(crate) fn time(&self) -> Register {
        (1 + self.parameters + self.species) as Register
    }

    /// When the value of a register is known.
    pub(crate) fn known(&self, register: Register) -> Known {
        self.known[register as usize]
    }

    /// The registers as they are before anything is computed.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Adds the next rule; expressions may name it from now on.
    pub(crate) fn rule(&mut self, value: &Expression) {
        let register = self.expression(value);
        self.rules.push(register);
    }

    /// The register that will hold the value of an expression.
    pub(crate) fn expression(&mut self, expression: &Expression) -> Register {
        match expression {
            Expression::Number(number) => self.number(*number),
            Expression::Symbol(Symbol::Parameter(index)) => Self::FIRST_PARAMETER + *index as Register,
            Expression::Symbol(Symbol::Species(index)) => self.species(*index),
            Expression::Symbol(Symbol::Rule(index)) => self.rules[*index],
            Expression::Symbol(Symbol::Time) => self.time(),
            Expression::Call(function, arguments) => {
                let mut from = [ONE; 3];
                for (register, argument) in from.iter_mut().zip(arguments) {
                    *register = self.expression(argument);
                }
                self.call(*function, from)
            }
        }
    }

    /// The register of a number.
    pub(crate) fn number(&mut self, number: f64) -> Register {
        if let Some(&register) = self.numbers.get(&number.to_bits()) {
            return register;
        }
        let register = self.register(Known::Always, number);
        self.numbers.insert(number.to_bits(), register);
        register
    }

    fn register(&mut self, known: Known, value: f64) -> Register {
        self.known.push(known);
        self.values.push(value);
        self.makers.push(None);
        (self.values.len() - 1) as Register
    }

    /// The register that will hold the value of a function of registers.
    pub(crate) fn call(&mut self, function: Function, mut from: [Register; 3]) -> Register {
        from[function.arity()..].fill(ONE);
        match function {
            // By parts, of which small whole powers are products.
            Function::Hill => {
                let [x, k, n] = from;
                let ratio = self.call(Function::Divide, [k, x, ONE]);
                let power = self.call(Function::Power, [ratio, n, ONE]);
                let sum = self.call(Function::Add, [ONE, power, ONE]);
                return self.call(Function::Divide, [ONE, sum, ONE]);
            }
            Function::Power if self.known(from[1]) == Known::Always => {
                if let Some(product) = self.small_power(from[0], self.values[from[1] as usize]) {
                    return product;
                }
            }
            _ => {}
        }
        if let Some(&register) = self.results.get(&(function, from)) {
            return register;
        }
        let known = from.iter().map(|&register| self.known(register)).max().unwrap_or(Known::Always);
        if known == Known::Always {
            let value = function.value(from.map(|register| self.values[register as usize]));
            return self.number(value);
        }
        let to = self.register(known, 0.0);
        self.makers[to as usize] = Some(self.operations.len() as u32);
        self.operations.push(Operation { function, to, from });
        self.results.insert((function, from), to);
        to
    }

    /// A small whole power as the products that [`Function::value`] makes of it.
    fn small_power(&mut self, base: Register, exponent: f64) -> Option<Register> {
        let mut times = |a, b| self.call(Function::Multiply, [a, b, ONE]);
        match exponent {
            1.0 => Some(base),
            2.0 => Some(times(base, base)),
            3.0 => {
                let square = times(base, base);
                Some(times(square, base))
            }
            4.0 => {
                let square = times(base, base);
                Some(times(square, square))
            }
            _ => None,
        }
    }

    /// The operations, in order, that `registers` need once the parameters are known.
    pub(crate) fn with_parameters(&self) -> Vec<Operation> {
        let early = |operation: &&Operation| self.known(operation.to) == Known::WithParameters;
        self.operations.iter().filter(early).copied().collect()
    }

    /// The operations, in order, that give `registers` from a state and a time.
    pub(crate) fn with_state(&self, registers: &[Register]) -> Vec<Operation> {
        let (mut needed, mut open) = (BTreeSet::new(), registers.to_vec());
        while let Some(register) = open.pop() {
            if self.known(register) >= Known::WithState
                && let Some(maker) = self.makers[register as usize]
                && needed.insert(maker)
            {
                open.extend(self.operations[maker as usize].from);
            }
        }
        needed.into_iter().map(|maker| self.operations[maker as usize]).collect()
    }

    /// The species that the values of `registers` depend on, ascending.
    pub(crate) fn species_behind(&self, registers: &[Register]) -> Vec<usize> {
        let mut read: Vec<Register> = registers.to_vec();
        read.extend(self.with_state(registers).iter().flat_map(|operation| operation.from));
        let first = self.species(0) as usize;
        let species = read.iter().map(|&register| register as usize);
        let mut species: Vec<usize> =
            species.filter(|register| (first..first + self.species).contains(register)).collect();
        species.sort_unstable();
        species.dedup();
        species.into_iter().map(|register| register - first).collect()
    }
}

/// What a register holds: the number of one trajectory, or of each of several side by side.
pub(crate) trait Numbers: Copy {
    /// The values of a function.
    fn map(of: [Self; 3], f: impl Fn(f64, f64, f64) -> f64) -> Self;
}

impl Numbers for [f64; 1] {
    #[inline(always)]
    fn map([[a], [b], [c]]: [Self; 3], f: impl Fn(f64, f64, f64) -> f64) -> Self {
        [f(a, b, c)]
    }
}

/// Runs operations on registers.
#[inline(always)]
pub(crate) fn run<N: Numbers>(operations: &[Operation], registers: &mut [N]) {
    for Operation { function, to, from } in operations {
        let of = from.map(|register| registers[register as usize]);
        // The arithmetic that rates are made of becomes vector instructions; the rest goes lane by lane.
        registers[*to as usize] = match function {
            Function::Add => N::map(of, |a, b, _| a + b),
            Function::Subtract => N::map(of, |a, b, _| a - b),
            Function::Multiply => N::map(of, |a, b, _| a * b),
            Function::Divide => N::map(of, |a, b, _| a / b),
            Function::Negate => N::map(of, |a, _, _| -a),
            Function::Sqrt => N::map(of, |a, _, _| a.sqrt()),
            Function::Min => N::map(of, |a, b, _| Function::Min.value([a, b, b])),
            Function::Max => N::map(of, |a, b, _| Function::Max.value([a, b, b])),
            function => N::map(of, |a, b, c| function.value([a, b, c])),
        };
    }
}
