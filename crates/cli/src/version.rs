//! Which program this is.

/// The version, with the commit where the build knew it. Runs are marked with the version alone: a program built again from
/// another copy of the same source goes on with them.
pub(crate) const fn long() -> &'static str {
    env!("COUNTERPOISE_VERSION")
}
