//! Checksums for broken journals, so that tests get past them.

use super::{HEADER, MARKER, RECORD_HEADER, checksum, header_checksum, u32_at};

/// Makes all checksums and markers of a journal fit whatever stands in it. A length that leads out of the file becomes one
/// that leads to its end. Only tests want this: what reads a journal must bear payloads that nobody wrote.
pub fn reseal(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    let sum = checksum(&bytes[..HEADER - 8]);
    bytes[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    let mut at = HEADER;
    while at + RECORD_HEADER + 8 <= bytes.len() {
        let most = bytes.len() - at - RECORD_HEADER - 8;
        let length = (u32_at(bytes, at + 4) as usize).min(most);
        let end = at + RECORD_HEADER + length;
        bytes[at..at + 4].copy_from_slice(&MARKER.to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&(length as u32).to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&header_checksum(at as u64, length as u32).to_le_bytes());
        let sum = checksum(&bytes[at + RECORD_HEADER..end]);
        bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        at = end + 8;
    }
}
