//! One JSON object.

use serde::Serialize;

/// The object on a line of its own; numbers that are not finite become null.
pub(crate) fn object(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}
