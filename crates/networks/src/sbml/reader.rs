//! Reads attributes and lists of a document and notes what is wrong with them.

use std::collections::BTreeMap;

use super::problem::Notes;
use super::quantity::{Kind, Quantities};
use super::xml::{Node, called, child, children, number, shown};

/// What has been read of a document.
pub(super) struct Reader<'a> {
    /// Level and version of SBML.
    pub(super) level: u32,
    pub(super) version: u32,
    /// What cannot be read.
    pub(super) refusals: Notes,
    /// What should be looked at.
    pub(super) warnings: Notes,
    /// What formulas may name.
    pub(super) quantities: Quantities,
    /// Function definitions by id.
    pub(super) functions: BTreeMap<&'a str, Node<'a>>,
    /// Nodes of formulas that may still be made.
    pub(super) nodes_left: usize,
    /// Whether it is said that there are none left.
    pub(super) spent: bool,
}

impl<'a> Reader<'a> {
    /// Notes that an element cannot be read.
    pub(super) fn refuse(&mut self, node: Node<'_>, reason: impl AsRef<str>) {
        self.refusals.add(node, format!("{}: {}", called(node), reason.as_ref()));
    }

    /// Notes something that should be looked at.
    pub(super) fn warn(&mut self, node: Node<'_>, reason: impl AsRef<str>) {
        self.warnings.add(node, format!("{}: {}", called(node), reason.as_ref()));
    }

    /// The elements of a list in an element; whatever else the list holds is refused.
    pub(super) fn list(&mut self, node: Node<'a>, list: &str, element: &str) -> Vec<Node<'a>> {
        let mut elements = Vec::new();
        for child in child(node, list).into_iter().flat_map(children) {
            if child.tag_name().name() == element {
                elements.push(child);
            } else {
                self.refuse(child, format!("expected {element} in {list}"));
            }
        }
        elements
    }

    /// An attribute that names something.
    pub(super) fn id(&mut self, node: Node<'a>, attribute: &str) -> Option<&'a str> {
        let Some(id) = node.attribute(attribute) else {
            self.refuse(node, format!("expected an attribute {attribute}"));
            return None;
        };
        let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let rest = |byte: u8| letter(byte) || byte.is_ascii_digit();
        if id.bytes().next().is_some_and(letter) && id.bytes().all(rest) {
            return Some(id);
        }
        let reason = format!("expected letters, digits and _ in {attribute}, found \"{}\"", shown(id));
        self.refuse(node, reason);
        None
    }

    /// An attribute that is a number.
    pub(super) fn number(&mut self, node: Node<'_>, attribute: &str) -> Option<f64> {
        let text = node.attribute(attribute)?;
        let value = number(text);
        if value.is_none() {
            self.refuse(node, format!("expected a finite number in {attribute}, found \"{}\"", shown(text)));
        }
        value
    }

    /// An attribute that is true or false; Level 3 wants it written where Level 2 has a default.
    pub(super) fn flag(&mut self, node: Node<'_>, attribute: &str, default: bool) -> bool {
        if self.level > 2 && node.attribute(attribute).is_none() {
            self.refuse(node, format!("expected an attribute {attribute}, which Level 3 requires"));
        }
        self.optional_flag(node, attribute, default)
    }

    /// An attribute that is true or false, or absent.
    pub(super) fn optional_flag(&mut self, node: Node<'_>, attribute: &str, default: bool) -> bool {
        match node.attribute(attribute).map(str::trim) {
            None => default,
            Some("true" | "1") => true,
            Some("false" | "0") => false,
            Some(text) => {
                self.refuse(
                    node,
                    format!("expected true or false in {attribute}, found \"{}\"", shown(text)),
                );
                default
            }
        }
    }

    /// The quantity that an attribute names.
    pub(super) fn reference(&mut self, node: Node<'a>, attribute: &str) -> Option<usize> {
        let id = self.id(node, attribute)?;
        let found = self.quantities.find(id);
        if found.is_none() {
            self.refuse(node, format!("there is no quantity \"{}\"", shown(id)));
        }
        found
    }

    /// The species that an attribute names.
    pub(super) fn species(&mut self, node: Node<'a>) -> Option<usize> {
        let found = self.reference(node, "species")?;
        if matches!(self.quantities.all[found].kind, Kind::Species { .. }) {
            return Some(found);
        }
        self.refuse(node, "expected the id of a species");
        None
    }

    /// Adds a quantity under the id of its element.
    pub(super) fn declare(&mut self, node: Node<'a>, name: String, kind: Kind) -> Option<usize> {
        let taken = self.functions.contains_key(name.as_str());
        let added = if taken { None } else { self.quantities.add(name, kind, node.range().start) };
        if added.is_none() {
            self.refuse(node, "another element has the same id");
        }
        added
    }
}
