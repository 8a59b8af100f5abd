//! `[model.network]`: reactions written in the problem file.

use counterpoise_networks::language::{self, Draft, Mistake, Names, near_miss};
use counterpoise_networks::{Counting, Expression, Network, Reaction, Symbol};

use super::super::keys;
use super::super::reading::{Place, Section, Value, Written, suggestion};
use super::observation::{self, Observed};
use super::{Ready, Surroundings, reach, ready};

/// What to do about a name that nobody knows.
const UNKNOWN: &str = "add it to [parameters] or model.network.constants";
const EXAMPLE: &str = "one a line, for example A + B -> C @ k";
/// Beyond this, whole numbers are not told apart.
const MOST_MOLECULES: f64 = 9_007_199_254_740_992.0;
const COUNTINGS: [(&str, Counting); 2] =
    [("combinations", Counting::Combinations), ("permutations", Counting::Permutations)];

/// The network of the section, unless a mistake leaves none.
pub(super) fn read(mut section: Section<'_>, surroundings: &Surroundings<'_>) -> Option<Ready> {
    section.only(&[keys::names(keys::NETWORK), keys::names(keys::OBSERVATION)].concat());
    let parameters = surroundings.parameters?;
    let before = section.mistakes().count();
    let mut names = read_names(&mut section, parameters);
    let counting = match section.has("mass_action") {
        true => section.named("mass_action", &COUNTINGS).map(|(_, counting)| counting),
        false => Some(Counting::default()),
    };
    let written = read_reactions(&mut section)?;
    let draft = Draft::read(&written.text);
    if draft.is_empty() {
        section.mistake("reactions", "there are no reactions", EXAMPLE.to_owned());
    }
    for (name, span) in draft.species() {
        let here = |mistake| vec![Mistake { span: span.clone(), ..mistake }];
        note_inside(names.species(name).map_err(here), &written, &mut section);
    }
    draft.guess(&mut names);
    let further = read_further_species(&mut section, &mut names);
    read_rules(&mut section, &mut names);
    let reactions = draft.reactions(&names, counting.unwrap_or_default(), UNKNOWN);
    let reactions = note_inside(reactions, &written, &mut section);
    let initial = read_initial(&mut section, &names, reactions.as_deref().unwrap_or_default());
    let observed = {
        let some: Vec<&str> = names.all_species().iter().take(12).map(String::as_str).collect();
        let known =
            format!("it is neither a species ({}) nor a rule, constant or parameter", some.join(", "));
        let (any, constant) = (names.scope().unknown(known), names.scope().unknown(UNKNOWN));
        let species = names.all_species().iter().enumerate();
        let species = species.map(|(at, name)| (name.clone(), Expression::species(at))).collect();
        observation::read(&mut section, species, (&any, constant))
    };
    let network = names.into_network(initial, reactions?);
    check_further_species(&mut section, (&network, &further), &observed, &draft);
    check_reach(&mut section, &network, &draft, &written);
    let (observation, simulation) = observed.complete()?;
    ready::complete(&mut section, (network, observation, simulation), parameters, before)
}

fn read_reactions(section: &mut Section<'_>) -> Option<Written> {
    if !section.has("reactions") {
        section.missing("reactions", EXAMPLE.to_owned());
    }
    if !matches!(section.value("reactions"), None | Some(Value::Text(_))) {
        let message = format!("`{}` must be one text", section.path("reactions"));
        section.mistake("reactions", message, format!("between three quotes \"\"\", {EXAMPLE}"));
        return None;
    }
    section.written("reactions")
}

/// Notes the mistakes of a text in quotes.
pub(super) fn note_inside<T>(
    result: Result<T, Vec<Mistake>>,
    written: &Written,
    section: &mut Section<'_>,
) -> Option<T> {
    result.map_err(|list| list.into_iter().for_each(|one| section.mistakes().add_inside(written, one))).ok()
}

/// Notes a name that cannot be used.
fn note_name(result: Result<(), Mistake>, place: Place, section: &mut Section<'_>) {
    if let Err(Mistake { message, hint, .. }) = result {
        section.mistakes().add(place, message, hint);
    }
}

/// Parameters and constants.
fn read_names(section: &mut Section<'_>, parameters: &[(String, Place)]) -> Names {
    let mut names = Names::default();
    for (name, place) in parameters {
        note_name(names.parameter(name), *place, section);
    }
    if let Some(mut constants) = section.section("constants") {
        for key in constants.keys() {
            let number = constants.number(&key).unwrap_or_default();
            let place = constants.key_place(&key);
            note_name(names.constant(&key, number), place, &mut constants);
        }
    }
    names
}

/// Species that `initial` adds to those of the reactions.
fn read_further_species(section: &mut Section<'_>, names: &mut Names) -> Vec<(String, Place)> {
    let mut further = Vec::new();
    if let Some(mut initial) = section.section("initial") {
        for key in initial.keys() {
            if !names.has_species(&key) {
                let place = initial.key_place(&key);
                note_name(names.species(&key), place, &mut initial);
                further.push((key, place));
            }
        }
    }
    further
}

/// Notes species that are given an amount and then play no part: a slip of the pen.
fn check_further_species(
    section: &mut Section<'_>,
    (network, further): (&Network, &[(String, Place)]),
    observed: &Observed,
    draft: &Draft<'_>,
) {
    let mut used = vec![false; network.species.len()];
    let mut see = |expression: &Expression| {
        expression.symbols(&mut |symbol| {
            if let Symbol::Species(at) = symbol {
                used[at] = true;
            }
        });
    };
    network.expressions(&mut see);
    observed.named.iter().for_each(see);
    for (name, place) in further {
        let at = network.species.iter().position(|species| species.name == *name);
        if at.is_some_and(|at| !used[at]) {
            let known = draft.species().iter().map(|(name, _)| *name);
            let message = format!("`{name}` is in no reaction, rate, rule or observable");
            section.mistakes().add(*place, message, suggestion(name, "species of the reactions", known));
        }
    }
}

/// Notes species that never come to be, so that a reaction never happens: a slip of the pen, or no initial amount.
fn check_reach(section: &mut Section<'_>, network: &Network, draft: &Draft<'_>, written: &Written) {
    let given = match section.value("initial") {
        Some(Value::Table(table)) => {
            network.species.iter().map(|one| table.get(&one.name).is_some()).collect()
        }
        // A mistake of its own, of which this would be an echo.
        Some(_) => return,
        None => vec![false; network.species.len()],
    };
    for (species, reaction) in reach::never_made(network, &given) {
        let (name, reaction) = (&network.species[species].name, &network.reactions[reaction].name);
        let Some((_, span)) = draft.species().iter().find(|(known, _)| known == name) else { continue };
        let reaction = reaction.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = format!("there is never any `{name}`, so `{reaction}` never happens");
        let others = network.species.iter().map(|one| one.name.as_str()).filter(|other| other != name);
        // Of short names every other is a near miss.
        let alike = |near: &&str| name.chars().count() > 2 || near.eq_ignore_ascii_case(name);
        let near =
            near_miss(name, others).filter(alike).map(|near| format!("did you mean `{near}`? If not, "));
        let hint = format!("{}give it an amount in {}", near.unwrap_or_default(), section.path("initial"));
        section.mistakes().add_inside(written, Mistake { span: span.clone(), message, hint: Some(hint) });
    }
}

/// Adds the rules, each of which may use those before it.
fn read_rules(section: &mut Section<'_>, names: &mut Names) {
    let Some(mut rules) = section.section("rules") else { return };
    for key in rules.keys() {
        let Some(written) = rules.written(&key) else { continue };
        let value = language::expression(&written.text, &names.scope().unknown(UNKNOWN));
        let value = value.map_err(|list| {
            let later = |one: &Mistake| rules.has(&written.text[one.span.clone()]);
            let told = |one: Mistake| match later(&one) {
                true => Mistake { hint: Some("a rule may use the rules before it".into()), ..one },
                false => one,
            };
            list.into_iter().map(told).collect()
        });
        // A name is taken even if its value has mistakes, so that its uses have none.
        let value = note_inside(value, &written, &mut rules).unwrap_or(Expression::Number(0.0));
        let place = rules.key_place(&key);
        note_name(names.rule(&key, value), place, &mut rules);
    }
}

/// What each species begins with.
fn read_initial(section: &mut Section<'_>, names: &Names, reactions: &[Reaction]) -> Vec<Expression> {
    let species = names.all_species();
    // What is no table was a mistake when the further species were looked for.
    let table = matches!(section.value("initial"), Some(Value::Table(_)));
    let Some(mut initial) = table.then(|| section.section("initial")).flatten() else {
        return vec![Expression::Number(0.0); species.len()];
    };
    let changes =
        |at: usize| reactions.iter().any(|one| one.changes.iter().any(|(changed, _)| *changed == at));
    let scope = names.scope().unknown(UNKNOWN).constant("an initial amount", None);
    let amount = |(at, name): (usize, &String)| {
        if let Some(Value::Text(_)) = initial.value(name) {
            let written = initial.written(name)?;
            return note_inside(language::expression(&written.text, &scope), &written, &mut initial);
        }
        let number = initial.number_that(name, "a number from 0 to 2^53", |number| {
            (0.0..=MOST_MOLECULES).contains(&number)
        })?;
        if number.fract() != 0.0 && changes(at) {
            let message = format!(
                "`{}` must be a whole number, found {number}: reactions change `{name}`",
                initial.path(name)
            );
            initial.mistake(name, message, None);
        }
        Some(Expression::Number(number))
    };
    species.iter().enumerate().map(amount).map(|amount| amount.unwrap_or(Expression::Number(0.0))).collect()
}
