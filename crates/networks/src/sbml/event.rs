//! Events as a document writes them.

use super::formula::Formula;
use super::quantity::Kind;
use super::reader::Reader;
use super::xml::{Node, child};

/// An event without delay.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    /// Its id, or its place among the events.
    pub(super) name: String,
    /// Its condition.
    pub(super) trigger: Formula,
    /// Whether the condition counts as true before the start.
    pub(super) initially: bool,
    /// Whether it happens although its condition has become false.
    pub(super) persistent: bool,
    /// Its priority.
    pub(super) priority: Option<Formula>,
    /// Whether values are those of the moment of the trigger.
    pub(super) values_from_trigger_time: bool,
    /// What is set, and to what formulas mean by it.
    pub(super) assignments: Vec<(usize, Formula)>,
}

impl<'a> Reader<'a> {
    /// Reads events.
    pub(super) fn events(&mut self, model: Node<'a>) -> Vec<Event> {
        let nodes = self.list(model, "listOfEvents", "event");
        nodes.into_iter().enumerate().filter_map(|(at, node)| self.event(at, node)).collect()
    }

    fn event(&mut self, at: usize, node: Node<'a>) -> Option<Event> {
        let name = node.attribute("id").map_or_else(|| format!("event {}", at + 1), str::to_owned);
        if let Some(delay) = child(node, "delay") {
            self.refuse(
                delay,
                "events with a delay are not supported: remove the delay, or make it a chain of reactions",
            );
        }
        let values_from_trigger_time = if self.level > 2 {
            self.flag(node, "useValuesFromTriggerTime", true)
        } else {
            self.optional_flag(node, "useValuesFromTriggerTime", true)
        };
        let priority = child(node, "priority").map(|priority| self.formula(priority, None));
        let assignments = self.event_assignments(node, &name);
        let Some(trigger) = child(node, "trigger") else {
            self.warn(node, "it has no trigger and never happens");
            return None;
        };
        // Level 2 has neither attribute, and means true by both.
        let (initially, persistent) = if self.level > 2 {
            (self.flag(trigger, "initialValue", true), self.flag(trigger, "persistent", true))
        } else {
            (true, true)
        };
        let trigger = self.formula(trigger, None)?;
        let priority = match priority {
            Some(priority) => Some(priority?),
            None => None,
        };
        Some(Event { name, trigger, initially, persistent, priority, values_from_trigger_time, assignments })
    }

    fn event_assignments(&mut self, node: Node<'a>, event: &str) -> Vec<(usize, Formula)> {
        let mut assignments: Vec<(usize, Formula)> = Vec::new();
        for assignment in self.list(node, "listOfEventAssignments", "eventAssignment") {
            let (target, formula) = (self.reference(assignment, "variable"), self.formula(assignment, None));
            let Some((target, formula)) = target.zip(formula) else { continue };
            if !self.may_set(assignment, target) {
                continue;
            }
            if assignments.iter().any(|(other, _)| *other == target) {
                self.refuse(assignment, "the event sets it twice");
                continue;
            }
            self.quantities.all[target].event = Some(event.to_owned());
            assignments.push((target, formula));
        }
        // Whether the concentration is meant by the old or by the new size is not for us to guess.
        let both = assignments.iter().any(|(target, _)| {
            let place = match self.quantities.all[*target].kind {
                Kind::Species { compartment, concentration: true, .. } => compartment,
                _ => return false,
            };
            assignments.iter().any(|(other, _)| *other == place)
        });
        if both {
            self.refuse(
                node,
                "it sets a concentration and the size of its compartment at once, which is ambiguous: set \
                 hasOnlySubstanceUnits=\"true\" and the amount",
            );
        }
        assignments
    }
}
