//! rebop: its macro, which compiles each network, and its form for networks made at run time.

use cpu_time::ThreadTime;
use rebop::define_system;
use rebop::gillespie::{Gillespie, Rate};

use super::model::Model;
use super::{Contender, Turn};

define_system! {
    k;
    Death { a }
    r1: a => @ k
}

// Its propensity for two of one species is k n (n - 1): `pair` is half of our k3.
define_system! {
    decay convert pair split;
    Dimerization { s1, s2, s3 }
    r1: s1 => @ decay
    r2: s2 => s3 @ convert
    r3: 2 s1 => s2 @ pair
    r4: s2 => 2 s1 @ split
}

define_system! {
    k;
    Diffusion { s1, s2, s3, s4, s5, s6, s7, s8 }
    r1: s1 => s2 @ k
    l1: s2 => s1 @ k
    r2: s2 => s3 @ k
    l2: s3 => s2 @ k
    r3: s3 => s4 @ k
    l3: s4 => s3 @ k
    r4: s4 => s5 @ k
    l4: s5 => s4 @ k
    r5: s5 => s6 @ k
    l5: s6 => s5 @ k
    r6: s6 => s7 @ k
    l6: s7 => s6 @ k
    r7: s7 => s8 @ k
    l7: s8 => s7 @ k
}

define_system! {
    k;
    Chain {
        s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15, s16, s17, s18, s19, s20, s21,
        s22, s23, s24, s25, s26, s27, s28, s29, s30, s31, s32, s33, s34, s35, s36, s37, s38, s39, s40, s41,
        s42, s43, s44, s45, s46, s47, s48, s49, s50
    }
    r1: s1 => s2 @ k
    r2: s2 => s3 @ k
    r3: s3 => s4 @ k
    r4: s4 => s5 @ k
    r5: s5 => s6 @ k
    r6: s6 => s7 @ k
    r7: s7 => s8 @ k
    r8: s8 => s9 @ k
    r9: s9 => s10 @ k
    r10: s10 => s11 @ k
    r11: s11 => s12 @ k
    r12: s12 => s13 @ k
    r13: s13 => s14 @ k
    r14: s14 => s15 @ k
    r15: s15 => s16 @ k
    r16: s16 => s17 @ k
    r17: s17 => s18 @ k
    r18: s18 => s19 @ k
    r19: s19 => s20 @ k
    r20: s20 => s21 @ k
    r21: s21 => s22 @ k
    r22: s22 => s23 @ k
    r23: s23 => s24 @ k
    r24: s24 => s25 @ k
    r25: s25 => s26 @ k
    r26: s26 => s27 @ k
    r27: s27 => s28 @ k
    r28: s28 => s29 @ k
    r29: s29 => s30 @ k
    r30: s30 => s31 @ k
    r31: s31 => s32 @ k
    r32: s32 => s33 @ k
    r33: s33 => s34 @ k
    r34: s34 => s35 @ k
    r35: s35 => s36 @ k
    r36: s36 => s37 @ k
    r37: s37 => s38 @ k
    r38: s38 => s39 @ k
    r39: s39 => s40 @ k
    r40: s40 => s41 @ k
    r41: s41 => s42 @ k
    r42: s42 => s43 @ k
    r43: s43 => s44 @ k
    r44: s44 => s45 @ k
    r45: s45 => s46 @ k
    r46: s46 => s47 @ k
    r47: s47 => s48 @ k
    r48: s48 => s49 @ k
    r49: s49 => s50 @ k
}

/// Defines `fn $name(model, count) -> Turn` for one compiled network.
macro_rules! timed {
    ($name:ident, $system:expr, [$($species:ident),+]) => {
        fn $name(model: &Model, seed: u64, count: usize) -> Turn {
            let mut system = $system(&model.constants);
            system.seed(seed);
            let mut turn = Turn::new(model.species.len());
            let mut record = vec![0.0; model.species.len() * model.times.len()];
            let clock = ThreadTime::now();
            for _ in 0..count {
                let mut initial = model.initial.iter();
                $(system.$species = initial.next().map_or(0, |&n| n as isize);)+
                system.t = 0.0;
                let mut rest = &mut record[..];
                for &time in &model.times {
                    system.advance_until(time);
                    let (row, after) = std::mem::take(&mut rest).split_at_mut(model.species.len());
                    row.copy_from_slice(&[$(system.$species as f64),+]);
                    rest = after;
                }
                turn.add(&std::hint::black_box(&record)[record.len() - model.species.len()..]);
            }
            turn.seconds = clock.elapsed().as_secs_f64();
            turn
        }
    };
}

timed!(death, |k: &[f64]| Death::with_parameters(k[0]), [a]);
timed!(dimerization, |k: &[f64]| Dimerization::with_parameters(k[0], k[1], k[2] / 2.0, k[3]), [s1, s2, s3]);
timed!(diffusion, |k: &[f64]| Diffusion::with_parameters(k[0]), [s1, s2, s3, s4, s5, s6, s7, s8]);
timed!(
    chain,
    |k: &[f64]| Chain::with_parameters(k[0]),
    [
        s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15, s16, s17, s18, s19, s20, s21, s22,
        s23, s24, s25, s26, s27, s28, s29, s30, s31, s32, s33, s34, s35, s36, s37, s38, s39, s40, s41, s42,
        s43, s44, s45, s46, s47, s48, s49, s50
    ]
);

/// The network compiled by the macro.
pub struct Compiled<'a> {
    model: &'a Model,
    turns: u64,
}

impl<'a> Compiled<'a> {
    pub fn new(model: &'a Model) -> Self {
        Self { model, turns: 0 }
    }
}

impl Contender for Compiled<'_> {
    fn name(&self) -> &'static str {
        "rebop-macro"
    }

    fn turn(&mut self, count: usize) -> anyhow::Result<Turn> {
        self.turns += 1;
        let run = match self.model.name {
            "death" => death,
            "dimerization" => dimerization,
            "diffusion" => diffusion,
            _ => chain,
        };
        Ok(run(self.model, self.turns, count))
    }
}

/// The network made at run time.
pub struct Interpreted<'a> {
    model: &'a Model,
    system: Gillespie,
}

fn system(model: &Model) -> Gillespie {
    let mut system = Gillespie::new_with_seed(initial(model), true, 1);
    for step in &model.reactions {
        let picks = step.picks();
        let halves = picks.iter().filter(|pick| pick.1 == 2).count() as i32;
        let constant = model.constants[step.constant] * 0.5f64.powi(halves);
        let picks: Vec<(u32, u32)> = picks.iter().map(|&(species, times)| (species as u32, times)).collect();
        system.add_reaction(Rate::lma_sparse(constant, picks), step.differences(model.species.len()));
    }
    system
}

fn initial(model: &Model) -> Vec<isize> {
    model.initial.iter().map(|&count| count as isize).collect()
}

impl<'a> Interpreted<'a> {
    pub fn new(model: &'a Model) -> Self {
        Self { model, system: system(model) }
    }
}

impl Contender for Interpreted<'_> {
    fn name(&self) -> &'static str {
        "rebop-run-time"
    }

    fn turn(&mut self, count: usize) -> anyhow::Result<Turn> {
        let (species, initial) = (self.model.species.len(), initial(self.model));
        let mut turn = Turn::new(species);
        let mut record = vec![0.0; species * self.model.times.len()];
        let clock = ThreadTime::now();
        for _ in 0..count {
            self.system.set_species(&initial);
            self.system.set_time(0.0);
            for (row, &time) in record.chunks_exact_mut(species).zip(&self.model.times) {
                self.system.advance_until(time);
                row.iter_mut().enumerate().for_each(|(s, n)| *n = self.system.get_species(s) as f64);
            }
            turn.add(&std::hint::black_box(&record)[record.len() - species..]);
        }
        turn.seconds = clock.elapsed().as_secs_f64();
        Ok(turn)
    }
}

/// Mean number of reactions in a simulation, counted over some.
pub fn events(model: &Model) -> f64 {
    let to = model.times[model.times.len() - 1];
    let (mut system, mut simulations, mut events) = (system(model), 0.0, 0.0);
    while events < 1e6 {
        system.set_species(initial(model));
        system.set_time(0.0);
        while system.get_time() < to {
            system.advance_one_reaction_or_until(to);
            events += 1.0;
        }
        // The last step only reached the end.
        events -= 1.0;
        simulations += 1.0;
    }
    events / simulations
}
