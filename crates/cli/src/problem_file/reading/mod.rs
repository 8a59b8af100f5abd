//! A spanned walk over the user's texts that notes every mistake instead of stopping at the first.

mod file;
mod section;
mod source;
mod tree;
mod written;

pub(crate) use file::read_bounded;
pub(crate) use section::Section;
pub(crate) use source::{Mistakes, Place, suggestion};
pub(crate) use tree::{Entry, Node, Table, Value};
pub(crate) use written::Written;
