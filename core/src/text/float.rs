//! Integers shown as Python shows a float of the same value (`e`, `f`, `g` and `%`; command line, section 4.1).

use alloc::format;
use alloc::string::String;

/// The digits before the point, and whatever stands after them (point, decimals, exponent, percent sign).
///
/// `precision` must be bounded by the caller: that many characters are made.
pub(super) fn format(magnitude: u128, code: char, precision: usize, alternate: bool) -> (String, String) {
    let value = magnitude as f64;
    match code {
        'e' | 'E' => exponent(value, code, precision, alternate, false),
        'g' | 'G' => general(value, code, precision.max(1), alternate),
        '%' => {
            let (whole, rest) = fixed(value * 100.0, precision, alternate);
            (whole, rest + "%")
        }
        _ => fixed(value, precision, alternate),
    }
}

/// A float that was an integer has no fraction: its decimals are zeros.
fn fixed(value: f64, precision: usize, alternate: bool) -> (String, String) {
    let point = if precision > 0 || alternate { "." } else { "" };
    (format!("{value:.0}"), format!("{point}{}", "0".repeat(precision)))
}

fn exponent(value: f64, code: char, precision: usize, alternate: bool, strip: bool) -> (String, String) {
    let (mut digits, power) = scientific(value, precision);
    if strip {
        digits.truncate(digits.trim_end_matches('0').len().max(1));
    }
    let decimals = digits.split_off(1);
    let point = if !decimals.is_empty() || alternate { "." } else { "" };
    let letter = if code.is_ascii_uppercase() { 'E' } else { 'e' };
    (digits, format!("{point}{decimals}{letter}+{power:02}"))
}

fn general(value: f64, code: char, precision: usize, alternate: bool) -> (String, String) {
    let (_, power) = scientific(value, precision - 1);
    if power >= precision {
        return exponent(value, code, precision - 1, alternate, !alternate);
    }
    let decimals = if alternate { precision - 1 - power } else { 0 };
    fixed(value, decimals, alternate)
}

/// All the digits, the first of them before the point, and the power of ten. The value is zero or at least one.
fn scientific(value: f64, precision: usize) -> (String, usize) {
    // No float of an integer below 2**128 has more significant digits than that.
    const MAX_DIGITS: usize = 40;
    let text = format!("{value:.*e}", precision.min(MAX_DIGITS));
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits = mantissa.replace('.', "");
    digits.extend(core::iter::repeat_n('0', precision.saturating_sub(MAX_DIGITS)));
    (digits, power.parse().unwrap_or(0))
}
