//! JSON files whose last key is a checksum of all that stands before it, so that any changed byte shows.

use std::path::Path;

use serde_json::Value;

use super::StoreError;
use super::tally::{checksum, text};

/// How the end of a sealed file begins.
const SEAL: &str = "  \"checksum\": \"";

/// How deep keys have a line each. What lies deeper, and every list, is one line: a number in a line takes more blanks than digits.
const DEEPEST: usize = 2;

/// An object as the text of a sealed file.
pub(super) fn seal(object: &Value, path: &Path) -> Result<String, StoreError> {
    let mut plain = String::new();
    lay_out(object, 1, &mut plain)
        .map_err(|source| StoreError::Unreadable { path: path.to_path_buf(), source })?;
    let body = plain.strip_suffix("\n}").map_or_else(|| "{\n".to_owned(), |body| format!("{body},\n"));
    let sum = text(checksum(body.as_bytes()));
    Ok(format!("{body}{SEAL}{sum}\"\n}}\n"))
}

fn lay_out(value: &Value, depth: usize, text: &mut String) -> Result<(), serde_json::Error> {
    match value {
        Value::Object(object) if depth <= DEEPEST && !object.is_empty() => {
            for (at, (key, value)) in object.iter().enumerate() {
                text.push_str(if at == 0 { "{\n" } else { ",\n" });
                text.push_str(&"  ".repeat(depth));
                text.push_str(&serde_json::to_string(key)?);
                text.push_str(": ");
                lay_out(value, depth + 1, text)?;
            }
            text.push('\n');
            text.push_str(&"  ".repeat(depth - 1));
            text.push('}');
        }
        other => text.push_str(&serde_json::to_string(other)?),
    }
    Ok(())
}

/// Whether a text is as it was sealed.
pub(super) fn is_whole(text_of_file: &str) -> bool {
    text_of_file.rfind(SEAL).is_some_and(|at| {
        let (body, end) = text_of_file.split_at(at);
        end == format!("{SEAL}{}\"\n}}\n", text(checksum(body.as_bytes())))
    })
}

/// The object in a sealed file.
pub(super) fn open(bytes: Vec<u8>, path: &Path) -> Result<Value, StoreError> {
    let damaged = |what: String| StoreError::damaged(path, None, what);
    let text = String::from_utf8(bytes).map_err(|error| {
        StoreError::damaged(path, Some(error.utf8_error().valid_up_to() as u64), "this is not UTF-8")
    })?;
    if !is_whole(&text) {
        return Err(damaged("its checksum does not fit its text".into()));
    }
    serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_changed_byte_shows() {
        let path = Path::new("x.json");
        for object in [json!({ "a": [1, 0.1], "b": { "c": null } }), json!({})] {
            let sealed = seal(&object, path).unwrap();
            let mut opened = open(sealed.clone().into_bytes(), path).unwrap();
            opened.as_object_mut().unwrap().shift_remove("checksum").unwrap();
            assert_eq!(opened, object);
            for at in 0..sealed.len() {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 4;
                assert!(open(bytes, path).is_err(), "byte {at}");
            }
            assert!(open(sealed.as_bytes()[..sealed.len() - 1].to_vec(), path).is_err());
        }
    }
}
