//! Tables as people and programs write them, and as they should not.

use std::fs;
use std::io::Write;

use counterpoise_core::workers::Serial;
use flate2::write::GzEncoder;

use crate::{Block, Fault, TableError, TableFile};

/// Names, and values row by row.
type Content = (Vec<String>, Vec<Vec<f64>>);

fn read_as(name: &str, bytes: &[u8]) -> Result<Content, TableError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let table = TableFile::open(&path)?;
    let survey = table.survey(&mut |_| true)?;
    assert_eq!((survey.bytes, &*survey.hash), (bytes.len() as u64, &*blake3::hash(bytes).to_hex()));
    let columns: Vec<usize> = (0..table.names().len()).collect();
    let mut rows = Vec::new();
    table.read(&columns, survey.rows, &Serial, &mut |Block { first, values, .. }| {
        assert_eq!(first as usize, rows.len());
        rows.extend(values.chunks(columns.len()).map(<[f64]>::to_vec));
        true
    })?;
    assert_eq!(rows.len() as u64, survey.rows);
    Ok((table.names().to_vec(), rows))
}

fn read(text: impl AsRef<[u8]>) -> Result<Content, TableError> {
    read_as("t.csv", text.as_ref())
}

fn refused(text: impl AsRef<[u8]>) -> String {
    let error = read(text).unwrap_err();
    let message = error.to_string();
    let at = message.find("t.csv").unwrap();
    let hint = error.fault.hint().map_or(String::new(), |hint| format!(" | {hint}"));
    format!("{}{hint}", &message[at..])
}

#[test]
fn every_way_to_write_the_same_table() {
    let expected = (vec!["k".to_owned(), "s 1".into()], vec![vec![1.5, -2e3], vec![3.0, 0.25]]);
    let same = [
        "k,s 1\n1.5,-2e3\n3,.25\n",
        "k,s 1\n1.5,-2e3\n3,.25",
        "\u{feff}k,s 1\r\n1.5,-2000\r\n+3,0.25\r\n",
        "\u{feff}\"k\";\"s 1\"\r\n1.5;-2E3\r\n\r\n\"3\";\"0.25\"\r\n\r\n",
        "k\ts 1\n1.5\t-2000.0\n3\t2.5e-1\n",
        " k , \"s 1\" \n\n  1.5,\t-2000\n 3 ,\"0.25\" \n   \n",
    ];
    for text in same {
        assert_eq!(read(text).unwrap(), expected, "{text:?}");
    }
    let mut gz = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(same[0].as_bytes()).unwrap();
    assert_eq!(read_as("t.csv.gz", &gz.finish().unwrap()).unwrap(), expected);
}

#[test]
fn names_may_hold_anything() {
    let (names, rows) = read("\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",é\n1,2,3,4\n").unwrap();
    assert_eq!(names, ["a,b", "say \"x\"", "two\nlines", "é"]);
    assert_eq!(rows, [[1.0, 2.0, 3.0, 4.0]]);
}

#[test]
fn missing_values_are_nan_and_nothing_else_is() {
    let (_, rows) = read("a,b,c\n,NA,NaN\nnull,n/a, \n-nan,None,1\ninf,-Inf,TRUE\n").unwrap();
    assert!(rows[..2].iter().flatten().all(|value| value.is_nan()), "{rows:?}");
    assert!(rows[2][0].is_nan() && rows[2][1].is_nan() && rows[2][2] == 1.0);
    assert_eq!(rows[3], [f64::INFINITY, f64::NEG_INFINITY, 1.0]);
    let tabs = read("a\tb\n\t\n1\t\n").unwrap().1;
    assert!(tabs.len() == 2 && tabs[0].iter().all(|value| value.is_nan()) && tabs[1][0] == 1.0);
}

#[test]
fn faults_have_their_place_and_a_remedy() {
    let cases = [
        ("", "t.csv: the table is empty | it needs a header"),
        ("\n \n", "t.csv: the table is empty"),
        ("a,b,a\n1,2,3\n", "t.csv: the columns 1 and 3 are both named `a` | give each column a name"),
        (
            "a,b\n1,2\n1,x\n",
            "t.csv, line 3, column 2 (`b`): expected a number, found `x` | a missing value is",
        ),
        ("a,b\n\n\"1\n\",2\n1,x\n", "t.csv, line 5, column 2 (`b`): expected a number"),
        (
            "a;b\n1;2\n1,5;2\n",
            "t.csv, line 3, column 1 (`a`): expected a number, found `1,5` | numbers are written with a decimal point",
        ),
        (
            "a,b\n1,5,2,5\n",
            "t.csv, line 2: the header has 2 columns and this line has 4 values | numbers with a decimal comma?",
        ),
        ("a,b\n1,2\n1\n", "t.csv, line 3: the header has 2 columns and this line has 1 values"),
        ("a,b\nr1,1,2\n", "t.csv, line 2, column 1 (`a`): expected a number, found `r1`"),
        ("a,b\n1,2,3\n", "this line has 3 values | row names"),
        (
            "a b\n1 2\n",
            "t.csv, line 2, column 1 (`a b`): expected a number, found `1 2` | values are separated by",
        ),
        ("a,b\n1,\"2\n3,4\n", "t.csv, line 2: a quote is not closed"),
        ("a,b\n1,\"2\"3\n", "t.csv, line 2: a quote is not closed where the value ends"),
        ("a,\"b\n1,2\n", "t.csv, line 1: a quote is not closed"),
        ("a,b\n1,\u{7f}\u{e9}\n", "expected a number, found"),
    ];
    for (text, message) in cases {
        let found = refused(text);
        assert!(found.contains(message), "{text:?} gave {found}");
    }
    assert!(refused(b"a,\xff\n1,2\n").contains("line 1: the name of a column is not UTF-8"));
    assert!(refused(b"a,b\n1,\xff\n").contains("line 2, column 2 (`b`): expected a number"));
    let long = format!("a\n{}\n", "x".repeat(100));
    assert!(refused(long).contains(&format!("found `{}...`", "x".repeat(40))));
}

#[test]
fn a_header_alone_is_a_table_without_rows() {
    assert_eq!(read("a,b").unwrap().1.len(), 0);
    assert_eq!(read("a,b\n\n").unwrap().1.len(), 0);
}

#[test]
fn a_million_columns_are_refused() {
    let names: Vec<String> = (0..1_000_000).map(|at| format!("c{at}")).collect();
    let found = refused(names.join(",") + "\n");
    assert!(
        found.contains("t.csv, line 1: the table has 1000000 columns, and at most 65536 are read"),
        "{found}"
    );
    assert!(refused(",".repeat(20 << 20)).contains("line 1: the line is longer than 16 MiB"));
    let line = format!("a,b\n1,2\n1,{}\n", "0".repeat(20 << 20));
    assert!(refused(&line).contains("line 3: the line is longer than 16 MiB"), "{}", refused(&line));
    assert!(refused(line.trim_end()).contains("line 3: the line is longer than 16 MiB"));
}

/// Blocks are of a megabyte: rows that cross them, quoted or not, arrive whole and with their line.
#[test]
fn long_tables_are_read_across_blocks() {
    let row = |at: usize| vec![at as f64, 1.0 / (at as f64 + 1.0), -(at as f64)];
    for quote in ["", "\""] {
        let mut text = "a,b,c\n".to_owned();
        for at in 0..120_000 {
            let cells: Vec<String> = row(at).iter().map(|value| format!("{quote}{value}{quote}")).collect();
            text += &(cells.join(",") + "\n");
        }
        assert!(text.len() > 3 << 20);
        let (_, rows) = read(&text).unwrap();
        assert!(rows.len() == 120_000 && rows.iter().enumerate().all(|(at, found)| *found == row(at)));
        let broken = text.replacen(&format!("\n{quote}119000{quote},"), "\nx,", 1);
        assert!(refused(broken).contains("line 119002, column 1 (`a`)"));
    }
}

#[test]
fn a_gzipped_table_that_is_cut_short_is_refused() {
    let mut gz = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(b"a,b\n1,2\n").unwrap();
    gz.write_all(&b"1,2\n".repeat(100_000)).unwrap();
    let whole = gz.finish().unwrap();
    let error = read_as("t.csv.gz", &whole[..whole.len() - 20]).unwrap_err();
    assert!(matches!(error.fault, Fault::Io(_)), "{error}");
    assert!(read_as("t.csv.gz", b"a,b\n1,2\n").is_err());
}
