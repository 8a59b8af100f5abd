//! Where the ticks of an axis are, and what is written at them.

use crate::font;

/// A text, with a raised end where it is a power of ten.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) power: Option<String>,
}

impl Label {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), power: None }
    }

    /// Its width in units of the height of its font.
    pub(crate) fn width(&self) -> f64 {
        font::width(&self.text) + self.power.as_deref().map_or(0.0, |power| 0.75 * font::width(power))
    }
}

/// A place on an axis; without a label it is a minor one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: Option<Label>,
}

/// Ticks of a linear axis, at most `most` of them.
pub(crate) fn linear((low, high): (f64, f64), most: usize) -> Vec<Tick> {
    let span = high - low;
    let least = span / most.max(1) as f64;
    let power = 10f64.powi(least.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let count = (last - first + 1.0).clamp(0.0, 100.0) as usize;
    let largest = low.abs().max(high.abs());
    let ticks = (0..count).map(|index| {
        let at = (first + index as f64) * step;
        Tick { at, label: Some(number(at, step, largest)) }
    });
    ticks.collect()
}

/// A number in steps, on an axis with numbers up to `largest`.
fn number(value: f64, step: f64, largest: f64) -> Label {
    let decimals = |step: f64| (-(step.log10() + 1e-9).floor()).clamp(0.0, 15.0) as usize;
    let minus = |text: String| text.replace('-', "\u{2212}");
    if value.abs() < step * 1e-6 {
        return Label::plain("0");
    }
    if (1e-3..1e5).contains(&largest) {
        let places = decimals(step);
        return Label::plain(minus(format!("{value:.places$}")));
    }
    let exponent = largest.log10().floor();
    let unit = 10f64.powi(exponent as i32);
    let places = decimals(step / unit);
    let text = minus(format!("{:.places$}\u{00d7}10", value / unit));
    Label { text, power: Some(minus(format!("{exponent:.0}"))) }
}

/// Ticks of a logarithmic axis, at most `most` of them with a label.
pub(crate) fn log((low, high): (f64, f64), most: usize) -> Vec<Tick> {
    let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
    if last - first >= 1 && most >= 2 {
        return decades(first, last, (low, high), most);
    }
    let mantissas = (first - 1..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| (digit, power)));
    let round: Vec<(f64, f64)> = mantissas
        .map(|(digit, power)| (digit * 10f64.powi(power), 10f64.powi(power)))
        .filter(|(at, _)| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(at))
        .collect();
    if (2..=most).contains(&round.len()) {
        let labelled = |&(at, step): &(f64, f64)| Tick { at, label: Some(number(at, step, high)) };
        return round.iter().map(labelled).collect();
    }
    linear((low, high), most)
}

fn decades(first: i32, last: i32, (low, high): (f64, f64), most: usize) -> Vec<Tick> {
    let step = ((last - first + 1) as usize).div_ceil(most).max(1) as i32;
    let is_plain = first >= -3 && last <= 4;
    let mut ticks = vec![];
    for power in first - 1..=last {
        let at = 10f64.powi(power);
        if power >= first {
            let shown = power.rem_euclid(step) == 0;
            let label = match is_plain {
                true => number(at, at, at),
                false => Label { text: "10".into(), power: Some(power.to_string().replace('-', "\u{2212}")) },
            };
            ticks.push(Tick { at, label: shown.then_some(label) });
        }
        if step == 1 && last - first < 8 {
            let minor = (2..10).map(|digit| at * f64::from(digit));
            let inside = minor.filter(|at| (low..=high).contains(at));
            ticks.extend(inside.map(|at| Tick { at, label: None }));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<String> {
        let labels = ticks.iter().filter_map(|tick| tick.label.as_ref());
        labels
            .map(|label| match &label.power {
                Some(power) => format!("{}^{power}", label.text),
                None => label.text.clone(),
            })
            .collect()
    }

    #[test]
    fn linear_steps_are_one_two_or_five() {
        assert_eq!(texts(&linear((0.0, 1.0), 6)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            texts(&linear((-0.03, 0.021), 6)),
            ["\u{2212}0.03", "\u{2212}0.02", "\u{2212}0.01", "0", "0.01", "0.02"]
        );
        assert_eq!(texts(&linear((0.0, 763.0), 5)), ["0", "200", "400", "600"]);
        assert_eq!(texts(&linear((0.0, 2.5e6), 4)), ["0", "1\u{d7}10^6", "2\u{d7}10^6"]);
    }

    #[test]
    fn no_more_ticks_than_asked_for_and_all_inside() {
        for exponent in -12..12 {
            for width in [1.0, 1.7, 3.3, 9.9] {
                let low = -0.37 * 10f64.powi(exponent);
                let high = low + width * 10f64.powi(exponent);
                for most in 2..9 {
                    let ticks = linear((low, high), most);
                    assert!(ticks.len() <= most + 1 && !ticks.is_empty(), "{low} {high} {most}");
                    assert!(
                        ticks
                            .iter()
                            .all(|tick| tick.at >= low - 1e-9 * high.abs() && tick.at <= high * (1.0 + 1e-9))
                    );
                }
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_where_there_are_some() {
        assert_eq!(texts(&log((0.01, 100.0), 6)), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(texts(&log((1e-9, 1e9), 5)), ["10^\u{2212}8", "10^\u{2212}4", "10^0", "10^4", "10^8"]);
        assert_eq!(texts(&log((0.9, 6.0), 6)), ["1", "2", "5"]);
        assert_eq!(texts(&log((0.101, 0.109), 4)), ["0.102", "0.104", "0.106", "0.108"]);
    }
}
