//! MathML to formulas, with function definitions put in where they are called.

use std::collections::BTreeMap;

use super::formula::{Formula, GROUP, quantity};
use super::operators::{ADDED_DEPTH, Wrong, apply, copies};
use super::reader::Reader;
use super::xml::{Node, child, children, math, number, shown};
use crate::{Expression, Function, Symbol};

/// Nodes of one formula and of all together, and how deep a formula may be.
const MOST_NODES: usize = 100_000;
pub(super) const MOST_NODES_TOGETHER: usize = 5_000_000;
const MOST_DEPTH: usize = 600;
/// Elements and calls that may be open at once while reading.
const MOST_OPEN: usize = 400;

/// Avogadro's constant as SBML Level 3 fixes it.
const AVOGADRO: f64 = 6.022_141_79e23;

/// A formula with upper bounds on its nodes and its depth, known without walking it.
#[derive(Clone, Debug)]
struct Tree {
    formula: Formula,
    nodes: usize,
    depth: usize,
}

impl Tree {
    fn leaf(formula: impl Into<Formula>) -> Self {
        Self { formula: formula.into(), nodes: 1, depth: 1 }
    }
}

/// What names mean where a formula stands.
#[derive(Clone, Copy)]
struct Scope<'s, 'a> {
    /// The reaction whose parameters come before those of the model.
    reaction: Option<&'s str>,
    /// Within a function definition: what its arguments are, its id, and the scope of the call.
    call: Option<(&'s BTreeMap<&'a str, Tree>, &'a str, &'s Scope<'s, 'a>)>,
    /// Elements and calls that are open.
    open: usize,
}

impl<'a> Reader<'a> {
    /// The formula in an element; in a kinetic law, with the parameters of its reaction.
    pub(super) fn formula(&mut self, node: Node<'a>, reaction: Option<&str>) -> Option<Formula> {
        let Some(math) = math(node) else {
            self.refuse(node, "expected a formula in <math>");
            return None;
        };
        let scope = Scope { reaction, call: None, open: 0 };
        self.only(math, &scope).map(|tree| tree.formula)
    }

    /// The one formula in an element.
    fn only(&mut self, node: Node<'a>, scope: &Scope<'_, 'a>) -> Option<Tree> {
        let mut inside = children(node);
        match (inside.next(), inside.next()) {
            (Some(only), None) => self.tree(only, scope),
            _ => {
                self.refuse(node, format!("expected one formula in <{}>", node.tag_name().name()));
                None
            }
        }
    }

    fn tree(&mut self, node: Node<'a>, scope: &Scope<'_, 'a>) -> Option<Tree> {
        let scope = &Scope { open: scope.open + 1, ..*scope };
        if scope.open > MOST_OPEN {
            self.refuse(node, "the formula is nested too deeply");
            return None;
        }
        // Every visit costs, whether or not a formula comes of it; when all is spent, that is said once.
        if self.nodes_left == 0 {
            if !self.spent {
                self.spent = true;
                self.refuse(node, "the formulas of the model are too large, with the functions they call");
            }
            return None;
        }
        self.nodes_left -= 1;
        let constant = |value: f64| Some(Tree::leaf(value));
        let tree = match node.tag_name().name() {
            "cn" => self.literal(node).map(Tree::leaf),
            "ci" => self.named(node, scope),
            "csymbol" => self.symbol(node).map(Tree::leaf),
            "apply" => self.application(node, scope),
            "piecewise" => self.piecewise(node, scope),
            "semantics" => children(node).next().and_then(|first| self.tree(first, scope)),
            "true" => constant(1.0),
            "false" => constant(0.0),
            "pi" => constant(std::f64::consts::PI),
            "exponentiale" => constant(std::f64::consts::E),
            "infinity" => constant(f64::INFINITY),
            "notanumber" => constant(f64::NAN),
            other => {
                self.refuse(node, format!("<{}> is not supported in formulas", shown(other)));
                None
            }
        }?;
        self.bounded(node, tree)
    }

    fn bounded(&mut self, node: Node<'_>, tree: Tree) -> Option<Tree> {
        if tree.nodes > MOST_NODES || tree.depth > MOST_DEPTH || tree.nodes > self.nodes_left {
            self.refuse(node, "the formula is too large or nested too deeply, with the functions it calls");
            return None;
        }
        Some(tree)
    }

    fn literal(&mut self, node: Node<'_>) -> Option<f64> {
        let parts: Vec<&str> = node.children().filter(Node::is_text).filter_map(|part| part.text()).collect();
        let kind = node.attribute("type").map_or("real", str::trim);
        let decimal = node.attribute("base").is_none_or(|base| base.trim() == "10");
        let whole = |text: &str| text.trim().parse::<i64>().ok().map(|value| value as f64);
        let value = match (kind, &parts[..]) {
            _ if !decimal => None,
            ("real", [text]) => number(text),
            ("integer", [text]) => whole(text),
            ("e-notation", [mantissa, exponent]) => {
                number(&format!("{}e{}", mantissa.trim(), exponent.trim()))
            }
            ("rational", [a, b]) => {
                whole(a).zip(whole(b)).map(|(a, b)| a / b).filter(|ratio| ratio.is_finite())
            }
            _ => None,
        };
        if value.is_none() {
            let text = shown(&parts.join(" "));
            self.refuse(node, format!("expected a finite number of type real, integer, e-notation or rational, found \"{text}\" of type {}", shown(kind)));
        }
        value
    }

    fn named(&mut self, node: Node<'a>, scope: &Scope<'_, 'a>) -> Option<Tree> {
        let name = node.text().unwrap_or_default().trim();
        if let Some((arguments, function, _)) = scope.call {
            let argument = arguments.get(name);
            if argument.is_none() {
                self.refuse(
                    node,
                    format!("\"{}\" is no argument of the function \"{}\"", shown(name), shown(function)),
                );
            }
            let tree = argument?.clone();
            self.nodes_left = self.nodes_left.saturating_sub(tree.nodes);
            return Some(tree);
        }
        let local = scope.reaction.and_then(|reaction| self.quantities.find(&format!("{reaction}.{name}")));
        let found = local.or_else(|| self.quantities.find(name));
        if found.is_none() {
            self.refuse(node, format!("there is no quantity \"{}\"", shown(name)));
        }
        found.map(|number| Tree::leaf(quantity(number)))
    }

    fn symbol(&mut self, node: Node<'_>) -> Option<Formula> {
        match node.attribute("definitionURL").map(str::trim).unwrap_or_default() {
            "http://www.sbml.org/sbml/symbols/time" => Some(Expression::Symbol(Symbol::Time)),
            "http://www.sbml.org/sbml/symbols/avogadro" => Some(AVOGADRO.into()),
            other => {
                self.refuse(node, unsupported_symbol(other));
                None
            }
        }
    }

    fn application(&mut self, node: Node<'a>, scope: &Scope<'_, 'a>) -> Option<Tree> {
        let Some(operator) = children(node).next() else {
            self.refuse(node, "expected an operator in <apply>");
            return None;
        };
        if operator.tag_name().name() == "csymbol" {
            let url = operator.attribute("definitionURL").unwrap_or_default().trim();
            self.refuse(operator, unsupported_symbol(url));
            return None;
        }
        // The first part that cannot be read ends it: what calls such a formula twice need not fail twice.
        let (mut arguments, mut qualifier) = (Vec::new(), None);
        for inside in children(node).skip(1) {
            if matches!(inside.tag_name().name(), "degree" | "logbase") {
                qualifier = Some(self.only(inside, scope)?);
            } else {
                arguments.push(self.tree(inside, scope)?);
            }
        }
        match operator.tag_name().name() {
            "ci" => self.call(operator, arguments, scope),
            name => self.operation(operator, name, arguments, qualifier),
        }
    }

    fn operation(
        &mut self,
        node: Node<'a>,
        name: &str,
        arguments: Vec<Tree>,
        qualifier: Option<Tree>,
    ) -> Option<Tree> {
        let count = arguments.len();
        let every = || arguments.iter().chain(&qualifier);
        let nodes =
            (1 + ADDED_DEPTH + count + every().map(|tree| tree.nodes).sum::<usize>()) * copies(name, count);
        // Two arguments are one level, and a list is joined in groups.
        let groups = if count > GROUP { 4 } else { 1 };
        let added = if count > 2 { groups * count.min(GROUP) } else { 1 };
        let composed = if copies(name, count) > 1 { ADDED_DEPTH } else { 2 };
        let depth = added + composed + every().map(|tree| tree.depth).max().unwrap_or(0);
        let bounds = Tree { formula: 0.0.into(), nodes, depth };
        let bounds = self.bounded(node, bounds)?;
        self.nodes_left = self.nodes_left.saturating_sub(if copies(name, count) > 1 { nodes } else { 1 });
        let formulas = arguments.into_iter().map(|tree| tree.formula).collect();
        match apply(name, formulas, qualifier.map(|tree| tree.formula)) {
            Ok(formula) => Some(Tree { formula, ..bounds }),
            Err(Wrong::Unsupported) => {
                self.refuse(node, format!("the operator <{}> is not supported", shown(name)));
                None
            }
            Err(Wrong::Arguments(expected)) => {
                self.refuse(node, format!("<{}> takes {expected} arguments, found {count}", shown(name)));
                None
            }
        }
    }

    /// The body of a function with the arguments of a call in it.
    fn call(&mut self, node: Node<'a>, arguments: Vec<Tree>, scope: &Scope<'_, 'a>) -> Option<Tree> {
        let name = node.text().unwrap_or_default().trim();
        let Some((&id, &definition)) = self.functions.get_key_value(name) else {
            self.refuse(node, format!("there is no function \"{}\"", shown(name)));
            return None;
        };
        let mut caller = scope.call;
        while let Some((_, function, outer)) = caller {
            if function == id {
                self.refuse(definition, "the function calls itself");
                return None;
            }
            caller = outer.call;
        }
        let lambda = math(definition).and_then(|math| {
            let inside = child(math, "semantics").unwrap_or(math);
            child(inside, "lambda")
        });
        let Some(lambda) = lambda else {
            self.refuse(definition, "expected a <lambda> in <math>");
            return None;
        };
        let (bound, body): (Vec<Node<'a>>, Vec<Node<'a>>) =
            children(lambda).partition(|part| part.tag_name().name() == "bvar");
        let names: Vec<&str> =
            bound.iter().filter_map(|part| child(*part, "ci")?.text()).map(str::trim).collect();
        let [body] = body[..] else {
            self.refuse(definition, "expected one formula in <lambda>");
            return None;
        };
        if names.len() != arguments.len() {
            let (expected, found) = (names.len(), arguments.len());
            self.refuse(node, format!("the function \"{name}\" takes {expected} arguments, found {found}"));
            return None;
        }
        let arguments: BTreeMap<&str, Tree> = names.into_iter().zip(arguments).collect();
        let inner = Scope { reaction: None, call: Some((&arguments, id, scope)), open: scope.open + 1 };
        self.tree(body, &inner)
    }

    fn piecewise(&mut self, node: Node<'a>, scope: &Scope<'_, 'a>) -> Option<Tree> {
        let (mut pieces, mut otherwise) = (Vec::new(), None);
        for part in children(node) {
            match part.tag_name().name() {
                "piece" => {
                    let inside: Vec<Node<'a>> = children(part).collect();
                    let [value, condition] = inside[..] else {
                        self.refuse(part, "expected a value and a condition in <piece>");
                        return None;
                    };
                    pieces.push((self.tree(value, scope)?, self.tree(condition, scope)?));
                }
                "otherwise" if otherwise.is_none() => otherwise = Some(self.only(part, scope)?),
                other => {
                    self.refuse(
                        part,
                        format!("expected pieces and one otherwise in <piecewise>, found <{}>", shown(other)),
                    );
                    return None;
                }
            }
        }
        // Where no piece holds the value is not defined.
        let mut all = otherwise.unwrap_or_else(|| Tree::leaf(f64::NAN));
        for (value, condition) in pieces.into_iter().rev() {
            let nodes = 1 + value.nodes + condition.nodes + all.nodes;
            let depth = 1 + value.depth.max(condition.depth).max(all.depth);
            let arguments = [condition.formula, value.formula, all.formula];
            let formula = Expression::call(Function::Select, arguments);
            all = self.bounded(node, Tree { formula, nodes, depth })?;
        }
        Some(all)
    }
}

fn unsupported_symbol(url: &str) -> String {
    match url.rsplit('/').next() {
        Some("delay") => "delays are not supported: values of the past are not kept".into(),
        Some("rateOf") => "rateOf is not supported: a jump process has no rates of change".into(),
        _ => format!("the symbol \"{}\" is not supported", shown(url)),
    }
}
