//! From a network and what is observed of it to a model that can be run.

use counterpoise_networks::language::{expression_text, reaction_text};
use counterpoise_networks::{
    Counting, Event, Expression, Method, Network, NoiseLaw, Observable, Observation, Rate, Reaction,
    Simulation,
};
use counterpoise_run::executor::Tolerance;
use serde_json::{Map, Value, json};

use super::super::reading::{Place, Section};
use super::observation::Course;
use super::{Ready, Series};

/// Makes the model, unless there are mistakes since `before`.
pub(super) fn complete(
    section: &mut Section<'_>,
    (network, observation, course): (Network, Observation, Course),
    parameters: &[(String, Place)],
    before: usize,
) -> Option<Ready> {
    for at in network.unused_parameters(&observation) {
        let name = &network.parameters[at];
        let place = parameters.iter().find(|(known, _)| known == name).map(|(_, place)| *place);
        let place = place.unwrap_or(section.place());
        let message = format!("the parameter `{name}` occurs nowhere in the model");
        section.mistakes().add(place, message, "use it, or remove it from [parameters]".to_owned());
    }
    // Only there a factor is left to a convention: the laws of SBML say all.
    let written = section.has("reactions");
    let (description, headline) =
        (describe(&network, &observation, course), headline(&network, course, written));
    let names = network.parameters.clone();
    let advice = course.max_events.is_none().then(|| {
        let path = section.path("max_events");
        format!(
            "{path} = ... would make hopeless parameters counted failures, at the price of conditioning the \
             prior on their absence"
        )
    });
    let series = Series {
        observables: observation.observables.iter().map(|one| one.name.clone()).collect(),
        times: observation.times.values().to_vec(),
    };
    let simulation = Simulation::new(network, observation, course.method, course.max_events);
    let simulation = simulation.map_err(|error| {
        let key = if section.has("simulator") { "simulator" } else { "reactions" };
        section.mistake(key, error.to_string(), None);
    });
    let simulation = simulation.ok().filter(|_| section.mistakes().count() == before)?;
    Some(Ready {
        statistics: simulation.statistics().to_vec(),
        simulator: Box::new(simulation),
        parameters: names,
        series: Some(series),
        description,
        headline: Some(headline),
        advice,
        tolerance: Tolerance::Any,
    })
}

fn counting(reaction: &Reaction) -> Option<&'static str> {
    match reaction.rate {
        Rate::MassAction { counting: Counting::Combinations, .. } => Some("combinations"),
        Rate::MassAction { counting: Counting::Permutations, .. } => Some("permutations"),
        Rate::Expression(_) => None,
    }
}

/// Whether a reaction takes several of one species: where the conventions of mass action differ.
fn takes_several(reaction: &Reaction) -> bool {
    match &reaction.rate {
        Rate::MassAction { reactants, .. } => reactants.iter().any(|&(_, count)| count > 1),
        Rate::Expression(_) => false,
    }
}

/// The model in one line, with the convention of mass action where it matters: a factor that others have otherwise.
fn headline(network: &Network, course: Course, written: bool) -> String {
    let counted = |count: usize, what: &str| match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "species") => format!("{count} species"),
        (count, what) => format!("{count} {what}s"),
    };
    let mut parts =
        vec![counted(network.reactions.len(), "reaction"), counted(network.species.len(), "species")];
    if !network.events.is_empty() {
        parts.push(counted(network.events.len(), "event"));
    }
    for (name, formula) in [("combinations", "k S (S - 1) / 2"), ("permutations", "k S (S - 1)")] {
        let matters = |one: &Reaction| written && counting(one) == Some(name) && takes_several(one);
        if network.reactions.iter().any(matters) {
            parts.push(format!("mass action by {name} ({formula} for S + S)"));
        }
    }
    parts.push(match course.method {
        Method::Direct => "direct method".into(),
        Method::TauLeaping { epsilon } => format!("tau-leaping with epsilon = {epsilon}"),
    });
    parts.extend(course.max_events.map(|most| format!("at most {most} events")));
    parts.join(", ")
}

/// All that determines what is simulated, in canonical form.
fn describe(network: &Network, observation: &Observation, course: Course) -> Value {
    let text = |expression: &Expression| json!(expression_text(expression, network));
    let map = |pairs: Vec<(&String, Value)>| {
        Value::Object(pairs.into_iter().map(|(name, value)| (name.clone(), value)).collect::<Map<_, _>>())
    };
    let reaction = |reaction: &Reaction| {
        let mut one = json!({ "reaction": reaction_text(reaction, network) });
        if let Some(counting) = counting(reaction) {
            one["mass_action"] = json!(counting);
        }
        one
    };
    let mut described = json!({
        "species": map(network.species.iter().map(|one| (&one.name, text(&one.initial))).collect()),
        "rules": map(network.rules.iter().map(|one| (&one.name, text(&one.value))).collect()),
        "reactions": network.reactions.iter().map(reaction).collect::<Vec<_>>(),
        "times": observation.times.values(),
        "observe": observation.observables.iter().map(|one| observable(one, network)).collect::<Vec<_>>(),
        "simulator": match course.method {
            Method::Direct => json!({ "rule": "direct" }),
            Method::TauLeaping { epsilon } => json!({ "rule": "tau-leaping", "epsilon": epsilon }),
        },
        "max_events": course.max_events,
    });
    if !network.events.is_empty() {
        let events: Vec<Value> = network.events.iter().map(|one| event(one, network)).collect();
        described["events"] = json!(events);
    }
    json!({ "network": described })
}

fn observable(observable: &Observable, network: &Network) -> Value {
    let mut one = json!({
        "name": observable.name,
        "value": expression_text(&observable.value, network),
        "once": observable.once,
    });
    if let Some(noise) = &observable.noise {
        let law = match noise.law {
            NoiseLaw::Normal => "normal",
            NoiseLaw::LogNormal => "log-normal",
            NoiseLaw::Poisson => "poisson",
        };
        one["noise"] = json!({ "law": law, "size": expression_text(&noise.size, network) });
    }
    one
}

fn event(event: &Event, network: &Network) -> Value {
    let text = |expression: &Expression| expression_text(expression, network);
    let assignment = |(species, value): &(usize, Expression)| json!({ "species": text(&Expression::species(*species)), "value": text(value) });
    json!({
        "trigger": text(&event.trigger),
        "initially": event.initially,
        "priority": event.priority.as_ref().map(text),
        "persistent": event.persistent,
        "values_from_trigger_time": event.values_from_trigger_time,
        "assignments": event.assignments.iter().map(assignment).collect::<Vec<_>>(),
    })
}
