//! A picture of the sawtooth: speed over size by one thread and by several, and the ratio of the two under it.

use super::advice::{Advice, Finding};
use super::report::title;
use super::rule::Point;
use crate::failure::Failure;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use std::ops::Range;

/// One column for each kind of work, as the text of an SVG file.
pub fn svg(advice: &Advice<'_>, margin: f64) -> Result<String, Failure> {
    let findings: Vec<&Finding<'_>> =
        [&advice.blake3].into_iter().chain(advice.zstd.iter().map(|workers| &workers.cutoff)).collect();
    let mut text = String::new();
    let size = (COLUMN_PIXELS * findings.len() as u32, HEIGHT_PIXELS);
    draw(SVGBackend::with_string(&mut text, size), &findings, margin)
        .map_err(|error| Failure::error(format_args!("can not plot: {error}")))?;
    Ok(text)
}

type Broken = DrawingAreaErrorKind<std::io::Error>;
type Area<'t> = DrawingArea<SVGBackend<'t>, Shift>;
type Plane<'a, 't> = ChartContext<'a, SVGBackend<'t>, Cartesian2d<LogCoord<f64>, RangedCoordf64>>;

fn draw(backend: SVGBackend<'_>, findings: &[&Finding<'_>], margin: f64) -> Result<(), Broken> {
    let root = backend.into_drawing_area();
    root.fill(&WHITE)?;
    for (column, finding) in root.split_evenly((1, findings.len())).iter().zip(findings) {
        let (upper, lower) = column.split_vertically(HEIGHT_PIXELS * 3 / 5);
        speeds(&upper, finding)?;
        ratios(&lower, finding, margin)?;
    }
    root.present()
}

fn speeds(area: &Area<'_>, finding: &Finding<'_>) -> Result<(), Broken> {
    let points = &finding.sweep.points;
    let most = highest(points.iter().map(|point| point.single.max(point.multi)));
    let mut plane = plane(area, &title(finding.sweep), points, 0.0..most * 1.15)?;
    plane.configure_mesh().x_label_formatter(&kib).y_desc("MiB/s").light_line_style(WHITE).draw()?;
    mark(&mut plane, finding, most * 1.15)?;
    line(&mut plane, points, SINGLE, "1 thread", |point| point.single)?;
    line(&mut plane, points, MULTI, "several", |point| point.multi)?;
    plane.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()
}

fn ratios(area: &Area<'_>, finding: &Finding<'_>, margin: f64) -> Result<(), Broken> {
    let points = &finding.sweep.points;
    let most = highest(points.iter().map(|point| point.ratio)).max(margin) * 1.15;
    let mut plane = plane(area, "", points, 0.0..most)?;
    plane.configure_mesh().x_label_formatter(&kib).x_desc("KiB").y_desc("ratio").light_line_style(WHITE).draw()?;
    mark(&mut plane, finding, most)?;
    let ends = span(points);
    plane.draw_series(LineSeries::new([(ends.start, margin), (ends.end, margin)], BLACK.mix(0.6)))?;
    line(&mut plane, points, RATIO, "ratio", |point| point.ratio)?;
    let slow = points.iter().filter(|point| point.ratio < margin);
    plane.draw_series(slow.map(|point| Circle::new((place(point), point.ratio), 3, SLOWER.filled())))?;
    Ok(())
}

fn plane<'a, 't>(
    area: &'a Area<'t>,
    caption: &str,
    points: &[Point],
    values: Range<f64>,
) -> Result<Plane<'a, 't>, Broken> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(12).x_label_area_size(34).y_label_area_size(56);
    if !caption.is_empty() {
        builder.caption(caption, ("sans-serif", 16));
    }
    builder.build_cartesian_2d(span(points).log_scale().base(2.0), values)
}

/// An upright line where several threads begin to pay, and a pale one at the default.
fn mark(plane: &mut Plane<'_, '_>, finding: &Finding<'_>, height: f64) -> Result<(), Broken> {
    let at = |kib: usize| [(kib as f64, 0.0), (kib as f64, height)];
    plane
        .draw_series(LineSeries::new(at(finding.default_kib), BLACK.mix(0.3)))?
        .label(format!("default, {} KiB", finding.default_kib))
        .legend(|(x, y)| PathElement::new([(x, y), (x + 14, y)], BLACK.mix(0.3)));
    if let Some(kib) = finding.threshold_kib {
        plane
            .draw_series(LineSeries::new(at(kib), THRESHOLD.stroke_width(2)))?
            .label(format!("threshold, {kib} KiB"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 14, y)], THRESHOLD.stroke_width(2)));
    }
    Ok(())
}

fn line(
    plane: &mut Plane<'_, '_>,
    points: &[Point],
    color: RGBColor,
    label: &str,
    value: fn(&Point) -> f64,
) -> Result<(), Broken> {
    let line = points.iter().map(|point| (place(point), value(point)));
    plane
        .draw_series(LineSeries::new(line, color.stroke_width(2)).point_size(2))?
        .label(label)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], color.stroke_width(2)));
    Ok(())
}

fn place(point: &Point) -> f64 {
    point.size.bytes() as f64 / 1024.0
}

fn span(points: &[Point]) -> Range<f64> {
    let least = points.iter().map(place).fold(f64::INFINITY, f64::min);
    // A plane needs some width.
    if least.is_finite() { least..highest(points.iter().map(place)).max(least * 2.0) } else { 1.0..2.0 }
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

fn kib(kib: &f64) -> String {
    format!("{kib:.0}")
}

const COLUMN_PIXELS: u32 = 620;
const HEIGHT_PIXELS: u32 = 640;
const SINGLE: RGBColor = RGBColor(0x4c, 0x72, 0xb0);
const MULTI: RGBColor = RGBColor(0xdd, 0x84, 0x52);
const RATIO: RGBColor = RGBColor(0x55, 0xa8, 0x68);
const SLOWER: RGBColor = RGBColor(0xc4, 0x4e, 0x52);
const THRESHOLD: RGBColor = RGBColor(0x81, 0x72, 0xb3);

#[cfg(test)]
mod tests {
    use super::super::rule::Size;
    use super::super::sweep::{Subject, Sweep};
    use super::*;

    #[test]
    fn lines_and_threshold_are_drawn() {
        let point = |kib, ratio| Point {
            size: Size { kib, odd_bytes: 0 },
            single: 5000.0,
            multi: 5000.0 * ratio,
            ratio,
            noise: 0.0,
        };
        let sweep = |points| Sweep { subject: Subject::Blake3, threads: 2, points };
        let full = sweep(vec![point(128, 0.5), point(256, 1.5), point(496, 1.1), point(512, 2.0)]);
        let drawn = |sweep: &Sweep, threshold_kib| {
            let finding = Finding { sweep, threshold_kib, default_kib: 256, default_loses: None };
            let mut text = String::new();
            draw(SVGBackend::with_string(&mut text, (COLUMN_PIXELS, HEIGHT_PIXELS)), &[&finding], 1.0).unwrap();
            text
        };
        let text = drawn(&full, Some(256));
        assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"));
        for wanted in ["BLAKE3, 1 thread and 2", "threshold, 256 KiB", "1 thread", "several", "MiB/s"] {
            assert!(text.contains(wanted), "{wanted}");
        }
        assert!(!drawn(&full, None).contains("threshold"));
        // Nothing and almost nothing can be drawn, too.
        for points in [vec![], vec![point(8, 1.0)]] {
            drawn(&sweep(points), Some(8));
        }
    }
}
