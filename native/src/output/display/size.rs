//! Sizes for people, in the units that `BORG_UNITS` asks for (command line, section 4.3).

/// Which units sizes are shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Units {
    /// Powers of 1000: `1.23 MB`.
    #[default]
    Si,
    /// Powers of 1024: `1.23 MiB`.
    Iec,
    /// Bytes: `1234567 B`.
    Raw,
}

/// How a size is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeFormat {
    /// The units.
    pub units: Units,
    /// Decimals from the second unit on.
    pub precision: usize,
    /// Whether positive sizes have a plus sign.
    pub sign: bool,
    /// Whether big sizes have more decimals, so that changes by a megabyte stay visible.
    pub fine: bool,
}

impl Units {
    /// What the value of `BORG_UNITS` means; otherwise the warning to give, after which SI is used.
    pub fn parse(value: &str) -> Result<Units, String> {
        match value.trim().to_lowercase().as_str() {
            "" | "si" => Ok(Units::Si),
            "iec" => Ok(Units::Iec),
            "raw" => Ok(Units::Raw),
            other => Err(format!("Invalid BORG_UNITS value '{other}', must be one of si, iec, raw. Ignoring it.")),
        }
    }

    /// The size as it is shown nearly everywhere: with two decimals, without a plus sign.
    pub fn display(self, bytes: u64) -> String {
        SizeFormat { units: self, precision: 2, sign: false, fine: false }.display(i128::from(bytes))
    }

    /// The size without decimals.
    pub fn display_whole(self, bytes: u64) -> String {
        SizeFormat { units: self, precision: 0, sign: false, fine: false }.display(i128::from(bytes))
    }
}

impl SizeFormat {
    /// The size as text, with its unit.
    pub fn display(self, bytes: i128) -> String {
        let plus = if self.sign && bytes > 0 { "+" } else { "" };
        let (power, units) = match self.units {
            Units::Raw => return format!("{plus}{bytes} B"),
            Units::Si => (1000.0, ["", "k", "M", "G", "T", "P", "E", "Z", "Y"]),
            Units::Iec => (1024.0, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"]),
        };
        let mut value = bytes as f64;
        let mut unit = 0;
        // The rounded value decides, so that nothing is shown as 1000.00.
        while unit + 1 < units.len() && rounded(value, self.precision).abs() >= power {
            value /= power;
            unit += 1;
        }
        let mut precision = if unit == 0 { 0 } else { self.precision };
        if self.fine {
            precision = precision.max((unit.saturating_sub(2) * 3).min(9));
        }
        format!("{plus}{value:.precision$} {}B", units[unit])
    }
}

fn rounded(value: f64, precision: usize) -> f64 {
    format!("{value:.precision$}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the real client's `format_file_size` says.
    #[test]
    fn sizes_look_as_in_borg() {
        for (units, precision, sign, fine, bytes, wanted) in SIZES {
            let format = SizeFormat { units, precision, sign, fine };
            assert_eq!(format.display(bytes), wanted, "{format:?}");
        }
        assert_eq!(Units::Si.display(9_194_357), "9.19 MB");
    }

    #[test]
    fn units_are_read_without_regard_to_case() {
        assert_eq!(Units::parse(" IEC "), Ok(Units::Iec));
        assert_eq!(Units::parse(""), Ok(Units::Si));
        let text = "Invalid BORG_UNITS value 'foo', must be one of si, iec, raw. Ignoring it.";
        assert_eq!(Units::parse("Foo"), Err(text.into()));
    }

    const SIZES: [(Units, usize, bool, bool, i128, &str); 78] = [
        (Units::Si, 2, false, false, 0, "0 B"),
        (Units::Si, 2, false, false, 1, "1 B"),
        (Units::Si, 2, false, false, 999, "999 B"),
        (Units::Si, 2, false, false, 1000, "1.00 kB"),
        (Units::Si, 2, false, false, 1023, "1.02 kB"),
        (Units::Si, 2, false, false, 1024, "1.02 kB"),
        (Units::Si, 2, false, false, 9194357, "9.19 MB"),
        (Units::Si, 2, false, false, 999994, "999.99 kB"),
        (Units::Si, 2, false, false, 999995, "1.00 MB"),
        (Units::Si, 2, false, false, 999999, "1.00 MB"),
        (Units::Si, 2, false, false, 1048571, "1.05 MB"),
        (Units::Si, 2, false, false, 1000000000, "1.00 GB"),
        (Units::Si, 2, false, false, 123456789012, "123.46 GB"),
        (Units::Si, 2, false, false, 1000000000000005, "1.00 PB"),
        (Units::Si, 2, false, false, 18446744073709551615, "18.45 EB"),
        (Units::Si, 2, false, false, 1000000000000000000000000000, "1000.00 YB"),
        (Units::Si, 1, true, false, 4096, "+4.1 kB"),
        (Units::Si, 1, true, false, -4096, "-4.1 kB"),
        (Units::Si, 1, true, false, 0, "0 B"),
        (Units::Si, 2, false, true, 1234567890123, "1.234568 TB"),
        (Units::Si, 2, false, true, 1234567890, "1.235 GB"),
        (Units::Si, 2, false, true, 123456789, "123.46 MB"),
        (Units::Si, 2, false, true, 12345678901234567, "12.345678901 PB"),
        (Units::Si, 2, false, true, 1180591620717411303424, "1.180591621 ZB"),
        (Units::Si, 2, false, true, 500, "500 B"),
        (Units::Si, 0, false, false, 1234567, "1 MB"),
        (Units::Iec, 2, false, false, 0, "0 B"),
        (Units::Iec, 2, false, false, 1, "1 B"),
        (Units::Iec, 2, false, false, 999, "999 B"),
        (Units::Iec, 2, false, false, 1000, "1000 B"),
        (Units::Iec, 2, false, false, 1023, "1023 B"),
        (Units::Iec, 2, false, false, 1024, "1.00 KiB"),
        (Units::Iec, 2, false, false, 9194357, "8.77 MiB"),
        (Units::Iec, 2, false, false, 999994, "976.56 KiB"),
        (Units::Iec, 2, false, false, 999995, "976.56 KiB"),
        (Units::Iec, 2, false, false, 999999, "976.56 KiB"),
        (Units::Iec, 2, false, false, 1048571, "1.00 MiB"),
        (Units::Iec, 2, false, false, 1000000000, "953.67 MiB"),
        (Units::Iec, 2, false, false, 123456789012, "114.98 GiB"),
        (Units::Iec, 2, false, false, 1000000000000005, "909.49 TiB"),
        (Units::Iec, 2, false, false, 18446744073709551615, "16.00 EiB"),
        (Units::Iec, 2, false, false, 1000000000000000000000000000, "827.18 YiB"),
        (Units::Iec, 1, true, false, 4096, "+4.0 KiB"),
        (Units::Iec, 1, true, false, -4096, "-4.0 KiB"),
        (Units::Iec, 1, true, false, 0, "0 B"),
        (Units::Iec, 2, false, true, 1234567890123, "1.122833 TiB"),
        (Units::Iec, 2, false, true, 1234567890, "1.150 GiB"),
        (Units::Iec, 2, false, true, 123456789, "117.74 MiB"),
        (Units::Iec, 2, false, true, 12345678901234567, "10.965165577 PiB"),
        (Units::Iec, 2, false, true, 1180591620717411303424, "1.000000000 ZiB"),
        (Units::Iec, 2, false, true, 500, "500 B"),
        (Units::Iec, 0, false, false, 1234567, "1 MiB"),
        (Units::Raw, 2, false, false, 0, "0 B"),
        (Units::Raw, 2, false, false, 1, "1 B"),
        (Units::Raw, 2, false, false, 999, "999 B"),
        (Units::Raw, 2, false, false, 1000, "1000 B"),
        (Units::Raw, 2, false, false, 1023, "1023 B"),
        (Units::Raw, 2, false, false, 1024, "1024 B"),
        (Units::Raw, 2, false, false, 9194357, "9194357 B"),
        (Units::Raw, 2, false, false, 999994, "999994 B"),
        (Units::Raw, 2, false, false, 999995, "999995 B"),
        (Units::Raw, 2, false, false, 999999, "999999 B"),
        (Units::Raw, 2, false, false, 1048571, "1048571 B"),
        (Units::Raw, 2, false, false, 1000000000, "1000000000 B"),
        (Units::Raw, 2, false, false, 123456789012, "123456789012 B"),
        (Units::Raw, 2, false, false, 1000000000000005, "1000000000000005 B"),
        (Units::Raw, 2, false, false, 18446744073709551615, "18446744073709551615 B"),
        (Units::Raw, 2, false, false, 1000000000000000000000000000, "1000000000000000000000000000 B"),
        (Units::Raw, 1, true, false, 4096, "+4096 B"),
        (Units::Raw, 1, true, false, -4096, "-4096 B"),
        (Units::Raw, 1, true, false, 0, "0 B"),
        (Units::Raw, 2, false, true, 1234567890123, "1234567890123 B"),
        (Units::Raw, 2, false, true, 1234567890, "1234567890 B"),
        (Units::Raw, 2, false, true, 123456789, "123456789 B"),
        (Units::Raw, 2, false, true, 12345678901234567, "12345678901234567 B"),
        (Units::Raw, 2, false, true, 1180591620717411303424, "1180591620717411303424 B"),
        (Units::Raw, 2, false, true, 500, "500 B"),
        (Units::Raw, 0, false, false, 1234567, "1234567 B"),
    ];
}
