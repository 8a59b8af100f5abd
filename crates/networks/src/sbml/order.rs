//! An order in which every quantity follows from those before it.

use super::formula::value;
use super::quantity::{Kind, Quantities, Quantity};
use crate::Symbol;

/// The numbers of all quantities, each after those it follows from; or the numbers of a circle.
pub(super) fn order(quantities: &Quantities) -> Result<Vec<usize>, Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; quantities.all.len()];
    let mut order = Vec::with_capacity(states.len());
    // Quantities that are open, each with those it still waits for: a stack of our own, since chains may be long.
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let needed = |number: usize| {
        let mut needed =
            quantities.all[number].definition().map_or(Vec::new(), |formula| quantities.needed(&formula));
        needed.reverse();
        needed
    };
    for first in 0..states.len() {
        if states[first] == State::New {
            states[first] = State::Open;
            path.push((first, needed(first)));
        }
        while let Some((number, waiting)) = path.last_mut() {
            match waiting.pop() {
                None => {
                    states[*number] = State::Done;
                    order.push(*number);
                    path.pop();
                }
                Some(next) => match states[next] {
                    State::Done => {}
                    State::New => {
                        states[next] = State::Open;
                        path.push((next, needed(next)));
                    }
                    State::Open => {
                        let circle = path.iter().map(|(number, _)| *number);
                        return Err(circle.skip_while(|number| *number != next).collect());
                    }
                },
            }
        }
    }
    Ok(order)
}

/// The values of the quantities that never change and that the file alone decides.
pub(super) fn constants(quantities: &Quantities, order: &[usize]) -> Vec<Option<f64>> {
    let mut constants = vec![None; quantities.all.len()];
    for &number in order {
        let quantity = &quantities.all[number];
        let Quantity { kind, rule: None, event: None, .. } = quantity else { continue };
        if matches!(kind, Kind::Species { .. } | Kind::Rate) {
            continue;
        }
        let Some(start) = quantity.start() else { continue };
        let of = |symbol| match symbol {
            Symbol::Parameter(number) => constants[number],
            _ => None,
        };
        let mut known = true;
        start.symbols(&mut |symbol| known &= of(symbol).is_some());
        if known {
            constants[number] = Some(value(&start, &|symbol| of(symbol).unwrap_or(f64::NAN)));
        }
    }
    constants
}
