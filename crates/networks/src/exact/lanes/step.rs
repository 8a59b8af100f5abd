//! One event of every lane: waiting times, propensities, which reaction fires and what it changes.

use std::array;

use counterpoise_core::fours::Fours;

use super::super::logarithm::minus_ln;
use super::super::wide::Wide;
use super::Block;
use crate::compile::{Balance, Compiled, Term};
use crate::expression::program::{self, ONE};

/// Reactions from which lanes react one by one faster than abreast; measured on the models of `bench simulators`.
const MANY: usize = 16;

impl<const Q: usize> Block<'_, Q> {
    /// Takes every lane to its next event and through it, and says which trajectories ended before.
    #[inline(always)]
    pub(super) fn step<F: Fours>(&mut self, fours: F) -> u32 {
        let Compiled { at_events, terms, doubtful, watched, .. } = self.plan.compiled;
        // Draws come first: they need not wait for what the last reactions wrote.
        let mut waits = self.rng.uniforms(fours);
        for wait in &mut waits {
            *wait = minus_ln(fours, *wait);
        }
        let marks = if terms.len() > 1 { self.rng.uniforms(fours) } else { [fours.splat(0.0); Q] };
        program::run(at_events, &mut self.registers);
        for &register in doubtful {
            for value in self.registers[register as usize].as_flattened_mut() {
                *value = if *value >= 0.0 { *value } else { f64::NAN };
            }
        }
        let total = propensities(fours, terms, &self.registers, &mut self.sums);
        let ceiling = fours.splat(self.plan.limits.ceiling);
        // How many of the checks each lane passes: whether it can go on, and whether no observation is due.
        let (mut fit, mut early, mut passed) =
            ([fours.splat_bits(0); Q], [fours.splat_bits(0); Q], fours.splat_bits(0));
        for q in 0..Q {
            // Infinite when nothing can happen any more.
            let wait = fours.divide(waits[q], total[q]);
            let now = fours.add(fours.load(&self.now[q]), wait);
            self.now[q] = fours.store(now);
            fit[q] = fours.count(fit[q], ceiling, total[q]);
            early[q] = fours.count(early[q], fours.load(&self.due[q]), now);
        }
        if self.dense {
            self.log.note(self.steps, &self.now, &self.registers);
        }
        for &register in watched {
            let amounts = &self.registers[register as usize];
            for q in 0..Q {
                fit[q] = fours.count(fit[q], fours.load(&amounts[q]), fours.splat(0.0));
            }
        }
        for q in 0..Q {
            passed = fours.sum(passed, fours.sum(fit[q], early[q]));
        }
        let checks = 1 + watched.len() as u64;
        let mut ended = 0;
        if fours.store_bits(passed) != [(checks + 1) * Q as u64; 4] {
            ended = self.look(
                &fit.map(|fit| fours.store_bits(fit)),
                checks,
                &early.map(|early| fours.store_bits(early)),
            );
        }
        if terms.len() > 1 {
            let marks = array::from_fn(|q| fours.multiply(marks[q], total[q]));
            if terms.len() < MANY { self.react_abreast(fours, marks) } else { self.react_apart(fours, marks) }
        } else {
            self.sums.fill(Wide::splat(1.0));
            self.balance(fours);
        }
        self.steps += 1;
        ended
    }

    /// Reaction by reaction, in all lanes at once: best while there are few.
    #[inline(always)]
    fn react_abreast<F: Fours>(&mut self, fours: F, marks: [F::Four; Q]) {
        let Some((last, others)) = self.sums.split_last_mut() else { return };
        // Whether the mark lies above the sums before the reaction at hand.
        let mut above = [fours.splat(1.0); Q];
        for sums in others {
            for q in 0..Q {
                let beyond = fours.at_least(marks[q], fours.load(&sums[q]));
                sums[q] = fours.store(fours.subtract(above[q], beyond));
                above[q] = beyond;
            }
        }
        // A uniform variate below 1 keeps the mark below the total: what is above all others is in the last.
        *last = Wide(above.map(|above| fours.store(above)));
        self.balance(fours);
    }

    /// Adds to each species what the reactions that fire change it by.
    #[inline(always)]
    fn balance<F: Fours>(&mut self, fours: F) {
        for Balance { register, changes } in &self.plan.compiled.balances {
            let amounts = &mut self.registers[*register as usize];
            let mut sums: [F::Four; Q] = array::from_fn(|q| fours.load(&amounts[q]));
            for &(reaction, by) in changes {
                let fires = &self.sums[reaction];
                for q in 0..Q {
                    let gain = fours.multiply(fours.load(&fires[q]), fours.splat(by));
                    sums[q] = fours.add(sums[q], gain);
                }
            }
            *amounts = Wide(sums.map(|sum| fours.store(sum)));
        }
    }

    /// Lane by lane, once the sums below each mark are counted: best when there are many.
    #[inline(always)]
    fn react_apart<F: Fours>(&mut self, fours: F, marks: [F::Four; Q]) {
        let Compiled { uniform_changes, changes_each, .. } = self.plan.compiled;
        let Some((_, others)) = self.sums.split_last() else { return };
        let mut counts = [fours.splat_bits(0); Q];
        for sums in others {
            for q in 0..Q {
                counts[q] = fours.count(counts[q], marks[q], fours.load(&sums[q]));
            }
        }
        let reactions = counts.map(|count| fours.store_bits(count));
        for q in 0..Q {
            for k in 0..4 {
                let first = reactions[q][k] as usize * changes_each;
                for change in &uniform_changes[first..first + changes_each] {
                    self.registers[change.register as usize][q][k] += change.by;
                }
            }
        }
    }
}

/// The sums of the propensities up to each reaction, and the last of them.
#[inline(always)]
fn propensities<F: Fours, const Q: usize>(
    fours: F,
    terms: &[Term],
    registers: &[Wide<Q>],
    sums: &mut [Wide<Q>],
) -> [F::Four; Q] {
    let mut sum = [fours.splat(0.0); Q];
    for (term, sums) in terms.iter().zip(sums) {
        let (c, i) = (&registers[term.c as usize], &registers[term.i as usize]);
        let mut rates: [F::Four; Q] =
            array::from_fn(|q| fours.multiply(fours.load(&c[q]), fours.load(&i[q])));
        if term.j != ONE {
            let (j, less) = (&registers[term.j as usize], fours.splat(term.less));
            for q in 0..Q {
                rates[q] = fours.multiply(rates[q], fours.subtract(fours.load(&j[q]), less));
            }
        }
        for q in 0..Q {
            sum[q] = fours.add(sum[q], rates[q]);
            sums[q] = fours.store(sum[q]);
        }
    }
    sum
}
