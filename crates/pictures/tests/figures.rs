//! Whole figures: what is in them, where, and that hostile text stays text.

use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, SINGLE_COLUMN, Style, density};

fn marks() -> Panel {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| (x / 4.0).sin()).collect();
    let low: Vec<f64> = y.iter().map(|y| y - 0.3).collect();
    let high: Vec<f64> = y.iter().map(|y| y + 0.3).collect();
    Panel::new()
        .title("everything")
        .x(Axis::linear("time"))
        .y(Axis::linear("value"))
        .mark(Mark::band(&x, &low, &high).named("90 %"))
        .mark(Mark::line(&x, &y).named("mean"))
        .mark(Mark::points(&x, &low).colour(Colour::Series(1)).named("seen"))
        .mark(Mark::errors_y(&x[..4], &y[..4], &low[..4], &high[..4]).colour(Colour::Series(2)))
        .mark(Mark::errors_x(&x[5..8], &y[5..8], &[4.0, 5.0, 6.0], &[8.0, 9.0, 10.0]))
        .mark(Mark::steps(&[0.0, 5.0, 10.0], &[0.5, 0.8]))
        .mark(Mark::bars(&[20.0, 22.0, 24.0], &[0.2, -0.4]).opacity(0.4))
        .mark(Mark::vertical(10.0).dashed().named("truth"))
        .mark(Mark::horizontal(0.0))
}

#[test]
fn the_same_figure_has_the_same_bytes() {
    let figure = Figure::new(Style::print()).title("title").columns(2).panel(marks()).panel(marks());
    assert_eq!(figure.svg(), figure.svg());
    assert_eq!(figure.png(100.0).unwrap(), figure.png(100.0).unwrap());
}

#[test]
fn names_appear_once_in_the_legend_and_sizes_are_those_asked_for() {
    let svg = Figure::new(Style::print()).width(SINGLE_COLUMN).panel(marks()).panel(marks()).svg();
    assert_eq!(svg.matches(">90 %</text>").count(), 1);
    assert_eq!(svg.matches(">everything</text>").count(), 2);
    assert!(svg.contains("width=\"240.94pt\"") && svg.contains("font-size=\"7\""), "{}", &svg[..300]);
    assert!(!svg.contains("data-") && !svg.contains("var("));
}

#[test]
fn hostile_text_stays_text() {
    let evil = "</text><script>alert(1)</script>\"'&\u{0}\u{1b}";
    let panel = Panel::new()
        .title(evil)
        .x(Axis::names([evil, "b"]).label(evil))
        .y(Axis::linear(evil))
        .mark(Mark::columns(&[1.0, 2.0]).named(evil).tips(vec![evil.into()]));
    for style in [Style::print(), Style::page()] {
        let svg = Figure::new(style).title(evil).description(evil).width(4000.0).panel(panel.clone()).svg();
        assert!(!svg.contains("<script") && !svg.contains('\u{0}') && !svg.contains('\u{1b}'));
        assert!(
            svg.contains(
                "&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\u{fffd}\u{fffd}"
            )
        );
    }
}

#[test]
fn values_that_cannot_be_drawn_are_left_out() {
    let bad = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e308, 1e-308];
    let panel = Panel::new()
        .x(Axis::log("x"))
        .y(Axis::log("y").from(f64::NAN))
        .marks([Mark::line(&bad, &bad), Mark::area(&bad, &bad), Mark::points(&bad, &bad[..3])])
        .marks([Mark::bars(&bad, &bad), Mark::steps(&[], &[]), Mark::band(&bad, &bad, &bad[..2])])
        .marks([Mark::errors_y(&bad, &bad, &bad, &[]), Mark::columns(&bad), Mark::cells(0, &bad)])
        .mark(Mark::vertical(f64::NAN));
    for panel in [panel.clone().x(Axis::linear("")), panel, Panel::new(), Panel::blank()] {
        let figure = Figure::new(Style::page()).panel(panel);
        let svg = figure.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(figure.png(72.0).is_ok());
    }
    assert!(Figure::new(Style::page()).svg().ends_with("</svg>\n"));
}

#[test]
fn a_bar_is_where_its_axis_says() {
    let panel = Panel::new()
        .x(Axis::linear("").between(0.0, 10.0))
        .y(Axis::linear("").between(0.0, 4.0))
        .mark(Mark::bars(&[2.0, 3.0], &[1.0]).tips(vec!["here".into()]));
    let svg = Figure::new(Style::page()).panel(panel).svg();
    let number = |line: &str, key: &str| -> f64 {
        let rest = &line[line.find(key).unwrap() + key.len()..];
        rest[..rest.find('"').unwrap()].parse().unwrap()
    };
    let frame = svg.lines().find(|line| line.contains("data-frame")).unwrap();
    let frame: Vec<f64> =
        frame.split('"').nth(1).unwrap().split(' ').map(|end| end.parse().unwrap()).collect();
    let bar = svg.lines().find(|line| line.contains("here")).unwrap();
    let (width, height) = (frame[2] - frame[0], frame[3] - frame[1]);
    assert!((number(bar, " x=\"") - (frame[0] + 0.2 * width)).abs() < 0.02);
    assert!((number(bar, "width=\"") - 0.1 * width).abs() < 0.02);
    assert!((number(bar, " y=\"") - (frame[1] + 0.75 * height)).abs() < 0.02);
    assert!((number(bar, "height=\"") - 0.25 * height).abs() < 0.02);
}

#[test]
fn a_picture_too_large_is_refused() {
    let figure = Figure::new(Style::print()).width(1e9).panel(marks());
    assert!(figure.png(300.0).unwrap_err().to_string().contains("cannot be made"));
}

#[test]
fn png_shows_what_svg_shows() {
    // A dark bar over the right half: its pixels are dark, those at the left are not.
    let panel = Panel::new()
        .x(Axis::linear("").between(0.0, 2.0).quiet())
        .y(Axis::linear("").between(0.0, 1.0).quiet())
        .mark(Mark::bars(&[1.0, 2.0], &[1.0]).colour(Colour::Ink));
    let png = Figure::new(Style::print()).panel(panel).png(72.0).unwrap();
    let image = tiny_skia::Pixmap::decode_png(&png).unwrap();
    let (width, height) = (image.width(), image.height());
    let at = |x: u32| image.pixel(x, height / 2).unwrap().red();
    assert!(at(width / 4) > 200 && at(3 * width / 4) < 60);
}

#[test]
fn a_density_fits_its_axis() {
    let draws: Vec<f64> = (1..200).map(|index| f64::from(index) / 100.0).collect();
    let curve = density(&draws, None, true, None).unwrap();
    let svg = Figure::new(Style::page())
        .panel(Panel::new().x(Axis::log("k")).mark(Mark::area(&curve.x, &curve.y).named("posterior")))
        .svg();
    assert!(svg.contains("data-series=\"posterior\"") && svg.contains("data-x=\"log "));
}
