//! Tables of comma-separated values.

use super::{Target, table};

pub const TARGET: Target = Target {
    name: "csv",
    about: "tables in CSV",
    seeds: || SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
    words: &[
        "\"", "\"\"", ",", ";", "\t", "\r\n", "\u{feff}", "NA", "NaN", "null", "1,5", "1e-7", "TRUE", "\n\n",
        " ", "k", ",,,,,,,,",
    ],
    run: |input| table::read("t.csv", input),
};

const SEEDS: [&str; 4] = [
    "k,s1,s2\n0.1,2,3\n0.2,NA,4\n,5,6\n",
    "\u{feff}\"k\";\"s 1\"\r\n1.5;-2E3\r\n\r\n\"3\";\"0.25\"\r\n",
    "\"\",\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n\"1\",2,3,4\n",
    "a\tb\n1\tinf\n\t\n",
];
