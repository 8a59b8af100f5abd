//! Reactions that can never happen, because nothing begins with or makes what they need.

use counterpoise_networks::{Expression, Network, Rate, Reaction};

/// Species that stand in the way of a reaction for ever, each with the first reaction that it stops. `present` says
/// which species the file gives an amount, be it 0.
pub(super) fn never_made(network: &Network, present: &[bool]) -> Vec<(usize, usize)> {
    let mut there: Vec<bool> =
        network.species.iter().zip(present).map(|(one, &given)| given || begins(&one.initial)).collect();
    let mut waiting: Vec<usize> = (0..network.reactions.len()).collect();
    loop {
        let (stopped, possible): (Vec<usize>, Vec<usize>) = waiting
            .iter()
            .partition(|&&at| needs(&network.reactions[at]).iter().any(|&species| !there[species]));
        if possible.is_empty() {
            break;
        }
        for at in possible {
            let made = network.reactions[at].changes.iter().filter(|(_, change)| *change > 0.0);
            made.for_each(|&(species, _)| there[species] = true);
        }
        waiting = stopped;
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in waiting {
        for species in needs(&network.reactions[at]) {
            if !there[species] && found.iter().all(|&(known, _)| known != species) {
                found.push((species, at));
            }
        }
    }
    found
}

fn begins(initial: &Expression) -> bool {
    *initial != Expression::Number(0.0)
}

/// What a reaction cannot do without. A rate in braces may be positive without anything but what it uses up.
fn needs(reaction: &Reaction) -> Vec<usize> {
    match &reaction.rate {
        Rate::MassAction { reactants, .. } => reactants.iter().map(|&(species, _)| species).collect(),
        Rate::Expression(_) => {
            let used = reaction.changes.iter().filter(|(_, change)| *change < 0.0);
            used.map(|&(species, _)| species).collect()
        }
    }
}
