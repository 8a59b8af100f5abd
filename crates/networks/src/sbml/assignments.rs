//! Initial assignments and rules.

use super::quantity::{Kind, Start};
use super::reader::Reader;
use super::xml::{Node, child, children, shown};

impl<'a> Reader<'a> {
    /// What quantities are at the start, and what they always are.
    pub(super) fn assignments(&mut self, model: Node<'a>) {
        for node in self.list(model, "listOfInitialAssignments", "initialAssignment") {
            let (target, formula) = (self.reference(node, "symbol"), self.formula(node, None));
            let Some((target, formula)) = target.zip(formula) else { continue };
            let quantity = &mut self.quantities.all[target];
            if matches!(quantity.kind, Kind::Rate | Kind::Local) {
                self.refuse(
                    node,
                    "expected the id of a species, compartment, parameter or species reference",
                );
            } else if matches!(quantity.start, Start::Assigned(_)) {
                self.refuse(node, "there is another initial assignment to this symbol");
            } else {
                quantity.start = Start::Assigned(formula);
            }
        }
        for node in child(model, "listOfRules").into_iter().flat_map(children) {
            match node.tag_name().name() {
                "assignmentRule" => self.rule(node),
                "rateRule" => self.refuse(
                    node,
                    "rate rules are not supported, since nothing changes continuously in a jump process: write \
                     reactions instead",
                ),
                "algebraicRule" => {
                    let reason = "algebraic rules are not supported: solve it for a variable, as an assignmentRule";
                    self.refuse(node, reason);
                }
                other => self.refuse(node, format!("expected rules in listOfRules, found <{}>", shown(other))),
            }
        }
    }

    fn rule(&mut self, node: Node<'a>) {
        let (target, formula) = (self.reference(node, "variable"), self.formula(node, None));
        let Some((target, formula)) = target.zip(formula) else { return };
        if !self.may_set(node, target) {
            return;
        }
        let quantity = &mut self.quantities.all[target];
        if matches!(quantity.start, Start::Assigned(_)) {
            self.refuse(node, "there is an initial assignment to it as well: keep one of the two");
        } else {
            quantity.rule = Some(formula);
        }
    }

    /// Whether a rule or an event may set a quantity; if not, says why.
    pub(super) fn may_set(&mut self, node: Node<'_>, target: usize) -> bool {
        let quantity = &self.quantities.all[target];
        let reason = match quantity.kind {
            Kind::Stoichiometry => "a stoichiometry that changes is not supported".to_owned(),
            Kind::Rate | Kind::Local => "expected the id of a species, compartment or parameter".to_owned(),
            _ if quantity.constant => {
                format!("the {} is constant: set constant=\"false\"", quantity.element())
            }
            _ if quantity.rule.is_some() => {
                format!("the {} has an assignment rule, which nothing else may change", quantity.element())
            }
            _ => return true,
        };
        self.refuse(node, reason);
        false
    }
}
