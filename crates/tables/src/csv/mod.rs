//! Comma-separated values, plain or compressed by gzip: a header of names, then a line for each row.
//!
//! Values are separated by commas, semicolons or tabs, whichever the header has most of. Quotes, a byte order mark,
//! both kinds of line ends and blank lines are understood.

mod blocks;
mod header;
mod records;
mod rows;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use counterpoise_core::workers::{self, Workers};
use flate2::read::MultiGzDecoder;

use crate::error::{At, Fault, TableError};
use crate::file::{Block, Survey, Take, regular};
use crate::hashing::Hashing;
use crate::kind::Kind;
use blocks::Blocks;
use header::Header;
use rows::{Parsed, Wrong};

/// The text of a table.
enum Source<R: Read> {
    Plain(R),
    Gzipped(Box<MultiGzDecoder<R>>),
}

impl<R: Read> Source<R> {
    fn new(inner: R, kind: Kind) -> Self {
        match kind {
            Kind::GzippedCsv => Self::Gzipped(Box::new(MultiGzDecoder::new(inner))),
            _ => Self::Plain(inner),
        }
    }

    fn into_inner(self) -> R {
        match self {
            Self::Plain(inner) => inner,
            Self::Gzipped(decoder) => decoder.into_inner(),
        }
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(inner) => inner.read(buffer),
            Self::Gzipped(decoder) => decoder.read(buffer),
        }
    }
}

type Text<R> = Blocks<Source<R>>;

/// The text below the header, and the header.
fn begin<R: Read>(path: &Path, inner: R, kind: Kind) -> Result<(Text<R>, Header), TableError> {
    let mut blocks = Blocks::new(Source::new(inner, kind));
    let first = |fault| fail(path, 1, fault);
    let line = blocks.line().map_err(first)?.ok_or(Fault::Empty).map_err(first)?;
    let header = Header::read(&line).map_err(first)?;
    Ok((blocks, header))
}

fn fail(path: &Path, line: u64, fault: Fault) -> TableError {
    // The first line is meant where nothing was read at all: no line is.
    let at = (!matches!(fault, Fault::Io(_) | Fault::Empty)).then_some(At { line, column: None });
    TableError { path: path.to_path_buf(), at, fault }
}

/// Names of the columns.
pub(crate) fn names(path: &Path, kind: Kind) -> Result<Vec<String>, TableError> {
    begin(path, regular(path)?, kind).map(|(_, header)| header.names)
}

/// Counts the rows, and hashes the file as it is.
pub(crate) fn survey(
    path: &Path,
    kind: Kind,
    observe: &mut dyn FnMut(u64) -> bool,
) -> Result<Survey, TableError> {
    let (mut blocks, _) = begin(path, Hashing::new(regular(path)?), kind)?;
    let (mut rows, mut line, mut seen) = (0, blocks.lines(), 0);
    while let Some(block) = blocks.next().map_err(|fault| fail(path, line + 1, fault))? {
        rows += records::count(&block);
        line += records::line_ends(&block);
        seen += block.len() as u64;
        blocks.reuse(block);
        if !observe(seen) {
            return Err(fail(path, 0, Fault::Io(io::ErrorKind::Interrupted.into())));
        }
    }
    let finished = blocks.into_inner().into_inner().finish();
    let (bytes, hash) = finished.map_err(|error| fail(path, 0, Fault::Io(error)))?;
    Ok(Survey { rows, bytes, hash })
}

/// Reads columns of the first rows, a block for each thread at a time.
pub(crate) fn read(
    (path, kind): (&Path, Kind),
    names: &[String],
    (columns, rows): (&[usize], u64),
    workers: &dyn Workers,
    take: Take<'_>,
) -> Result<(), TableError> {
    /// Blocks that are parsed at the same time.
    const TOGETHER: usize = 4;
    let (mut blocks, header): (Text<File>, Header) = begin(path, regular(path)?, kind)?;
    if header.names != names {
        return Err(fail(path, 1, Fault::Changed));
    }
    let wanted = header.wanted(columns);
    let (mut first, mut line) = (0, blocks.lines());
    loop {
        let mut texts = Vec::new();
        let mut broken = None;
        while texts.len() < TOGETHER && broken.is_none() {
            match blocks.next() {
                Ok(Some(block)) => texts.push(block),
                Ok(None) => break,
                Err(fault) => broken = Some(fault),
            }
        }
        let finished = texts.is_empty();
        let parsed: Vec<Parsed> = workers::map(workers, texts.len(), |at| rows::parse(&texts[at], &wanted));
        for Parsed { values, lines, wrong } in parsed {
            let left = (rows - first) as usize;
            let count = (values.len() / columns.len()).min(left);
            let values = &values[..count * columns.len()];
            if count > 0 && !take(Block { first, columns: 0..columns.len(), values }) {
                return Ok(());
            }
            first += count as u64;
            if first == rows {
                return Ok(());
            }
            if let Some(Wrong { line: within, column, fault }) = wrong {
                let column = column.map(|at| (at + 1, names[at].clone()));
                let at = Some(At { line: line + within, column });
                return Err(TableError { path: path.to_path_buf(), at, fault });
            }
            line += lines;
        }
        if let Some(fault) = broken {
            return Err(fail(path, line + 1, fault));
        }
        if finished {
            return Err(fail(path, line, Fault::Changed));
        }
        texts.into_iter().for_each(|text| blocks.reuse(text));
    }
}

#[cfg(test)]
mod tests;
