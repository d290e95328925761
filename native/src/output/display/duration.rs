//! Durations as text (command line, section 4.3).

use std::time::Duration;

/// `1 days 2 hours 3 minutes 4.567 seconds`; only the seconds are always there.
pub fn display(duration: Duration) -> String {
    // Rounded as Python's `%.3f` rounds the seconds that are left after the minutes.
    let secs = (duration.as_secs() % 60) as f64 + f64::from(duration.subsec_nanos()) / 1e9;
    let mut text = format!("{secs:.3} seconds");
    let total = duration.as_secs();
    for (count, unit) in [(total / 60 % 60, "minutes"), (total / 3600 % 24, "hours"), (total / 86_400, "days")] {
        if count > 0 {
            text = format!("{count} {unit} {text}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_zero_are_left_out() {
        assert_eq!(display(Duration::from_micros(62_127)), "0.062 seconds");
        assert_eq!(display(Duration::from_millis(93_784_567)), "1 days 2 hours 3 minutes 4.567 seconds");
        assert_eq!(display(Duration::from_secs(86_400)), "1 days 0.000 seconds");
        assert_eq!(display(Duration::from_secs(3_600)), "1 hours 0.000 seconds");
    }
}
