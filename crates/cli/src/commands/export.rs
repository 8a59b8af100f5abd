//! `export`: a run for other programs, as a table or as ArviZ reads it.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use counterpoise_report::Run;
use counterpoise_run::store::{
    GENERATION_FILE, POSTERIOR_FILE, SIMULATIONS_FILE, Sheet, SheetWriter, StoreError, Values,
    check_posterior, check_simulations,
};
use counterpoise_tables::Kind;
use counterpoise_tables::write::{Partial, quoted};

use super::stored;
use crate::args::{ExportArguments, What};
use crate::host::{Host, Refused};
use crate::output::Output;
use crate::trouble::{DONE, Trouble, no_folder};

/// What a run is written as.
enum Form {
    Table(Kind),
    /// A NetCDF file with the groups of ArviZ.
    Arviz,
}

impl Form {
    /// The form that the end of a file's name stands for.
    fn of(path: &Path) -> Option<Self> {
        let is_netcdf = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("nc"));
        let table = Kind::of(path).filter(|kind| *kind != Kind::GzippedCsv).map(Self::Table);
        if is_netcdf { Some(Self::Arviz) } else { table }
    }
}

/// Writes a run, or a table of it.
pub(crate) fn export(
    arguments: &ExportArguments,
    host: Option<&dyn Host>,
    output: Output,
) -> Result<u8, Trouble> {
    let (directory, to) = (&arguments.directory, &arguments.to);
    let Some(form) = Form::of(to) else {
        let message = anyhow!("{} is neither a .csv nor a .parquet nor a .nc file", to.display());
        let hint = "--to posterior.csv, --to posterior.parquet, or --to posterior.nc for ArviZ";
        return Err(Trouble::input(message, hint.to_owned()));
    };
    if to.exists() && !arguments.force {
        let message = anyhow!("{} exists already", to.display());
        return Err(Trouble::input(message, "--force overwrites it".to_owned()));
    }
    let Some(run) = stored::read(directory)? else { return Err(super::show::no_run(directory)) };
    let kind = match form {
        Form::Table(kind) => kind,
        Form::Arviz => return export_to_arviz(arguments, host, output),
    };
    if let Some(count) = arguments.draws {
        return export_draws(arguments, kind, count as usize, output);
    }
    let sheets = match arguments.what {
        What::Posterior => vec![(None, directory.join(POSTERIOR_FILE))],
        What::Simulations => simulations(directory),
    };
    let is_there = match arguments.what {
        What::Posterior => directory.join(POSTERIOR_FILE).exists(),
        What::Simulations => !sheets.is_empty(),
    };
    if !is_there {
        return Err(nothing(arguments));
    }
    if !are_whole(&sheets, directory).map_err(|error| stored::trouble(error, directory))? {
        let table = run.description["model"]["table"]["file"].as_str().unwrap_or("the table");
        let message = anyhow!("the simulations of {} are in {table}, and only there", directory.display());
        return Err(Trouble::input(message, "--what posterior has what was kept of them".to_owned()));
    }
    let rows = write(&sheets, to, kind).map_err(|error| {
        Trouble::failed(error.context(format!("cannot export to {}", to.display())), no_folder(to))
    })?;
    output.note(&format!("{rows} rows are in {}", to.display()));
    Ok(DONE)
}

/// No generation is finished that could be written.
fn nothing(arguments: &ExportArguments) -> Trouble {
    let directory = arguments.directory.display();
    let message = anyhow!("{directory} has no finished generation with {}", arguments.what);
    Trouble::input(message, "counterpoise run PROBLEM --into DIR goes on with it".to_owned())
}

/// Has a run written for ArviZ by whoever can.
fn export_to_arviz(
    arguments: &ExportArguments,
    host: Option<&dyn Host>,
    output: Output,
) -> Result<u8, Trouble> {
    let (directory, to) = (&arguments.directory, &arguments.to);
    if arguments.what == What::Simulations {
        let message = anyhow!("a .nc file has the posterior, and not all simulations");
        return Err(Trouble::input(message, "--to simulations.parquet has all of them".to_owned()));
    }
    let Some(host) = host else {
        let message = anyhow!("files for ArviZ are written by the command of the Python package");
        return Err(Trouble::input(message, "pip install counterpoise[arviz]".to_owned()));
    };
    if !directory.join(POSTERIOR_FILE).exists() {
        return Err(nothing(arguments));
    }
    check_posterior(directory).map_err(|error| stored::trouble(error, directory))?;
    let cannot = || format!("cannot export to {}", to.display());
    let failed = |error: std::io::Error| Trouble::failed(anyhow!(error).context(cannot()), no_folder(to));
    let (partial, file) = Partial::create(to).map_err(failed)?;
    let written = host.write_arviz(directory, arguments.draws, partial.temporary());
    written.map_err(|Refused { is_input, message }| {
        let error = anyhow!(message).context(cannot());
        if is_input { Trouble::input(error, None) } else { Trouble::failed(error, None) }
    })?;
    partial.complete(&file).map_err(failed)?;
    output.note(&format!("the run is in {}, for arviz.from_netcdf", to.display()));
    Ok(DONE)
}

/// Writes draws from the posterior.
fn export_draws(
    arguments: &ExportArguments,
    kind: Kind,
    count: usize,
    output: Output,
) -> Result<u8, Trouble> {
    let (directory, to) = (&arguments.directory, &arguments.to);
    let refused = |error| super::report::refused(error, directory);
    let (names, drawn) = Run::read(directory).and_then(|run| run.draws(count)).map_err(refused)?;
    let columns: Vec<Values> = (0..names.len()).map(|j| Values::Real(drawn.column(j))).collect();
    let written = || -> anyhow::Result<()> {
        let (partial, file) =
            Partial::create(to).with_context(|| format!("cannot write beside {}", to.display()))?;
        let mut table = begin(file.try_clone()?, kind, &names, &columns)?;
        table.rows(&columns)?;
        table.finish()?;
        Ok(partial.complete(&file)?)
    };
    written().map_err(|error| {
        Trouble::failed(error.context(format!("cannot export to {}", to.display())), no_folder(to))
    })?;
    output.note(&format!("{count} draws are in {}", to.display()));
    Ok(DONE)
}

/// The simulations of every committed generation.
fn simulations(directory: &Path) -> Vec<(Option<i64>, PathBuf)> {
    let folders = (0..).map(|index| (index, directory.join(format!("generations/{index:03}"))));
    let committed = folders.take_while(|(_, folder)| folder.join(GENERATION_FILE).exists());
    committed.map(|(index, folder)| (Some(index), folder.join(SIMULATIONS_FILE))).collect()
}

/// Makes sure that the sheets are what was written; `false` where there are none, since the simulations are a table's.
fn are_whole(sheets: &[(Option<i64>, PathBuf)], directory: &Path) -> Result<bool, StoreError> {
    for (generation, _) in sheets {
        match generation.and_then(|index| u32::try_from(index).ok()) {
            None => check_posterior(directory)?,
            Some(index) if check_simulations(directory, index)? => {}
            Some(_) => return Ok(false),
        }
    }
    Ok(true)
}

/// Writes the sheets one below the other, each with the number of its generation before its columns.
fn write(sheets: &[(Option<i64>, PathBuf)], to: &Path, kind: Kind) -> anyhow::Result<usize> {
    let (partial, file) =
        Partial::create(to).with_context(|| format!("cannot write beside {}", to.display()))?;
    let mut rows = 0;
    let mut table: Option<Box<dyn Table>> = None;
    for (generation, path) in sheets {
        let sheet = Sheet::open(path)?;
        for group in 0..sheet.groups() {
            // Simulations are in an order that compresses well; a posterior has an order of its own.
            let mut columns =
                if generation.is_some() { sheet.read_by_row(group)? } else { sheet.read(group)? };
            let mut names = sheet.names().to_vec();
            let length = columns.first().map_or(0, Values::len);
            if let Some(index) = generation {
                names.insert(0, free("generation", &names));
                columns.insert(0, Values::Whole(vec![*index; length]));
            }
            let table = match &mut table {
                Some(table) => table,
                none => none.insert(begin(file.try_clone()?, kind, &names, &columns)?),
            };
            table.rows(&columns)?;
            rows += length;
        }
    }
    if let Some(table) = table {
        table.finish()?;
    }
    partial.complete(&file)?;
    Ok(rows)
}

/// A name that no column has.
fn free(name: &str, names: &[String]) -> String {
    let mut name = name.to_owned();
    while names.contains(&name) {
        name.push('_');
    }
    name
}

fn begin(file: fs::File, kind: Kind, names: &[String], columns: &[Values]) -> anyhow::Result<Box<dyn Table>> {
    Ok(match kind {
        Kind::Csv | Kind::GzippedCsv => Box::new(Csv::new(BufWriter::new(file), names)?),

        Kind::Parquet => Box::new(Parquet(SheetWriter::new(file, names, columns)?)),
    })
}

/// Takes groups of rows.
trait Table {
    fn rows(&mut self, columns: &[Values]) -> anyhow::Result<()>;
    fn finish(self: Box<Self>) -> anyhow::Result<()>;
}

struct Parquet(SheetWriter<fs::File>);

impl Table for Parquet {
    fn rows(&mut self, columns: &[Values]) -> anyhow::Result<()> {
        Ok(self.0.group(columns)?)
    }

    fn finish(self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.0.close()?)
    }
}

/// Comma-separated values with 17 significant digits, which tell every number from its neighbours; a missing value is
/// an empty cell.
struct Csv<W>(W);

impl<W: Write> Csv<W> {
    fn new(mut inner: W, names: &[String]) -> std::io::Result<Self> {
        let header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        writeln!(inner, "{}", header.join(","))?;
        Ok(Self(inner))
    }
}

impl<W: Write> Table for Csv<W> {
    fn rows(&mut self, columns: &[Values]) -> anyhow::Result<()> {
        for row in 0..columns.first().map_or(0, Values::len) {
            for (at, column) in columns.iter().enumerate() {
                if at > 0 {
                    self.0.write_all(b",")?;
                }
                match column {
                    Values::Real(values) if values[row].is_finite() => {
                        write!(self.0, "{:.16e}", values[row])?;
                    }
                    Values::Real(values) if values[row].is_nan() => {}
                    Values::Real(values) => write!(self.0, "{}", values[row])?,
                    Values::Whole(values) => write!(self.0, "{}", values[row])?,
                    Values::Text(texts) => {
                        write!(self.0, "{}", quoted(texts[row].as_deref().unwrap_or_default()))?;
                    }
                }
            }
            writeln!(self.0)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.0.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_digits_read_back_as_the_same_numbers() {
        let numbers = [0.1 + 0.2, 1.0, -7.5e-310, f64::MAX, f64::NAN, -0.0, f64::INFINITY];
        let texts = [None, Some("a, \"b\"\nc".to_owned()), None, None, None, None, None];
        let columns =
            [Values::Whole((0..7).collect()), Values::Real(numbers.to_vec()), Values::Text(texts.to_vec())];
        let mut bytes = Vec::new();
        let mut csv = Box::new(Csv::new(&mut bytes, &["i".into(), "x,y".into(), "t".into()]).unwrap());
        csv.rows(&columns).unwrap();
        csv.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.starts_with(
                "i,\"x,y\",t\n0,3.0000000000000004e-1,\n1,1.0000000000000000e0,\"a, \"\"b\"\"\nc\"\n"
            ),
            "{text}"
        );
        for (line, number) in text.lines().skip(4).zip(&numbers[2..]) {
            let cell = line.split(',').nth(1).unwrap();
            match cell {
                "" => assert!(number.is_nan()),
                cell => assert_eq!(cell.parse::<f64>().unwrap().to_bits(), number.to_bits(), "{line}"),
            }
        }
    }
}
